/* SPDX-License-Identifier: Apache-2.0 */
/* wick generate: continues a text with a language model, and prints it piece by piece. */
#include "gpt.h"
#include <stdlib.h>

/* The command line. */
typedef struct settings {
    const char *model, *prompt, *stop; /* stop: NULL, or the text before which the continuation ends */
    wk_device device;
    long tokens, top_k, seed, beams;
    double temperature, top_p, min_p, penalty; /* min_p 0: not given */
    bool samples;
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
    wk_generate_options o = {.size = sizeof o,
                             .max_new_tokens = s->tokens,
                             .context = gpt->context,
                             .repetition_penalty = s->penalty,
                             .num_beams = s->beams,
                             .do_sample = s->samples,
                             .stop = s->stop ? &s->stop : NULL,
                             .stop_count = s->stop != NULL,
                             .user = out};
    if (s->beams == 1) o.on_text = print_piece;
    if (s->samples) {
        o.temperature = s->temperature;
        o.top_k = s->top_k;
        o.top_p = s->top_p;
        o.min_p = s->min_p;
    }
    const char *more = wk_generate_text_at(WK_HERE, gpt->net, gpt->text, s->prompt, &o);
    if (more && s->beams > 1) print(out, more);
    return more;
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

/* ---- the command line -------------------------------------------------------------------------------------------- */

/* Options as texts; NULL: not given. */
typedef struct words {
    const char *tokens, *temperature, *top_k, *top_p, *min_p, *penalty, *seed, *beams, *greedy;
} words;

/* Returns the text, or `usual` if it is not given. */
static const char *text_or(const char *text, const char *usual)
{
    return text ? text : usual;
}

/* Reports an option of sampling beside one that excludes it, and a temperature of 0. Returns false if there is one. */
static bool check_sampling(const words *w)
{
    const char *const given[] = {w->temperature, w->top_k, w->top_p, w->min_p};
    static const char *const names[] = {"--temperature", "--top-k", "--top-p", "--min-p"};
    char *end = NULL;
    for (int k = 0; k < 4 && (w->greedy || w->beams); k++) {
        if (!given[k]) continue;
        cli_usage_error("generate", "%s applies to sampling only; leave out %s", names[k],
                        w->greedy ? "--greedy" : "--num-beams");
        return false;
    }
    if (!w->temperature || strtod(w->temperature, &end) != 0 || end == w->temperature || *end) return true;
    cli_usage_error("generate", "--temperature must be greater than 0, got \"%s\"; --greedy takes the likeliest token",
                    w->temperature);
    return false;
}

/* Reads the numbers of the command line. Returns false after reporting an invalid one. */
static bool read_numbers(const words *w, settings *s)
{
    static const char command[] = "generate";
    s->samples = !w->greedy && !w->beams;
    return check_sampling(w) && cli_number(command, "--tokens", text_or(w->tokens, "100"), 1, 1000000, &s->tokens) &&
           cli_real(command, "--temperature", text_or(w->temperature, "1"), 0, 1000, &s->temperature) &&
           cli_number(command, "--top-k", text_or(w->top_k, "0"), 0, 100000000, &s->top_k) &&
           cli_real(command, "--top-p", text_or(w->top_p, "1"), 0, 1, &s->top_p) &&
           (!w->min_p || cli_real(command, "--min-p", w->min_p, 0, 1, &s->min_p)) &&
           cli_real(command, "--repetition-penalty", text_or(w->penalty, "1"), 0, 1000, &s->penalty) &&
           cli_number(command, "--num-beams", text_or(w->beams, "1"), 1, 1000, &s->beams) &&
           cli_number(command, "--seed", text_or(w->seed, "0"), 0, INT64_MAX, &s->seed);
}

int cli_generate(int count, char **list)
{
    const char *device = NULL;
    settings s = {.prompt = NULL};
    words w = {.tokens = NULL};
    const cli_option options[] = {
        {"prompt", "TEXT", "text to continue", &s.prompt},
        {"tokens", "N", "greatest number of new tokens, default 100", &w.tokens},
        {"max-new-tokens", "N", "the same as --tokens", &w.tokens},
        {"stop", "TEXT", "end before this text; default none", &s.stop},
        {"temperature", "T", "below 1 likely tokens become likelier; default 1", &w.temperature},
        {"top-k", "K", "draw from the K likeliest tokens only; default 0, all", &w.top_k},
        {"top-p", "P", "draw from the likeliest tokens whose probabilities add up to P; default 1", &w.top_p},
        {"min-p", "P", "draw from tokens with at least P of the greatest probability; default all", &w.min_p},
        {"repetition-penalty", "R", "above 1 tokens that occurred become less likely; default 1", &w.penalty},
        {"seed", "S", "seed of the random numbers, default 0", &w.seed},
        {"greedy", NULL, "take the likeliest token instead of drawing one", &w.greedy},
        {"num-beams", "N", "beam search with N sequences instead of sampling", &w.beams},
        {"device", "D", "device: cpu, cuda:0, opencl:1, gpu:0; default the first GPU, else cpu", &device},
        {0}};
    const cli_syntax syntax = {
        "generate", "MODEL",
        "Continues a text with a language model and prints it. MODEL is a file of wick train gpt, a GGUF file (Llama,\n"
        "Qwen2) with its vocabulary, or a folder with a model of Hugging Face's transformers (GPT-2, Llama, Qwen2):\n"
        "config.json, model.safetensors or its parts, and tokenizer.json, or vocab.json and merges.txt.",
        options, 1};
    int done = cli_parse(&syntax, count, list, &s.model);
    if (done >= 0) return done;
    if (!s.model) return cli_usage_error("generate", "missing MODEL");
    if (!s.prompt) return cli_usage_error("generate", "missing --prompt TEXT");
    if (!*s.prompt) return cli_usage_error("generate", "--prompt is empty; expected at least one character");
    if (s.stop && !*s.stop) return cli_usage_error("generate", "--stop is empty; expected at least one character");
    if (!read_numbers(&w, &s) || !cli_device("generate", device, &s.device)) return CLI_USAGE;
    return generate(&s);
}
