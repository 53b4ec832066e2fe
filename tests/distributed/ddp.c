/* SPDX-License-Identifier: Apache-2.0 */
/* Tests wk_ddp: gradients are the mean over all ranks, whichever parameters each rank uses, and an error of one rank
 * fails all. Ranks are forked processes, compared with one process that trains on all data. */
#include "support/devices.h"
#include "support/ranks.h"

#include "autograd/node.h"
#include "distributed/ddp.h"

enum { BATCH = 12, IN = 6, OUT = 3, STEPS = 4 };

static void join(void)
{
    RANK_CHECK(wk_dist_init() == WK_OK);
}

static void leave(void)
{
    RANK_CHECK(wk_dist_finish() == WK_OK);
    RANK_CHECK(!wk_error());
}

static double element(wk_tensor *x, int k)
{
    return wk_item(wk_select(x, 0, k));
}

/* Returns true if the parameters of all ranks have the same bits as this one's. */
static bool same_in_all(wk_module *net)
{
    WK_SCOPE;
    wk_tensors *list = wk_parameters(net);
    for (int k = 0; k < wk_tensors_count(list); k++) {
        wk_tensor *mine = wk_detach(wk_tensors_get(list, k)), *all = wk_dist_all_gather(wk_reshape(mine, (1, -1)));
        if (wk_item(wk_all(wk_eq(all, wk_reshape(mine, (1, -1))))) == 0) return false;
    }
    return !wk_error();
}

static double distance(wk_module *a, wk_module *b)
{
    WK_SCOPE;
    wk_tensors *p = wk_parameters(a), *q = wk_parameters(b);
    double most = 0;
    for (int k = 0; k < wk_tensors_count(p); k++) {
        const double gap = wk_item(wk_amax(wk_abs(wk_sub(wk_tensors_get(p, k), wk_tensors_get(q, k)))));
        if (!(gap <= most)) most = gap;
    }
    return most;
}

static wk_module *network(int seed)
{
    wk_seed((uint64_t)seed);
    return wk_nn_sequential(wk_nn_linear(IN, 16), wk_nn_tanh(), wk_nn_linear(16, OUT));
}

/* Sum over the batch, so that the mean over ranks is the mean of sums, independent of the shares. */
static wk_tensor *loss_of(wk_module *net, wk_tensor *x, wk_tensor *y)
{
    return wk_sum(wk_square(wk_sub(wk_forward(net, x), y)));
}

static void train(wk_module *net, wk_tensor *x, wk_tensor *y, double scale)
{
    wk_optim *sgd = wk_optim_sgd(wk_parameters(net), .lr = 0.01, .momentum = 0.9);
    for (int step = 0; step < STEPS; step++) {
        WK_SCOPE;
        wk_optim_zero_grad(sgd);
        wk_backward(wk_mul(loss_of(net, x, y), scale));
        wk_optim_step(sgd);
    }
}

/* ---- equality with one process ----------------------------------------------------------------------------------- */

/* With one bucket per parameter, or with the default size, one bucket for all. */
static void trains(int rank)
{
    WK_SCOPE;
    join();
    const int world = wk_dist_size();
    wk_seed(11);
    wk_tensor *x = wk_randn((BATCH, IN)), *y = wk_randn((BATCH, OUT));
    wk_module *net = network(rank + 1), *one = network(1);
    wk_module *ddp = wk_ddp(net, .bucket_cap_mb = the_ranks->user ? 0 : 25);
    if (world > 1) RANK_CHECK((*(wk__ddp **)wk_module_state(ddp))->buckets == (the_ranks->user ? 4 : 1));
    RANK_CHECK(distance(net, one) == 0); /* rank 0's values */
    const int64_t from = BATCH * rank / world, to = BATCH * (rank + 1) / world;
    train(ddp, wk_narrow(x, 0, from, to - from), wk_narrow(y, 0, from, to - from), 1);
    train(one, x, y, 1.0 / world);
    RANK_CHECK(distance(net, one) < 1e-6);
    RANK_CHECK(same_in_all(net));
    my_note()->number[0] = wk_item(wk_sum(wk_tensors_get(wk_parameters(net), 0)));
    leave();
}

static void weights_equal_those_of_one_process(void **state)
{
    (void)state;
    for (int size = 1; size <= 4; size++) {
        double last = 0;
        for (int small = 0; small < 2; small++) {
            ranks r = {.size = size, .body = trains, .user = (void *)(intptr_t)small};
            ranks_run(&r);
            if (size == 2 && small) assert_true(r.note[0].number[0] == last); /* two ranks have one order of sums */
            last = r.note[0].number[0];
            ranks_free(&r);
        }
    }
}

/* ---- buckets during backward ------------------------------------------------------------------------------------- */

static wk_tensor *looks_at_buckets(wk_tensor *grad, void *user)
{
    const wk__ddp *d = *(wk__ddp **)wk_module_state(user);
    my_note()->number[0] = (double)d->submitted;
    return (void)grad, NULL;
}

static void checks_buckets_in_a_hook(int rank)
{
    WK_SCOPE;
    join();
    wk_module *ddp = wk_ddp(network(rank), .bucket_cap_mb = 0);
    wk_tensor *x = wk_requires_grad_(wk_ones((2, IN)), true);
    wk_register_hook(x, looks_at_buckets, ddp);
    RANK_CHECK(wk_backward(wk_sum(wk_forward(ddp, x))) == WK_OK);
    leave();
}

/* When the gradient reaches the input, the buckets of the second layer have been submitted. */
static void buckets_are_sent_during_backward(void **state)
{
    (void)state;
    ranks r = {.size = 2, .body = checks_buckets_in_a_hook};
    ranks_run(&r);
    assert_true(r.note[0].number[0] >= 2 && r.note[1].number[0] >= 2);
    ranks_free(&r);
}

static void has_large_parameters(int rank)
{
    WK_SCOPE;
    join();
    wk_module *layers[5];
    for (int k = 0; k < 5; k++) layers[k] = wk_nn_linear(256, 512, .no_bias = true); /* half a MiB */
    wk_module *ddp = wk_ddp(wk_nn_sequential_at(WK_HERE, layers, 5));
    const wk__ddp *d = *(wk__ddp **)wk_module_state(ddp);
    RANK_CHECK(d->buckets == 2 && d->bucket[0].count == 2 && d->bucket[1].count == 3);
    RANK_CHECK(d->parameter[0] == wk_module_parameter(ddp, "4.weight"));
    (void)rank;
    leave();
}

static void the_first_bucket_is_small(void **state)
{
    (void)state;
    ranks r = {.size = 2, .body = has_large_parameters};
    ranks_run(&r);
    ranks_free(&r);
}

/* Both ranks use the same device: a bucket is submitted there after the next one has been. */
static void trains_on_a_gpu(int rank)
{
    WK_SCOPE;
    join();
    wk_seed(11);
    wk_tensor *x = wk_randn((BATCH, IN)), *y = wk_randn((BATCH, OUT));
    wk_module *net = network(rank), *one = network(0),
              *ddp = wk_ddp(wk_module_to(net, test_gpu(0)), .bucket_cap_mb = 0);
    const int64_t part = BATCH / 2;
    train(ddp, wk_to(wk_narrow(x, 0, rank * part, part), test_gpu(0)),
          wk_to(wk_narrow(y, 0, rank * part, part), test_gpu(0)), 1);
    train(one, x, y, 0.5);
    RANK_CHECK(wk_device_eq(wk_device_of(wk_grad_of(wk_module_parameter(net, "0.weight"))), test_gpu(0)));
    RANK_CHECK(distance(wk_module_to(net, wk_cpu()), one) < 1e-6);
    leave();
}

/* Two devices compute a part of each rank's share. */
static void trains_on_two_devices(int rank)
{
    WK_SCOPE;
    join();
    wk_seed(11);
    wk_tensor *x = wk_randn((BATCH, IN)), *y = wk_randn((BATCH, OUT));
    const wk_device devices[] = {wk_cpu(), test_gpu(0)};
    wk_module *net = network(rank), *one = network(0), *ddp = wk_ddp(wk_mirrored(net, devices, 2), .bucket_cap_mb = 0);
    const int64_t part = BATCH / 2;
    train(ddp, wk_narrow(x, 0, rank * part, part), wk_narrow(y, 0, rank * part, part), 1);
    train(one, x, y, 0.5);
    RANK_CHECK(distance(net, one) < 1e-6);
    RANK_CHECK(same_in_all(net));
    leave();
}

static void over_several_devices(void **state)
{
    (void)state;
    if (test_cpu_alone()) skip();
    ranks r = {.size = 2, .body = trains_on_two_devices};
    ranks_run(&r);
    ranks_free(&r);
}

static void on_a_gpu(void **state)
{
    (void)state;
    if (test_cpu_alone()) skip();
    ranks r = {.size = 2, .body = trains_on_a_gpu};
    ranks_run(&r);
    ranks_free(&r);
}

/* ---- parameters not used by all ranks ---------------------------------------------------------------------------- */

typedef struct heads {
    wk_tensor *head[3];
} heads;

static int chosen; /* the head that this rank uses; -1: none */

static wk_tensor *use_head(wk_module *self, wk_tensor *x)
{
    const heads *h = wk_module_state(self);
    return chosen < 0 ? wk_mul(x, 2) : wk_mul(x, h->head[chosen]);
}

static const wk_dtype kinds[] = {WK_F32, WK_F64, WK_F16, WK_BF16, WK_F64};
enum { KINDS = sizeof kinds / sizeof *kinds };
static const char *const names[KINDS] = {"a", "b", "c", "d", "e"};

static wk_module *three_heads(wk_dtype dtype)
{
    static const wk_module_kind kind = {
        .size = sizeof kind, .name = "heads", .state = sizeof(heads), .forward1 = use_head};
    wk_module *m = wk_module_new(&kind);
    heads *h = wk_module_state(m);
    for (int k = 0; k < 3; k++) h->head[k] = wk_module_add_parameter(m, names[k], wk_ones((2), .dtype = dtype));
    return m;
}

static wk_tensor *grad_of(wk_module *m, const char *name)
{
    return wk_grad_of(wk_module_parameter(m, name));
}

static void uses_its_own_head(int rank)
{
    static const wk_dtype dtypes[] = {WK_F32, WK_F64, WK_F16, WK_BF16};
    join();
    for (int k = 0; k < 4; k++) {
        WK_SCOPE;
        wk_module *net = three_heads(dtypes[k]), *ddp = wk_ddp(net);
        wk_tensor *x = wk_to_dtype(wk_of(float, (2), 1 + (float)rank, 4), dtypes[k]);
        chosen = rank;
        RANK_CHECK(wk_backward(wk_sum(wk_forward(ddp, x))) == WK_OK);
        wk_tensor *a = grad_of(net, "a"), *b = grad_of(net, "b");
        RANK_CHECK(wk_dtype_of(a) == dtypes[k] && wk_dtype_of(b) == dtypes[k]);
        RANK_CHECK(element(a, 0) == 0.5 && element(a, 1) == 2);
        RANK_CHECK(element(b, 0) == 1 && element(b, 1) == 2);
        RANK_CHECK(!grad_of(net, "c"));
    }
    leave();
}

static void heads_not_used_by_all_ranks(void **state)
{
    (void)state;
    ranks r = {.size = 2, .body = uses_its_own_head};
    ranks_run(&r);
    ranks_free(&r);
}

static wk_tensor *use_all(wk_module *self, wk_tensor *x)
{
    for (int k = 0; k < KINDS; k++) x = wk_mul(x, wk_to_dtype(wk_module_parameter(self, names[k]), WK_F64));
    return x;
}

/* f64 has separate buckets; f16 and bf16 share those of f32. */
static void mixes_dtypes(int rank)
{
    static const wk_module_kind kind = {.size = sizeof kind, .name = "mixed", .forward1 = use_all};
    WK_SCOPE;
    join();
    wk_module *net = wk_module_new(&kind);
    for (int k = 0; k < KINDS; k++) wk_module_add_parameter(net, names[k], wk_ones((2), .dtype = kinds[k]));
    wk_module *ddp = wk_ddp(net);
    const wk__ddp *d = *(wk__ddp **)wk_module_state(ddp);
    RANK_CHECK(d->buckets == 4); /* from the end: f64, bf16 and f16, f64, f32 */
    for (int64_t k = 0; k < d->buckets; k++) RANK_CHECK(d->bucket[k].dtype == (k % 2 ? WK_F32 : WK_F64));
    RANK_CHECK(wk_backward(wk_sum(wk_forward(ddp, wk_of(double, (2), 1 + rank, 4 + rank)))) == WK_OK);
    for (int k = 0; k < KINDS; k++) {
        wk_tensor *grad = grad_of(net, names[k]);
        RANK_CHECK(wk_dtype_of(grad) == kinds[k] && element(grad, 0) == 1.5 && element(grad, 1) == 4.5);
    }
    leave();
}

static void buckets_are_of_one_dtype(void **state)
{
    (void)state;
    ranks r = {.size = 2, .body = mixes_dtypes};
    ranks_run(&r);
    ranks_free(&r);
}

/* One rank's output does not depend on any parameter: its backward takes part through the input's gradient. */
static void one_rank_uses_no_parameter(int rank)
{
    WK_SCOPE;
    join();
    wk_module *net = three_heads(WK_F32), *ddp = wk_ddp(net);
    chosen = rank ? -1 : 0;
    wk_tensor *x = wk_requires_grad_(wk_of(float, (2), 3, 5), true);
    for (int turn = 1; turn <= 2; turn++) { /* the second time with layers frozen through wk_module_train */
        RANK_CHECK(wk_backward(wk_sum(wk_forward(ddp, x))) == WK_OK);
        wk_tensor *a = grad_of(net, "a");
        RANK_CHECK(element(a, 0) == 1.5 * turn && element(a, 1) == 2.5 * turn);
        wk_module_train(ddp, false);
    }
    leave();
}

static void a_backward_without_parameters_takes_part(void **state)
{
    (void)state;
    ranks r = {.size = 2, .body = one_rank_uses_no_parameter};
    ranks_run(&r);
    ranks_free(&r);
}

static int give_parameter(wk_module *self, wk_tensor *const *in, int inputs, wk_tensor **out, int outputs)
{
    wk_tensor *a = wk_module_parameter(self, "a");
    (void)inputs, (void)outputs;
    out[0] = wk_mul(in[0], a);
    out[1] = a; /* such as a temperature, for the loss */
    return 2;
}

static void gives_a_parameter(int rank)
{
    static const wk_module_kind kind = {.size = sizeof kind, .name = "gives", .forward = give_parameter};
    WK_SCOPE;
    join();
    wk_module *net = wk_module_new(&kind);
    wk_module_add_parameter(net, "a", wk_ones((2)));
    wk_module *ddp = wk_ddp(net);
    const wk__ddp *d = *(wk__ddp **)wk_module_state(ddp);
    const int before = atomic_load(&d->refs);
    for (int k = 0; k < 5; k++) {
        WK_SCOPE;
        wk_tensor *out[2];
        RANK_CHECK(wk_forward_n(ddp, (wk_of(float, (2), 1 + (float)rank, 4)), out, 2) == 2);
        RANK_CHECK(wk_backward(wk_sum(k % 2 ? out[1] : out[0])) == WK_OK);
    }
    RANK_CHECK(atomic_load(&d->refs) == before); /* no hook of a step remains on the parameter */
    RANK_CHECK(element(grad_of(net, "a"), 0) == 3 * 1.5 + 2);
    leave();
}

static wk_tensor *give_input(wk_module *self, wk_tensor *x)
{
    return (void)self, x;
}

/* A backward of another network that reaches the same input is not a round of this one. */
static void gives_its_input(int rank)
{
    static const wk_module_kind kind = {.size = sizeof kind, .name = "same", .forward1 = give_input};
    WK_SCOPE;
    join();
    wk_module *net = wk_module_new(&kind);
    wk_tensor *a = wk_module_add_parameter(net, "a", wk_ones((2)));
    wk_module *ddp = wk_ddp(net);
    wk_tensor *leaf = wk_ones((2), .requires_grad = true), *x = wk_mul(leaf, 3);
    RANK_CHECK(wk_forward(ddp, x) && wk_forward(ddp, leaf));
    if (rank == 1) RANK_CHECK(wk_backward(wk_sum(wk_square(x))) == WK_OK);
    RANK_CHECK(wk_backward(wk_sum(wk_mul(wk_forward(ddp, leaf), wk_mul(a, rank)))) == WK_OK);
    RANK_CHECK(element(grad_of(net, "a"), 0) == 0.5);
    leave();
}

static void outputs_that_are_parameters_or_inputs(void **state)
{
    (void)state;
    ranks r = {.size = 2, .body = gives_a_parameter};
    ranks_run(&r);
    ranks_free(&r);
    r = (ranks){.size = 2, .body = gives_its_input};
    ranks_run(&r);
    ranks_free(&r);
}

/* ---- accumulated gradients --------------------------------------------------------------------------------------- */

static void accumulates(int rank)
{
    WK_SCOPE;
    join();
    wk_module *net = three_heads(WK_F32), *ddp = wk_ddp(net);
    chosen = 0;
    for (int part = 0; part < 3; part++) {
        wk_tensor *x = wk_of(float, (2), (float)(part + rank), 1);
        if (part < 2) {
            WK_NO_SYNC;
            RANK_CHECK(wk_backward(wk_sum(wk_forward(ddp, x))) == WK_OK);
            wk_tensor *a = grad_of(net, "a");
            RANK_CHECK(element(a, 0) == (part ? 1 + 2 * rank : rank)); /* local gradients */
        } else {
            RANK_CHECK(wk_backward(wk_sum(wk_forward(ddp, x))) == WK_OK);
        }
    }
    wk_tensor *a = grad_of(net, "a"); /* of rank 0: 0 + 1 + 2, of rank 1: 1 + 2 + 3 */
    RANK_CHECK(element(a, 0) == 4.5 && element(a, 1) == 3);
    RANK_CHECK(wk_backward(wk_sum(wk_forward(ddp, wk_of(float, (2), 2, 2)))) == WK_OK);
    RANK_CHECK(element(grad_of(net, "a"), 0) == 6.5);
    leave();
}

static void gradients_accumulate_without_sync(void **state)
{
    (void)state;
    ranks r = {.size = 2, .body = accumulates};
    ranks_run(&r);
    ranks_free(&r);
}

/* ---- buffers, frozen and shared parameters, release -------------------------------------------------------------- */

static wk_tensor *counts(wk_module *self, wk_tensor *x)
{
    wk_module_set_buffer(self, "seen", wk_add(wk_module_buffer(self, "seen"), wk_dist_rank() + 1));
    return wk_mul(x, wk_module_parameter(self, "scale"));
}

static void has_buffers(int rank)
{
    static const wk_module_kind kind = {.size = sizeof kind, .name = "counts", .forward1 = counts};
    WK_SCOPE;
    join();
    for (int own = 0; own < 2; own++) {
        wk_module *net = wk_module_new(&kind);
        wk_module_add_parameter(net, "scale", wk_ones((1)));
        wk_module_set_buffer(net, "seen", wk_full((1), rank));
        wk_module *ddp = wk_ddp(net, .no_broadcast_buffers = own);
        for (int k = 0; k < 3; k++) wk_forward(ddp, wk_ones((1)));
        RANK_CHECK(wk_item(wk_module_buffer(net, "seen")) == (own ? 3 * (rank + 1) : 2 + rank + 1));
        wk_module_train(ddp, false);
        wk_forward(ddp, wk_ones((1))); /* nothing is sent */
        RANK_CHECK(wk_item(wk_module_buffer(net, "seen")) == (own ? 4 * (rank + 1) : 2 + 2 * (rank + 1)));
    }
    leave();
}

static void buffers_are_those_of_rank_0(void **state)
{
    (void)state;
    ranks r = {.size = 2, .body = has_buffers};
    ranks_run(&r);
    ranks_free(&r);
}

static void freezes_and_shares(int rank)
{
    WK_SCOPE;
    join();
    wk_module *shared = wk_nn_linear(4, 4), *net = wk_nn_sequential(shared, wk_nn_linear(4, 4), shared);
    wk_requires_grad_(wk_module_parameter(net, "1.bias"), false);
    {
        WK_SCOPE;
        wk_module *ddp = wk_ddp(net);
        wk_seed(5);
        wk_tensor *x = wk_randn((2, 4)), *mine = wk_narrow(x, 0, rank, 1);
        RANK_CHECK(wk_backward(wk_sum(wk_forward(ddp, mine))) == WK_OK);
        RANK_CHECK(!grad_of(net, "1.bias"));
        wk_tensor *w = wk_module_parameter(net, "0.weight"), *g[1];
        const wk_code code = wk_grad((wk_div(wk_sum(wk_forward(net, x)), 2)), (w), g);
        RANK_CHECK(code == WK_OK && wk_item(wk_amax(wk_abs(wk_sub(g[0], wk_grad_of(w))))) < 1e-6);
        wk_keep(ddp);
        wk_free(ddp); /* the network remains usable: */
    }
    wk_set_grad(wk_module_parameter(net, "0.bias"), NULL);
    RANK_CHECK(wk_backward(wk_mul(wk_sum(wk_forward(net, wk_ones((1, 4)))), rank)) == WK_OK);
    RANK_CHECK(rank || wk_item(wk_amax(wk_abs(grad_of(net, "0.bias")))) == 0);
    leave();
}

static void parameters_frozen_and_shared(void **state)
{
    (void)state;
    ranks r = {.size = 2, .body = freezes_and_shares};
    ranks_run(&r);
    ranks_free(&r);
}

static int hooks_of(const wk_tensor *x)
{
    int n = 0;
    for (const wk__hook *hook = wk__body_of(x)->leaf->hooks; hook; hook = hook->next) n++;
    return n;
}

static wk_tensor *is_counted(wk_tensor *grad, void *calls)
{
    (void)grad;
    ++*(int *)calls;
    return NULL;
}

typedef struct adding {
    wk_tensor *to;
    int calls, of_added;
} adding;

static wk_tensor *adds_one(wk_tensor *grad, void *user)
{
    adding *a = user;
    (void)grad;
    a->calls++;
    wk_register_hook(a->to, is_counted, &a->of_added, .post_accumulate = true);
    return NULL;
}

/* The hooks of a freed wk_ddp are removed when the next one adds its own; but not within a backward pass, which may be
 * running them. */
static void wraps_again(int rank)
{
    WK_SCOPE;
    join();
    wk_module *net = network(1);
    adding a = {wk_module_parameter(net, "0.weight"), 0, 0};
    wk_register_hook(a.to, adds_one, &a, .post_accumulate = true);
    for (int turn = 0; turn < 5; turn++) {
        WK_SCOPE;
        wk_module *ddp = wk_ddp(net);
        RANK_CHECK(hooks_of(a.to) == 2 + turn && hooks_of(wk_module_parameter(net, "0.bias")) == 1);
        RANK_CHECK(wk_backward(wk_sum(wk_forward(ddp, wk_full((1, IN), rank + 1.0)))) == WK_OK);
    }
    RANK_CHECK(wk_backward(wk_sum(wk_forward(net, wk_ones((1, IN))))) == WK_OK);
    RANK_CHECK(a.calls == 6 && a.of_added == 0 + 1 + 2 + 3 + 4 + 5 && hooks_of(a.to) == 8);
    leave();
}

static void networks_are_wrapped_again(void **state)
{
    (void)state;
    ranks r = {.size = 2, .body = wraps_again};
    ranks_run(&r);
    ranks_free(&r);
}

/* ---- errors ------------------------------------------------------------------------------------------------------ */

/* Rank 1's data has one more batch. */
static void makes_one_more_step(int rank)
{
    WK_SCOPE;
    join();
    wk_module *ddp = wk_ddp(network(1));
    for (int k = 0; k < 2 + rank; k++) wk_backward(wk_sum(wk_forward(ddp, wk_ones((2, IN)))));
    RANK_CHECK(rank == 0 ? !wk_error() : wk_error_code() == WK_ERR_STATE);
    wk_dist_finish();
    rank_save_error();
}

static void ranks_with_different_numbers_of_steps(void **state)
{
    (void)state;
    ranks r = {.size = 2, .body = makes_one_more_step};
    ranks_run(&r);
    for (int k = 0; k < 2; k++) {
        const char *call = k ? ": backward: rank 1 of 2 on " : ": dist_finish: rank 0 of 2 on ";
        if (ranks_are_mpi()) /* wk_dist_finish is an ordinary call there */
            expect_rank_error(&r, k, WK_ERR_STATE, call, ": mismatched collectives: rank 0 on ",
                              " called finish, rank 1 on ", " called all_reduce of 167 f32, avg for wk_ddp 1", NULL);
        else
            expect_rank_error(&r, k, WK_ERR_STATE, call, ": rank 1 on ",
                              " called all_reduce 9 (bucket 0, 668 bytes) of its backward, but rank 0 on ",
                              " called wk_dist_finish; all ranks must make the same number of collective calls", NULL);
    }
    ranks_free(&r);
}

static wk_tensor *fails_in_rank_1(wk_tensor *grad, void *user)
{
    (void)user;
    return wk_dist_rank() == 1 ? wk_add(grad, wk_ones((7))) : NULL;
}

static void fails_in_backward(int rank)
{
    WK_SCOPE;
    join();
    wk_module *net = network(1), *ddp = wk_ddp(net, .bucket_cap_mb = 1e-4);
    wk_tensor *x = wk_ones((2, IN)), *y = wk_zeros((2, OUT)), *out = wk_forward(ddp, x);
    wk_register_hook(wk_module_parameter(net, "0.weight"), fails_in_rank_1, NULL);
    RANK_CHECK(wk_backward(wk_sum(wk_sub(out, y))) != WK_OK);
    (void)rank;
    rank_save_error();
    leave();
}

static void a_backward_that_fails_in_one_rank_fails_in_all(void **state)
{
    (void)state;
    ranks r = {.size = 3, .body = fails_in_backward};
    ranks_run(&r);
    for (int k = 0; k < 3; k += 2) expect_rank_error(&r, k, WK_ERR_SHAPE, ": rank 1 on ", " failed: ", "f32[7]", NULL);
    expect_rank_error(&r, 1, WK_ERR_SHAPE, "a hook", NULL);
    ranks_free(&r);
}

static wk_module *inner;
static bool quietly;

static wk_tensor *calls_backward(wk_tensor *grad, void *user)
{
    WK_ENABLE_GRAD;
    wk_tensor *x = wk_ones((1, IN));
    if (quietly) {
        WK_NO_SYNC;
        wk_backward(wk_sum(wk_forward(inner, x)));
    } else {
        wk_backward(wk_sum(wk_forward(inner, x)));
    }
    return (void)grad, (void)user, NULL;
}

/* In a hook, after the second layer's gradients were submitted: an error, except without sync, where gradients stay
 * local. */
static void calls_within(int rank)
{
    WK_SCOPE;
    join();
    for (int k = 0; k < 2; k++) {
        wk_module *net = network(1);
        inner = wk_ddp(net, .bucket_cap_mb = 0);
        quietly = k;
        wk_tensor *x = wk_requires_grad_(wk_ones((2, IN)), true);
        wk_register_hook(x, calls_backward, NULL);
        const wk_code code = wk_backward(wk_sum(wk_forward(inner, x)));
        RANK_CHECK(code == (k ? WK_OK : WK_ERR_STATE));
        if (!k) rank_save_error();
    }
    (void)rank;
    leave();
}

static void backward_within_backward(void **state)
{
    (void)state;
    ranks r = {.size = 2, .body = calls_within};
    ranks_run(&r);
    for (int k = 0; k < 2; k++)
        expect_rank_error(&r, k, WK_ERR_STATE, "received a gradient after its bucket was sent", NULL);
    ranks_free(&r);
}

static void invalid_options_and_modules(void **state)
{
    (void)state;
    WK_SCOPE;
    assert_null(wk_ddp(wk_nn_linear(2, 2), .bucket_cap_mb = -1));
    expect_error("ddp: .bucket_cap_mb must be in", NULL);
    assert_null(wk_ddp(NULL));
    expect_error("ddp: the module is NULL", NULL);
    wk_module *net = wk_module_train(wk_nn_linear(2, 2), false), *ddp = wk_ddp(net); /* a world of one */
    assert_false(wk_module_training(ddp));
    assert_ptr_equal(wk_module_parameter(ddp, "weight"), wk_module_parameter(net, "weight"));
    assert_int_equal(wk_backward(wk_sum(wk_forward(ddp, wk_ones((1, 2))))), WK_OK);
    EXPECT_VALUES(wk_grad_of(wk_module_parameter(net, "bias")), 0, 1, 1);
    expect_ok();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(weights_equal_those_of_one_process),
        cmocka_unit_test(buckets_are_sent_during_backward),
        cmocka_unit_test(the_first_bucket_is_small),
        cmocka_unit_test(on_a_gpu),
        cmocka_unit_test(over_several_devices),
        cmocka_unit_test(buckets_are_of_one_dtype),
        cmocka_unit_test(heads_not_used_by_all_ranks),
        cmocka_unit_test(a_backward_without_parameters_takes_part),
        cmocka_unit_test(outputs_that_are_parameters_or_inputs),
        cmocka_unit_test(gradients_accumulate_without_sync),
        cmocka_unit_test(buffers_are_those_of_rank_0),
        cmocka_unit_test(parameters_frozen_and_shared),
        cmocka_unit_test(networks_are_wrapped_again),
        cmocka_unit_test(ranks_with_different_numbers_of_steps),
        cmocka_unit_test(a_backward_that_fails_in_one_rank_fails_in_all),
        cmocka_unit_test(backward_within_backward),
        cmocka_unit_test(invalid_options_and_modules), /* last, because it uses the library in this process */
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
