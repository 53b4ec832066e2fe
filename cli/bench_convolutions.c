/* SPDX-License-Identifier: Apache-2.0 */
/* Single convolutions without bias: the call, and its gradients by the input and by the weight. */
#include "bench.h"

/* Sizes of a convolution with square images and kernels. */
typedef struct sizes {
    int64_t batch, groups, in, out; /* in, out: channels of all groups */
    int64_t side, kernel, stride, padding;
} sizes;

static const sizes cases[] = {
    {256, 1, 6, 16, 14, 5, 1, 0},     {32, 32, 32, 32, 112, 3, 1, 1}, {32, 256, 256, 256, 28, 3, 1, 1},
    {32, 512, 512, 512, 14, 3, 1, 1}, {32, 96, 96, 96, 56, 7, 1, 3},  {32, 1, 3, 64, 224, 7, 2, 3},
    {32, 1, 64, 64, 56, 3, 1, 1},     {32, 1, 128, 128, 28, 3, 1, 1}, {32, 1, 256, 256, 14, 3, 1, 1},
    {32, 1, 512, 512, 7, 3, 1, 1},
};
enum { CASES = sizeof cases / sizeof *cases, QUICK_CASES = 2 };

/* Operands of a convolution. */
typedef struct convolution {
    sizes of;
    wk_tensor *x, *w, *y;
} convolution;

static wk_tensor *forward(const convolution *c)
{
    return wk_conv2d(c->x, c->w, NULL, .stride = c->of.stride, .padding = c->of.padding, .groups = c->of.groups);
}

static wk_tensor *by_input(const convolution *c)
{
    return wk_conv2d_input((c->of.batch, c->of.in, c->of.side, c->of.side), c->w, c->y, .stride = c->of.stride,
                           .padding = c->of.padding, .groups = c->of.groups);
}

static wk_tensor *by_weight(const convolution *c)
{
    return wk_conv2d_weight(c->x, (c->of.out, c->of.in / c->of.groups, c->of.kernel, c->of.kernel), c->y,
                            .stride = c->of.stride, .padding = c->of.padding, .groups = c->of.groups);
}

/* A convolution in one of its directions. */
typedef struct directed {
    convolution c;
    wk_tensor *(*run)(const convolution *c);
    double operations;
} directed;

static double run(void *user)
{
    const directed *d = user;
    WK_SCOPE;
    WK_NO_GRAD;
    double start = cli_clock();
    wk_data(d->run(&d->c));
    return cli_clock() - start;
}

static double run_fma(void *user)
{
    const directed *d = user;
    return d->operations / cli_fma_run(wk_thread_count());
}

static void describe(const sizes *s, const char *direction, char *text, size_t room)
{
    int used = s->groups > 1 ? snprintf(text, room, "depthwise %lld", (long long)s->in)
                             : snprintf(text, room, "%lld to %lld", (long long)s->in, (long long)s->out);
    used += snprintf(text + used, room - (size_t)used, " at %lld, %lldx%lld", (long long)s->side, (long long)s->kernel,
                     (long long)s->kernel);
    if (s->stride > 1) used += snprintf(text + used, room - (size_t)used, " stride %lld", (long long)s->stride);
    snprintf(text + used, room - (size_t)used, ", %s", direction);
}

static void measure_directions(bench *b, directed *d)
{
    static const struct {
        const char *name, *ask;
        wk_tensor *(*run)(const convolution *c);
    } directions[] = {{"forward", "conv_forward", forward},
                      {"gradient by x", "conv_by_x", by_input},
                      {"gradient by w", "conv_by_w", by_weight}};
    const sizes *s = &d->c.of;
    for (int k = 0; k < 3; k++) {
        char name[64];
        describe(s, directions[k].name, name, sizeof name);
        d->run = directions[k].run;
        bench_task task = {.name = name,
                           .question = {.name = directions[k].ask},
                           .work = 1e-9 * d->operations,
                           .unit = "GFLOP/s",
                           .run = run,
                           .limit = run_fma,
                           .against = "FMA peak",
                           .user = d};
        snprintf(task.question.sizes, sizeof task.question.sizes, "%d %d %d %d %d %d %d %d", (int)s->batch,
                 (int)s->groups, (int)s->in, (int)s->out, (int)s->side, (int)s->kernel, (int)s->stride,
                 (int)s->padding);
        bench_measure(b, &task);
    }
}

void bench_convolutions(bench *b)
{
    for (int k = 0; k < (b->quick ? QUICK_CASES : CASES); k++) {
        WK_SCOPE;
        directed d = {.c = {.of = cases[k]}};
        sizes *s = &d.c.of;
        if (b->quick) s->batch = 1;
        const int64_t taps = s->in / s->groups * s->kernel * s->kernel;
        d.c.x = wk_randn((s->batch, s->in, s->side, s->side));
        d.c.w = wk_randn((s->out, s->in / s->groups, s->kernel, s->kernel));
        d.c.y = wk_randn_like(forward(&d.c));
        d.operations = 2.0 * (double)(wk_numel(d.c.y) * taps);
        wk_sync();
        measure_directions(b, &d);
    }
}
