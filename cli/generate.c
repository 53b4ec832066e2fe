/* SPDX-License-Identifier: Apache-2.0 */
/* wick generate: continues a text with a language model, and prints it piece by piece. */
#include "gpt.h"

/* The command line. */
typedef struct settings {
    const char *model, *prompt;
    wk_device device;
    long tokens, top_k, seed;
    double temperature, top_p;
    bool greedy;
} settings;

/* The text that is being printed. */
typedef struct output {
    const char *prompt; /* NULL once it is printed */
} output;

static bool print(output *out, const char *piece)
{
    const bool fine = (!out->prompt || fputs(out->prompt, stdout) >= 0) && fputs(piece, stdout) >= 0;
    out->prompt = NULL;
    return fflush(stdout) == 0 && fine;
}

static bool print_piece(const char *piece, void *user)
{
    return print(user, piece);
}

/* Returns the continuation after printing it behind the prompt; NULL on error. */
static const char *continue_text(const settings *s, const cli_gpt *gpt, output *out)
{
    if (s->greedy)
        return wk_generate_text(gpt->net, gpt->text, s->prompt, .max_new_tokens = s->tokens, .context = gpt->context,
                                .on_text = print_piece, .user = out);
    return wk_generate_text(gpt->net, gpt->text, s->prompt, .max_new_tokens = s->tokens, .context = gpt->context,
                            .do_sample = true, .temperature = s->temperature, .top_k = s->top_k, .top_p = s->top_p,
                            .on_text = print_piece, .user = out);
}

/* Prints the prompt and its continuation. Returns the exit code. */
static int generate(const settings *s)
{
    WK_SCOPE;
    cli_gpt gpt;
    output out = {.prompt = s->prompt};
    if (!cli_gpt_read("generate", s->model, s->device, &gpt)) return CLI_FAILED;
    wk_seed((uint64_t)s->seed);
    const char *more = continue_text(s, &gpt, &out);
    if (more || !out.prompt) print(&out, "\n");
    if (more) return CLI_OK;
    cli_report_error("generate");
    return CLI_FAILED;
}

int cli_generate(int count, char **words)
{
    const char *device = NULL, *tokens = "100", *temperature = "1", *top_k = "0", *top_p = "1", *seed = "0";
    const char *greedy = NULL;
    settings s = {.prompt = NULL};
    const cli_option options[] = {
        {"prompt", "TEXT", "text to continue", &s.prompt},
        {"tokens", "N", "greatest number of new tokens, default 100", &tokens},
        {"temperature", "T", "below 1 likely tokens become likelier; default 1", &temperature},
        {"top-k", "K", "draw from the K likeliest tokens only; default 0, all", &top_k},
        {"top-p", "P", "draw from the likeliest tokens whose probabilities add up to P; default 1", &top_p},
        {"seed", "S", "seed of the draws, default 0", &seed},
        {"greedy", NULL, "take the likeliest token instead of drawing one", &greedy},
        {"device", "D", "device: cpu, cuda:0, opencl:1, gpu:0; default the first GPU, else cpu", &device},
        {0}};
    const cli_syntax syntax = {
        "generate", "MODEL",
        "Continues a text with a language model and prints it. MODEL is a file of wick train gpt, a GGUF file (Llama,\n"
        "Qwen2) with its vocabulary, or a folder with a model of Hugging Face's transformers (GPT-2, Llama, Qwen2):\n"
        "config.json, model.safetensors or its parts, and tokenizer.json, or vocab.json and merges.txt.",
        options, 1};
    int done = cli_parse(&syntax, count, words, &s.model);
    if (done >= 0) return done;
    if (!s.model) return cli_usage_error("generate", "missing MODEL");
    if (!s.prompt || !*s.prompt) return cli_usage_error("generate", "missing --prompt TEXT");
    if (!cli_number("generate", "--tokens", tokens, 1, 1000000, &s.tokens) ||
        !cli_real("generate", "--temperature", temperature, 0, 1000, &s.temperature) ||
        !cli_number("generate", "--top-k", top_k, 0, 100000000, &s.top_k) ||
        !cli_real("generate", "--top-p", top_p, 0, 1, &s.top_p) ||
        !cli_number("generate", "--seed", seed, 0, INT64_MAX, &s.seed))
        return CLI_USAGE;
    s.greedy = greedy != NULL;
    if (!cli_device("generate", device, &s.device)) return CLI_USAGE;
    return generate(&s);
}
