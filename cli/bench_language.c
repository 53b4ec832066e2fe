/* SPDX-License-Identifier: Apache-2.0 */
/* Language models: a training step, generation, and decoding with weights of several formats, whose limit is the time
 * that reading the weights takes. */
#include "bench.h"

/* Sizes of a model. */
typedef struct shape {
    int64_t vocabulary, context, width, layers, heads;
} shape;

/* A model that generates tokens. */
typedef struct model {
    wk_module *net;
    wk_tensor *x; /* tokens that the generated ones follow */
    wk_kv_cache *cache;
    int64_t tokens, context; /* number to generate, and of positions that the model sees or the cache has */
    double bytes;            /* of the weights that a token reads */
    cli_triad *triad;
} model;

static wk_module *new_gpt(const shape *s)
{
    return wk_nn_gpt(.vocab_size = s->vocabulary, .n_positions = s->context, .n_embd = s->width, .n_layer = s->layers,
                     .n_head = s->heads, .dropout = WK_EXPLICIT_ZERO);
}

/* Sets the question to the baseline: the sizes of the model, and a number of rows or tokens. */
static void ask(bench_task *task, const shape *s, int64_t count)
{
    snprintf(task->question.sizes, sizeof task->question.sizes, "%lld %lld %lld %lld %lld %lld",
             (long long)s->vocabulary, (long long)s->context, (long long)s->width, (long long)s->layers,
             (long long)s->heads, (long long)count);
}

/* ---- a small model ----------------------------------------------------------------------------------------------- */

/* Generates tokens, each from the last ones that the model sees, without a cache. */
static double run_windows(void *user)
{
    const model *m = user;
    WK_SCOPE;
    WK_NO_GRAD;
    const double start = cli_clock();
    wk_tensor *all = m->x;
    for (int64_t k = 0; k < m->tokens && !wk_error(); k++) {
        const int64_t length = wk_size(all, 1), seen = length < m->context ? length : m->context;
        wk_tensor *scores = wk_forward(m->net, wk_narrow(all, 1, length - seen, seen));
        wk_tensor *next = wk_multinomial(wk_softmax(wk_select(scores, 1, -1), 1), 1);
        all = wk_cat((all, next), 1);
    }
    wk_data(all);
    return cli_clock() - start;
}

static void measure_small(bench *b, const shape *s, int64_t batch, int64_t tokens)
{
    WK_SCOPE;
    model m = {.net = new_gpt(s), .x = wk_zeros((1, 1), .dtype = WK_I64), .tokens = tokens, .context = s->context};
    bench_network n = {.net = wk_nn_sequential(m.net, wk_nn_flatten(0, 1)),
                       .x = wk_randint(0, s->vocabulary, (batch, s->context)),
                       .labels = wk_randint(0, s->vocabulary, (batch * s->context)),
                       .clip_norm = 1};
    n.optim = wk_optim_adamw(wk_parameters(n.net), .lr = 1e-3, .beta2 = 0.99, .weight_decay = 0.1);
    wk_sync();
    bench_task step = {.name = "step of a GPT", .question = {.name = "gpt_step"}, .run = bench_step, .user = &n};
    ask(&step, s, batch);
    bench_measure(b, &step);
    wk_module_train(m.net, false);
    char name[64];
    snprintf(name, sizeof name, "%lld tokens of this GPT", (long long)tokens);
    bench_task windows = {.name = name, .question = {.name = "gpt_tokens"}, .run = run_windows, .user = &m};
    ask(&windows, s, tokens);
    bench_measure(b, &windows);
}

/* ---- large models ------------------------------------------------------------------------------------------------ */

/* Decodes one token after those in the cache. A full cache is replaced by one with the prompt. */
static double run_decode(void *user)
{
    model *m = user;
    WK_SCOPE;
    if (!m->cache || wk_kv_cache_length(m->cache) == m->context) {
        wk_free(m->cache);
        m->cache = wk_keep(wk_kv_cache_new(m->net, 1, m->context));
        wk_data(wk_decode(m->net, m->x, m->cache, .logits_to_keep = 1));
    }
    wk_tensor *token = wk_zeros((1, 1), .dtype = WK_I64);
    const double start = cli_clock();
    wk_data(wk_decode(m->net, token, m->cache));
    return cli_clock() - start;
}

static double run_read(void *user)
{
    const model *m = user;
    return m->bytes / cli_read_run(m->triad, wk_thread_count());
}

static double bytes_of(wk_tensors *tensors)
{
    double bytes = 0;
    for (int k = 0; k < wk_tensors_count(tensors); k++) {
        const wk_tensor *x = wk_tensors_get(tensors, k);
        bytes += (double)wk_numel(x) * (double)wk_dtype_size(wk_dtype_of(x));
    }
    return bytes;
}

/* Measures decoding after a prompt of 64 tokens. Of the tables in `unread` a token reads a row each. */
static void measure_decode(bench *b, model *m, const char *name, const shape *s, const char *question, double unread)
{
    m->x = wk_zeros((1, s->context / 16 + 1), .dtype = WK_I64);
    m->context = s->context;
    m->cache = NULL;
    m->bytes = bytes_of(wk_parameters(m->net)) + bytes_of(wk_buffers(m->net)) - unread;
    bench_task task = {.name = name,
                       .question = {.name = question},
                       .work = 1e-9 * m->bytes,
                       .unit = "GB/s",
                       .run = run_decode,
                       .limit = run_read,
                       .against = "reading the weights",
                       .user = m};
    if (question) ask(&task, s, wk_size(m->x, 1));
    bench_measure(b, &task);
    wk_free(m->cache);
}

static void measure_gpt2(bench *b, const shape *s, int64_t prompt, cli_triad *triad)
{
    WK_SCOPE;
    model m = {.net = wk_module_train(new_gpt(s), false), .triad = triad};
    bench_network n = {.net = m.net, .x = wk_randint(0, s->vocabulary, (1, prompt))};
    char name[64];
    snprintf(name, sizeof name, "GPT-2, prompt of %lld", (long long)prompt);
    bench_task task = {.name = name, .question = {.name = "gpt_prompt"}, .run = bench_forward, .user = &n};
    ask(&task, s, prompt);
    bench_measure(b, &task);
    measure_decode(b, &m, "GPT-2, a token", s, "gpt_decode", 4.0 * (double)(s->context * s->width));
}

/* Llama of GPT-2's sizes, with weights of several formats. */
static void measure_llama(bench *b, const shape *s, cli_triad *triad)
{
    static const struct {
        const char *name;
        wk_block_format format;
    } formats[] = {{"f32", 0}, {"Q8_0", WK_BLOCKS_Q8_0}, {"Q4_0", WK_BLOCKS_Q4_0}};
    for (int k = 0; k < 3; k++) {
        WK_SCOPE;
        model m = {.triad = triad};
        m.net = wk_nn_llama(.vocab_size = s->vocabulary, .hidden_size = s->width, .intermediate_size = s->width * 8 / 3,
                            .num_hidden_layers = s->layers, .num_attention_heads = s->heads,
                            .max_position_embeddings = s->context);
        wk_module_train(m.net, false);
        if (k > 0) wk_module_quantize(m.net, .format = formats[k].format);
        char name[64];
        snprintf(name, sizeof name, "Llama of these sizes, %s, a token", formats[k].name);
        measure_decode(b, &m, name, s, NULL, 4.0 * (double)(s->vocabulary * s->width));
    }
}

void bench_language(bench *b)
{
    const shape small = b->tiny ? (shape){16, 8, 32, 1, 2} : (shape){65, 64, 128, 4, 4};
    const shape large = b->tiny ? (shape){32, 16, 64, 1, 2} : (shape){50257, 1024, 768, b->quick ? 2 : 12, 12};
    wk_seed(1);
    measure_small(b, &small, b->tiny ? 2 : 12, b->tiny ? 3 : 300);
    cli_triad *triad = cli_triad_new((size_t)(b->tiny ? 1 << 12 : 32 << 20));
    if (triad) {
        measure_gpt2(b, &large, b->tiny ? 4 : 512, triad);
        measure_llama(b, &large, triad);
    }
    cli_triad_free(triad);
    bench_attention(b);
}
