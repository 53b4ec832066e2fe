/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of language models, without and with gradients: attention, norms of rows, embedding and cross entropy. */
#include "bench.h"

enum { HEADS = 16, HEAD_WIDTH = 64, CLASSES = 50257 };

/* An op with its operands. With gradients, `input` are those that get one, and out_grad is that of the result. */
typedef struct part {
    wk_tensor *(*op)(const struct part *p);
    wk_tensor *input[3], *index, *out_grad;
    int inputs;
    bool is_causal;
    double operations, bytes; /* in registers, or moved; 0: not the limit */
    cli_triad *triad;         /* for `bytes` */
} part;

/* ---- the ops ----------------------------------------------------------------------------------------------------- */

static wk_tensor *attend(const part *p)
{
    return wk_scaled_dot_product_attention(p->input[0], p->input[1], p->input[2], .is_causal = p->is_causal);
}

static wk_tensor *layer_norm(const part *p)
{
    return wk_layer_norm(p->input[0], (wk_size(p->input[0], 1)), p->input[1], p->input[2]);
}

static wk_tensor *rms_norm(const part *p)
{
    return wk_rms_norm(p->input[0], (wk_size(p->input[0], 1)), p->input[1], 1e-6);
}

static wk_tensor *cross_entropy(const part *p)
{
    return wk_cross_entropy(p->input[0], p->index);
}

static wk_tensor *embed(const part *p)
{
    return wk_embedding(p->index, p->input[0]);
}

/* ---- rounds ------------------------------------------------------------------------------------------------------ */

static double run_forward(void *user)
{
    const part *p = user;
    WK_SCOPE;
    WK_NO_GRAD;
    const double start = cli_clock();
    wk_data(p->op(p));
    return cli_clock() - start;
}

static double run_gradients(void *user)
{
    part *p = user;
    WK_SCOPE;
    const double start = cli_clock();
    wk_tensor *out = p->op(p), *grads[3] = {NULL};
    const wk_grad_options options = {.size = sizeof options, .grad_outputs = &p->out_grad};
    wk_grad_at(WK_HERE, &out, 1, p->input, p->inputs, grads, &options);
    wk_sync();
    return cli_clock() - start;
}

static double run_fma(void *user)
{
    const part *p = user;
    return p->operations / cli_fma_run(wk_thread_count());
}

static double run_triad(void *user)
{
    const part *p = user;
    return p->bytes / cli_triad_run(p->triad, wk_thread_count());
}

/* Measures an op. `ask` and `sizes` are the question to the baseline. */
static void measure(bench *b, part *p, bool gradients, const char *name, const char *ask, const char *sizes)
{
    for (int k = 0; k < p->inputs; k++) wk_requires_grad_(p->input[k], true);
    if (gradients) p->out_grad = wk_randn_like(wk_detach(p->op(p)));
    wk_sync();
    char title[64], question[32];
    snprintf(title, sizeof title, "%s%s", name, gradients ? " with gradients" : "");
    snprintf(question, sizeof question, "%s%s", ask, gradients ? "_grad" : "");
    bench_task task = {
        .name = title, .question = {.name = question}, .run = gradients ? run_gradients : run_forward, .user = p};
    if (p->operations > 0) {
        task.work = 1e-9 * p->operations;
        task.unit = "GFLOP/s";
        task.limit = run_fma;
        task.against = "FMA peak";
    } else if (p->triad) {
        task.work = 1e-9 * p->bytes;
        task.unit = "GB/s";
        task.limit = run_triad;
        task.against = "STREAM triad";
    }
    snprintf(task.question.sizes, sizeof task.question.sizes, "%s", sizes);
    bench_measure(b, &task);
}

/* ---- cases ------------------------------------------------------------------------------------------------------- */

/* Attention of one sequence. Forward has two products of T x T x width for each head, half of them if causal; with
 * gradients there are five more. */
static void measure_attention(bench *b, int64_t length, bool is_causal, bool gradients)
{
    WK_SCOPE;
    part p = {.op = attend, .inputs = 3, .is_causal = is_causal};
    for (int k = 0; k < 3; k++) p.input[k] = wk_randn((1, HEADS, length, HEAD_WIDTH));
    p.operations = 2.0 * (gradients ? 7 : 2) * HEADS * HEAD_WIDTH * (double)(length * length) * (is_causal ? 0.5 : 1);
    char name[64], sizes[40];
    snprintf(name, sizeof name, "%s, T %lld", is_causal ? "causal attention" : "attention", (long long)length);
    snprintf(sizes, sizeof sizes, "%lld %d", (long long)length, is_causal);
    measure(b, &p, gradients, name, "attention", sizes);
}

/* A norm of rows. Forward reads and writes all elements; backward reads x and the gradient and writes another. */
static void measure_norm(bench *b, bool is_layer, bool gradients, cli_triad *triad, int64_t rows, int64_t columns)
{
    WK_SCOPE;
    part p = {.op = is_layer ? layer_norm : rms_norm,
              .inputs = is_layer ? 3 : 2,
              .triad = triad,
              .bytes = 4.0 * (gradients ? 5 : 2) * (double)(rows * columns)};
    p.input[0] = wk_randn((rows, columns));
    for (int k = 1; k < p.inputs; k++) p.input[k] = wk_randn((columns));
    char name[64], sizes[40];
    snprintf(name, sizeof name, "%s, %lld x %lld", is_layer ? "layer norm" : "rms norm", (long long)rows,
             (long long)columns);
    snprintf(sizes, sizeof sizes, "%lld %lld", (long long)rows, (long long)columns);
    measure(b, &p, gradients, name, is_layer ? "norm_layer" : "norm_rms", sizes);
}

/* Scores of tokens in a vocabulary, and rows of its embedding. */
static void measure_vocabulary(bench *b, int64_t classes, int64_t tokens, int64_t width)
{
    WK_SCOPE;
    char name[64], sizes[40];
    part loss = {.op = cross_entropy, .inputs = 1, .input = {wk_randn((tokens, classes))}};
    part rows = {.op = embed, .inputs = 1, .input = {wk_randn((classes, width))}};
    loss.index = rows.index = wk_randint(0, classes, (tokens));
    snprintf(name, sizeof name, "cross entropy, %lld x %lld", (long long)tokens, (long long)classes);
    snprintf(sizes, sizeof sizes, "%lld %lld", (long long)tokens, (long long)classes);
    measure(b, &loss, true, name, "vocabulary_loss", sizes);
    snprintf(name, sizeof name, "%lld rows of %lld x %lld", (long long)tokens, (long long)classes, (long long)width);
    snprintf(sizes, sizeof sizes, "%lld %lld %lld", (long long)tokens, (long long)classes, (long long)width);
    measure(b, &rows, true, name, "embedding", sizes);
}

void bench_attention(bench *b)
{
    static const int64_t lengths[] = {512, 1024, 4096};
    const int64_t rows = b->tiny ? 8 : 4096, columns = b->tiny ? 16 : 1024;
    wk_seed(1);
    for (int k = 0; k < (b->quick ? 1 : 3); k++)
        for (int way = 0; way < 4; way++) measure_attention(b, b->tiny ? 8 : lengths[k], way % 2 == 1, way >= 2);
    cli_triad *triad = cli_triad_new((size_t)(rows * columns));
    for (int way = 0; triad && way < 4; way++) measure_norm(b, way % 2 == 0, way >= 2, triad, rows, columns);
    cli_triad_free(triad);
    measure_vocabulary(b, b->tiny ? 50 : CLASSES, b->tiny ? 4 : 512, b->tiny ? 8 : 768);
}
