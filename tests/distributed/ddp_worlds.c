/* SPDX-License-Identifier: Apache-2.0 */
/* Tests wk_ddp in worlds of 1 to 4 ranks, with sample counts that the number of ranks divides and others. After several
 * steps the weights equal those of one process that trains on all ranks' samples: to 1e-6, because it adds a batch in
 * another order; and bit for bit those of one that computes the ranks' parts in turn and adds in the order that
 * docs/contributing documents. */
#include "support/ranks.h"

enum { IN = 6, OUT = 3, SMALL = 16, LARGE = 2900 /* more than 64 KiB of gradients: summed in a ring */ };

static void join(void)
{
    RANK_CHECK(wk_dist_init() == WK_OK && wk_dist_size() == the_ranks->size);
}

static void leave(void)
{
    RANK_CHECK(wk_dist_finish() == WK_OK);
    RANK_CHECK(!wk_error());
}

static bool same(wk_tensor *a, wk_tensor *b)
{
    return wk_item(wk_all(wk_eq(a, b))) == 1;
}

static void in_all_worlds(void (*body)(int rank))
{
    for (int size = 1; size <= RANKS_MOST; size++) {
        ranks r = {.size = size, .body = body};
        ranks_run(&r);
        ranks_free(&r);
    }
}

/* ---- three trainings --------------------------------------------------------------------------------------------- */

static wk_module *network(int seed, int width)
{
    wk_seed((uint64_t)seed);
    return wk_nn_sequential(wk_nn_linear(IN, width), wk_nn_tanh(), wk_nn_linear(width, OUT));
}

typedef wk_tensor *loss_of(wk_tensor *out, wk_tensor *y);

static wk_tensor *mean_loss(wk_tensor *out, wk_tensor *y)
{
    return wk_mse_loss(out, y);
}

/* The mean over ranks is the sum over all samples divided by the number of ranks, however they are shared out. */
static wk_tensor *sum_loss(wk_tensor *out, wk_tensor *y)
{
    return wk_div(wk_sum(wk_square(wk_sub(out, y))), 16);
}

typedef struct training {
    loss_of *loss;
    int width;
    double scale; /* of the loss of the one process */
    wk_module *net, *ddp, *one, *parts;
    wk_optim *ddp_step, *one_step, *parts_step;
} training;

/* A rate at which the wide network converges: growing steps would magnify the differences from the order of sums. */
static wk_optim *optimiser(wk_module *net, int width)
{
    return wk_optim_sgd(wk_parameters(net), .lr = 0.8 / width, .momentum = 0.9, .weight_decay = 0.01);
}

static void begin(training *t, int rank, double bucket_cap_mb)
{
    t->net = network(rank + 1, t->width);
    t->ddp = wk_ddp(t->net, .bucket_cap_mb = bucket_cap_mb);
    t->one = network(1, t->width); /* rank 0's values */
    t->parts = network(1, t->width);
    t->ddp_step = optimiser(t->ddp, t->width);
    t->one_step = optimiser(t->one, t->width);
    t->parts_step = optimiser(t->parts, t->width);
}

static void step(wk_module *net, wk_optim *optim, const training *t, wk_tensor *x, wk_tensor *y, double scale)
{
    wk_optim_zero_grad(optim);
    RANK_CHECK(wk_backward(wk_mul(t->loss(wk_forward(net, x), y), scale)) == WK_OK);
    RANK_CHECK(wk_optim_step(optim) == WK_OK);
}

/* Small data: ranks beyond a power of two are added to those below, then neighbours. */
static wk_tensor *sum_in_order(wk_tensor *const *v, int n)
{
    if (n == 1) return v[0];
    if (n == 2) return wk_add(v[0], v[1]);
    return n == 3 ? wk_add(wk_add(v[0], v[2]), v[1]) : wk_add(wk_add(v[0], v[1]), wk_add(v[2], v[3]));
}

/* One step of a process that acts as all ranks in turn: x[k], y[k] is the part of rank k. */
static void step_of_parts(const training *t, wk_tensor *const *x, wk_tensor *const *y)
{
    const int n = wk_dist_size();
    wk_tensors *list = wk_parameters(t->parts);
    wk_tensor *grad[4][RANKS_MOST];
    RANK_CHECK(wk_tensors_count(list) == 4);
    for (int k = 0; k < n; k++) {
        wk_optim_zero_grad(t->parts_step);
        RANK_CHECK(wk_backward(t->loss(wk_forward(t->parts, x[k]), y[k])) == WK_OK);
        for (int p = 0; p < 4; p++) grad[p][k] = wk_clone(wk_grad_of(wk_tensors_get(list, p)));
    }
    for (int p = 0; p < 4; p++) wk_set_grad(wk_tensors_get(list, p), wk_div(sum_in_order(grad[p], n), n));
    RANK_CHECK(wk_optim_step(t->parts_step) == WK_OK);
}

static void all_steps(const training *t, int rank, wk_tensor *const *x, wk_tensor *const *y)
{
    WK_SCOPE;
    const int n = wk_dist_size();
    step(t->ddp, t->ddp_step, t, x[rank], y[rank], 1);
    step(t->one, t->one_step, t, wk_cat_at(WK_HERE, x, n, 0), wk_cat_at(WK_HERE, y, n, 0), t->scale);
    step_of_parts(t, x, y);
}

static void compare(const training *t)
{
    WK_SCOPE;
    const int n = wk_dist_size();
    wk_tensors *net = wk_parameters(t->net), *one = wk_parameters(t->one), *parts = wk_parameters(t->parts);
    /* Sums of two have one order; those of more have another one in MPI, and in the ring. */
    const bool same_order = n <= 2 || (t->width == SMALL && !ranks_are_mpi());
    for (int k = 0; k < wk_tensors_count(net); k++) {
        wk_tensor *w = wk_detach(wk_tensors_get(net, k)), *flat = wk_reshape(w, (1, -1));
        RANK_CHECK(same(wk_dist_all_gather(flat), flat));
        RANK_CHECK(wk_item(wk_amax(wk_abs(wk_sub(w, wk_tensors_get(one, k))))) < 1e-6);
        RANK_CHECK(!same_order || same(w, wk_tensors_get(parts, k)));
    }
}

static const struct {
    int width;
    double bucket_cap_mb;
} networks[] = {{SMALL, 25}, {SMALL, 0}, {LARGE, 25}};
enum { NETWORKS = sizeof networks / sizeof *networks };

/* ---- shares of a batch ------------------------------------------------------------------------------------------- */

static void trains_on_shares(int rank)
{
    static const int64_t batches[] = {12, 13, 3}; /* of 3 samples, the first of four ranks has none */
    enum { STEPS = 4 };
    join();
    const int n = wk_dist_size();
    for (int b = 0; b < 3; b++)
        for (int k = 0; k < (b == 1 ? NETWORKS : 1); k++) {
            WK_SCOPE;
            training t = {.loss = sum_loss, .width = networks[k].width, .scale = 1.0 / n};
            wk_tensor *x[RANKS_MOST], *y[RANKS_MOST];
            begin(&t, rank, networks[k].bucket_cap_mb);
            wk_seed((uint64_t)(11 + b));
            wk_tensor *all = wk_randn((batches[b], IN)), *wanted = wk_randn((batches[b], OUT));
            for (int r = 0; r < n; r++) {
                const int64_t from = batches[b] * r / n, to = batches[b] * (r + 1) / n;
                x[r] = wk_narrow(all, 0, from, to - from);
                y[r] = wk_narrow(wanted, 0, from, to - from);
            }
            for (int s = 0; s < STEPS; s++) all_steps(&t, rank, x, y);
            compare(&t);
        }
    leave();
}

static void equal_and_uneven_shares_of_a_batch(void **state)
{
    (void)state;
    in_all_worlds(trains_on_shares);
}

/* ---- the loader's shares ----------------------------------------------------------------------------------------- */

enum { BATCH = 8, EPOCHS = 2, MOST_SAMPLES = 103 };

/* y of a sample is its number, followed by OUT values to learn. */
static wk_dataset *samples_of(int count, wk_tensor **x, wk_tensor **y)
{
    wk_seed(5);
    *x = wk_randn((count, IN));
    *y = wk_randn((count, OUT));
    wk_tensor *number = wk_reshape(wk_arange((double)count, .dtype = WK_F32), (count, 1));
    return wk_data_tensors(*x, wk_cat((number, *y), 1));
}

/* The sample numbers in the order of one process. */
static void order_of(wk_loader *one_by_one, int64_t *order)
{
    int64_t seen = 0;
    WK_EACH(batch, one_by_one) order[seen++] = (int64_t)wk_item(wk_select(wk_select(batch->y, 0, 0), 0, 0));
}

/* As docs/guides/launching.md documents, ranks take turns in the order; if it does not divide evenly, its first samples
 * are used twice. Writes the sample numbers of a rank's part of batch b of an epoch of `count`, and returns their
 * number. */
static int64_t part_of(const int64_t *order, int64_t count, int64_t b, int rank, int64_t *part)
{
    const int n = wk_dist_size();
    const int64_t share = (count + n - 1) / n;
    int64_t length = 0;
    for (int64_t k = b * BATCH; k < share && k < (b + 1) * BATCH; k++) part[length++] = order[(k * n + rank) % count];
    return length;
}

static void epoch(const training *t, wk_loader *mine, const int64_t *order, int64_t count, wk_tensor *x, wk_tensor *y)
{
    const int n = wk_dist_size(), rank = wk_dist_rank();
    int64_t batches = 0;
    WK_EACH(batch, mine)
    {
        int64_t part[BATCH];
        wk_tensor *xs[RANKS_MOST], *ys[RANKS_MOST];
        for (int r = 0; r < n; r++) {
            const int64_t length = part_of(order, count, batch->index, r, part);
            wk_tensor *numbers = wk_from(part, (length));
            xs[r] = wk_index_select(x, 0, numbers);
            ys[r] = wk_index_select(y, 0, numbers);
        }
        RANK_CHECK(same(batch->x, xs[rank]));
        xs[rank] = batch->x;
        ys[rank] = wk_contiguous(wk_narrow(batch->y, 1, 1, OUT));
        all_steps(t, rank, xs, ys);
        batches++;
    }
    RANK_CHECK(batches == ((count + n - 1) / n + BATCH - 1) / BATCH);
}

static void trains_with_loaders(int rank)
{
    static const int counts[] = {96, MOST_SAMPLES, 5}; /* 96: each number of ranks divides it */
    join();
    for (int c = 0; c < 3; c++)
        for (int k = 0; k < (c == 1 ? NETWORKS : 1); k++) {
            WK_SCOPE;
            int64_t order[MOST_SAMPLES];
            wk_tensor *x, *y;
            training t = {.loss = mean_loss, .width = networks[k].width, .scale = 1};
            wk_dataset *data = samples_of(counts[c], &x, &y);
            wk_loader *all = wk_data_loader(data, .batch_size = 1, .shuffle = true, .seed = 3);
            wk_loader *mine = wk_data_loader(data, .batch_size = BATCH, .shuffle = true, .seed = 3, .rank = rank,
                                             .world = wk_dist_size());
            begin(&t, rank, networks[k].bucket_cap_mb);
            for (int e = 0; e < EPOCHS; e++) {
                order_of(all, order);
                epoch(&t, mine, order, counts[c], x, y);
            }
            compare(&t);
        }
    leave();
}

static void shares_of_the_loader(void **state)
{
    (void)state;
    in_all_worlds(trains_with_loaders);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_and_uneven_shares_of_a_batch),
        cmocka_unit_test(shares_of_the_loader),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
