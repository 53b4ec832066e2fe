/* SPDX-License-Identifier: Apache-2.0 */
/* Tests gradients of programs that write in place: the value of an operand at the call counts, whatever shares its
 * storage. Expected values are derivatives worked out by hand, or PyTorch's if it accepts the line. */
#include "support/wick.h"

static wk_tensor *counting(void)
{
    return wk_requires_grad_(wk_of(double, (4), 1, 2, 3, 4), true);
}

/* x, a base computed from it, an unused view of the base, and another tensor computed from x. */
typedef struct stale {
    wk_tensor *x, *y, *v, *z;
} stale;

static stale with_stale_view(void)
{
    stale s = {.x = counting()};
    s.y = wk_mul(s.x, 0.5);
    s.v = wk_select(s.y, 0, 2);
    s.z = wk_mul(s.x, 1.0);
    wk_mul_(s.y, 2.0); /* from here on v's position in the graph is outdated */
    return s;
}

#define EXPECT_GRADIENT(loss, x, ...)                                                                                  \
    do {                                                                                                               \
        assert_int_equal(wk_backward(loss), WK_OK);                                                                    \
        EXPECT_VALUES(wk_grad_of(x), 1e-12, __VA_ARGS__);                                                              \
    } while (0)

static void plus_forward(wk_function *f, wk_tensor *const in[], wk_tensor *out[])
{
    (void)f;
    out[0] = wk_add(in[0], in[1]);
}
static void plus_backward(wk_function *f, wk_tensor *const grad_out[], wk_tensor *grad_in[])
{
    (void)f;
    grad_in[0] = grad_out[0];
    grad_in[1] = wk_sum(grad_out[0]);
}

/* Calls an op as a binding does. */
static wk_tensor *called(const char *name, wk_tensor *a, wk_tensor *b)
{
    const wk_value in[] = {{.kind = WK_VALUE_TENSOR, .tensor = a}, {.kind = WK_VALUE_TENSOR, .tensor = b}};
    wk_value out;
    int count = 1;
    assert_int_equal(wk_call(NULL, name, in, 2, &out, &count, NULL, NULL, 0), WK_OK);
    return out.tensor;
}

/* A view whose base was written since is an operand, first or second, of a call of any kind, and is used again
 * afterwards: both uses count. */
static void a_stale_view_is_used_twice(void **state)
{
    (void)state;
    static const wk_function_kind plus = {.size = sizeof plus,
                                          .name = "plus",
                                          .inputs = 2,
                                          .outputs = 1,
                                          .forward = plus_forward,
                                          .backward = plus_backward};
    for (int how = 0; how < 8; how++) {
        WK_SCOPE;
        stale s = with_stale_view();
        wk_tensor *m = NULL;
        switch (how) {
        case 0: m = wk_copy_(s.z, s.v); break;                                      /* 4 v */
        case 1: m = wk_mul(s.z, s.v); break;                                        /* x v */
        case 2: m = wk_mul(s.v, s.z); break;                                        /* x v */
        case 3: m = wk_cat((wk_reshape(s.v, (1)), wk_reshape(s.v, (1))), 0); break; /* 2 v */
        case 4: m = wk_add_(s.z, s.v); break;                                       /* x + v */
        case 5: m = wk_apply(&plus, NULL, (s.z, s.v)); break;                       /* x + v */
        case 6: m = wk_where(wk_gt(s.z, 0), s.v, s.z); break;                       /* 4 v */
        case 7: m = called("mul", s.z, s.v); break;                                 /* x v */
        }
        const double expected[][4] = {{0, 0, 5, 0}, {3, 3, 14, 3}, {3, 3, 14, 3}, {0, 0, 3, 0},
                                      {1, 1, 6, 1}, {1, 1, 6, 1},  {0, 0, 5, 0},  {3, 3, 14, 3}};
        assert_int_equal(wk_backward(wk_add(wk_sum(m), s.v)), WK_OK);
        expect_values(wk_grad_of(s.x), 4, expected[how], 1e-12);
        if (how == 7) wk_free(m);
    }
}

/* The same after a write by sin_, an op without a scalar. */
static void a_stale_view_after_a_function(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = counting(), *y = wk_mul(x, 0.5), *v = wk_select(y, 0, 2), *z = wk_mul(x, 1.0);
    wk_sin_(y);
    wk_copy_(z, v);
    EXPECT_GRADIENT(wk_add(wk_sum(z), v), x, 0, 0, 2.5 * 0.0707372016677029, 0);
}

/* ---- operands that share memory with the target ------------------------------------------------------------------ */

/* Each function has a target and operands of its shape. */
static void mul(wk_tensor *t, wk_tensor *a, wk_tensor *b)
{
    (void)b, wk_mul_(t, a);
}
static void add(wk_tensor *t, wk_tensor *a, wk_tensor *b)
{
    (void)b, wk_add_(t, a);
}
static void sub(wk_tensor *t, wk_tensor *a, wk_tensor *b)
{
    (void)a, wk_sub_(t, b);
}
static void divide(wk_tensor *t, wk_tensor *a, wk_tensor *b)
{
    (void)b, wk_div_(t, a);
}
static void power(wk_tensor *t, wk_tensor *a, wk_tensor *b)
{
    (void)b, wk_pow_(t, a);
}
static void addcmul(wk_tensor *t, wk_tensor *a, wk_tensor *b)
{
    wk_addcmul_(t, a, b, .value = 0.5);
}
static void addcdiv(wk_tensor *t, wk_tensor *a, wk_tensor *b)
{
    wk_addcdiv_(t, a, b);
}
static void lerp(wk_tensor *t, wk_tensor *a, wk_tensor *b)
{
    wk_lerp_(t, a, b);
}
static void clamp(wk_tensor *t, wk_tensor *a, wk_tensor *b)
{
    wk_clamp_(t, wk_mul(b, 0.9), wk_mul(a, 1.2)); /* away from the limits, where it has no derivative */
}
static void copy(wk_tensor *t, wk_tensor *a, wk_tensor *b)
{
    (void)b, wk_copy_(t, a);
}
static void index_add(wk_tensor *t, wk_tensor *a, wk_tensor *b)
{
    (void)b, wk_index_add_(t, 0, wk_of(int64_t, (2), 1, 0), a);
}
static void scatter_add(wk_tensor *t, wk_tensor *a, wk_tensor *b)
{
    (void)a, wk_scatter_add_(t, 0, wk_of(int64_t, (2), 1, 1), b);
}
static void fill(wk_tensor *t, wk_tensor *a, wk_tensor *b)
{
    (void)a, (void)b, wk_masked_fill_(t, wk_of(_Bool, (2), 1, 0), 3);
}

typedef void written(wk_tensor *t, wk_tensor *a, wk_tensor *b);
static written *const calls[] = {mul,  add,   sub,  divide,    power,       addcmul, addcdiv,
                                 lerp, clamp, copy, index_add, scatter_add, fill};

/* Parts of a base p of 4 elements that are the target and the operands: [from, from + 2); -1: a separate tensor. */
typedef struct pattern {
    written *call;
    int target, a, b;
} pattern;

static wk_tensor *part(wk_tensor *p, wk_tensor *other, int from)
{
    return from < 0 ? wk_narrow(other, 0, 0, 2) : wk_narrow(p, 0, from, 2);
}

static wk_tensor *by_views(wk_tensor *const in[], void *context)
{
    const pattern *way = context;
    wk_tensor *p = wk_mul(in[0], 1.5), *other = wk_mul(in[1], 0.75);
    wk_tensor *t = part(p, other, way->target), *a = part(p, other, way->a), *b = part(p, other, way->b);
    way->call(t, a, b);
    if (way->call != power) way->call(t, b, a); /* the views are outdated by now; pow's gradient needs its result */
    return wk_add(wk_sum(wk_mul(a, b)), p);
}

static wk_tensor *with_itself(wk_tensor *const in[], void *context)
{
    const pattern *way = context;
    wk_tensor *p = wk_mul(wk_narrow(in[0], 0, 0, 2), 1.5);
    way->call(p, p, p);
    if (way->call != power) way->call(p, wk_mul(p, 0.5), p);
    return p;
}

static wk_tensor *of_gradient(wk_tensor *const in[], void *context)
{
    WK_ENABLE_GRAD;
    wk_tensor *x = wk_requires_grad(in[0]) ? in[0] : wk_requires_grad_(wk_clone(in[0]), true), *grads[1];
    wk_tensor *loss = wk_sum(wk_square(by_views((wk_tensor *const[]){x, in[1]}, context)));
    return wk_grad((loss), (x), grads, .create_graph = true) == WK_OK ? grads[0] : NULL;
}

/* In-place calls with the target, or an overlapping view of it, as another operand: the gradient is that of the values
 * before the write, in every op, also when differentiated again. */
static void operands_may_share_memory_with_the_target(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof calls / sizeof *calls; k++) {
        for (int way = 0; way < 4 * 4 * 3; way++) {
            WK_SCOPE;
            pattern p = {calls[k], way / 12, way / 3 % 4 - 1, way % 3};
            if (p.target == 3) continue;
            wk_tensor *x = wk_requires_grad_(wk_of(double, (4), 1.1, 1.3, 0.7, 0.9), true);
            wk_tensor *y = wk_requires_grad_(wk_of(double, (2), 0.8, 1.2), true);
            wk_gradcheck(by_views, &p, (x, y));
            expect_ok();
            if (way % 5 == 0) wk_gradcheck(of_gradient, &p, (x, y));
            expect_ok();
        }
        WK_SCOPE;
        pattern p = {.call = calls[k]};
        wk_gradcheck(with_itself, &p, (wk_requires_grad_(wk_of(double, (4), 1.1, 1.3, 0.7, 0.9), true)));
        expect_ok();
    }
}

/* Expected values of some calls, and the gradient of a leaf operand. */
static void in_place_with_itself(void **state)
{
    (void)state;
    for (int how = 0; how < 7; how++) {
        WK_SCOPE;
        wk_tensor *x = wk_requires_grad_(wk_of(double, (3), 5, 2, 3), true), *p = wk_mul(x, 1.0);
        switch (how) {
        case 0: wk_mul_(p, p); break;
        case 1: wk_mul_(p, wk_select(p, 0, 0)); break;
        case 2: wk_div_(p, p); break;
        case 3: wk_addcmul_(p, p, p); break;
        case 4: wk_mul_(wk_slice(p, 0, 0, 2), wk_slice(p, 0, 1, 3)); break;
        case 5: wk_copy_(wk_slice(p, 0, 0, 2), wk_slice(p, 0, 1, 3)); break;
        case 6: p = wk_mul_(wk_detach(x), x); break; /* x is 25 4 9 afterwards; d = 5 2 3 */
        }
        const double expected[][3] = {{10, 4, 6}, {15, 5, 5}, {0, 0, 0}, {11, 5, 7}, {2, 8, 3}, {0, 1, 2}, {5, 2, 3}};
        assert_int_equal(wk_backward(wk_sum(p)), WK_OK);
        expect_values(wk_grad_of(x), 3, expected[how], 1e-12);
    }
}

/* ---- storages without a living base ------------------------------------------------------------------------------ */

/* New tensors from ops, of the elements of a [2,2]; each is written in place, directly or through a view. */
static wk_tensor *created(int how, wk_tensor *x)
{
    wk_tensor *index = wk_of(int64_t, (2), 1, 1);
    switch (how) {
    case 0: return wk_logsumexp(x, (1));
    case 1: return wk_softmax(wk_transpose(x, 0, 1), 0);
    case 2: return wk_tile(x, (1, 2));
    case 3: return wk_repeat_interleave(x, 2, 0);
    case 4: return wk_roll(x, (1), (0));
    case 5: return wk_roll(x, (0), (0));
    case 6: return wk_index_add(x, 0, index, x);
    case 7: return wk_scatter_add(wk_select(x, 0, 0), 0, index, wk_select(x, 0, 1));
    case 8: return wk_reshape(wk_transpose(x, 0, 1), (4));
    case 9: return wk_repeat(wk_narrow(x, 1, 0, 1), (1, 3));
    case 10: return wk_repeat_interleave(wk_narrow(x, 1, 0, 1), 3, 1);
    case 11: return wk_repeat(x, (2, 1));
    case 12: return wk_cumsum(wk_transpose(x, 0, 1), 0);
    case 13: return wk_linear(x, x, NULL);
    case 14: return wk_flip(x, (0));
    case 15: return wk_var(x, (0));
    }
    return NULL;
}
enum { KEEP_THEIR_RESULT = 2, WAYS_TO_MAKE = 16 };

static wk_tensor *written_directly(wk_tensor *const in[], void *context)
{
    wk_tensor *y = created(*(int *)context, in[0]);
    assert_ptr_equal(wk_mul_(y, wk_add(wk_sum(in[0]), y)), y);
    return y;
}

static wk_tensor *written_through_a_view(wk_tensor *const in[], void *context)
{
    wk_tensor *y = created(*(int *)context, in[0]), *part = wk_select(y, 0, 0), *last = wk_narrow(y, -1, -1, 1);
    assert_ptr_equal(wk_mul_(part, wk_sum(in[0])), part);
    wk_add_(last, wk_mul(last, 3));
    return wk_add(wk_sum(wk_mul(part, part)), y);
}

/* A new tensor is the base of its storage, whatever the op created it from, and shares memory with no other. */
static void results_of_ops_can_be_written(void **state)
{
    (void)state;
    for (int how = 0; how < WAYS_TO_MAKE; how++) {
        WK_SCOPE;
        wk_tensor *x = wk_requires_grad_(wk_of(double, (2, 2), 0.7, 1.2, 0.4, 0.9), true);
        for (int view = 0; view < 2; view++) {
            if (wk_gradcheck(view ? written_through_a_view : written_directly, &how, (x))) continue;
            if (how < KEEP_THEIR_RESULT) expect_error("needs the original value of its result", NULL);
            expect_ok();
        }
        EXPECT_VALUES(x, 0, 0.7, 1.2, 0.4, 0.9);
    }
}

/* Elements repeated along a dimension of size 1 are copied, too. */
static void repeated_elements_share_no_memory(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(double, (2, 1), 1, 2), *before = wk_of(double, (2, 3), 1, 1, 1, 2, 2, 2);
    wk_tensor *all[] = {wk_repeat(x, (1, 3)), wk_tile(x, (3)), wk_repeat_interleave(x, 3, 1),
                        wk_repeat(wk_transpose(x, 0, 1), (3, 1))};
    for (int k = 0; k < 4; k++) {
        wk_tensor *y = k == 3 ? wk_transpose(all[k], 0, 1) : all[k];
        assert_non_null(wk_add_(y, before));
        EXPECT_VALUES(y, 0, 2, 2, 2, 4, 4, 4);
        assert_non_null(wk_fill_(wk_narrow(y, 1, 0, 1), 0));
        EXPECT_VALUES(y, 0, 0, 2, 2, 0, 4, 4);
    }
    EXPECT_VALUES(x, 0, 1, 2);
}

/* The base was freed and had no history: a view is written with one, and its siblings get it. */
static void views_outlive_a_base_without_history(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *w = counting(), *base = wk_ones((3, 4), .dtype = WK_F64), *all = wk_transpose(base, 0, 1);
    wk_tensor *row = wk_select(base, 0, 1), *last = wk_narrow(base, 1, 3, 1);
    wk_free(base);
    assert_ptr_equal(wk_mul_(row, w), row);
    assert_ptr_equal(wk_mul_(last, 2), last);
    EXPECT_VALUES(all, 0, 1, 1, 1, 1, 2, 1, 1, 3, 1, 2, 8, 2);
    EXPECT_GRADIENT(wk_sum(wk_mul(all, all)), w, 2, 4, 6, 32);
}

/* A view of a freed leaf remains a view of a leaf. */
static void views_outlive_a_leaf(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = counting(), *w = counting(), *v = wk_narrow(x, 0, 0, 2), *twin = wk_detach(x), *unseen;
    {
        WK_NO_GRAD;
        unseen = wk_narrow(x, 0, 2, 2);
    }
    wk_mul_(twin, w); /* every view of x is updated when it is used */
    wk_free(x);
    assert_null(wk_mul_(v, 2));
    expect_error("mul_", "view of one", NULL);
    assert_null(wk_mul_(unseen, wk_narrow(w, 0, 0, 2)));
    expect_error("mul_", "view of one", NULL);
    x = counting(), v = wk_narrow(x, 0, 0, 2);
    wk_mul_(wk_detach(x), 3);
    EXPECT_GRADIENT(wk_sum(wk_mul(v, 5)), x, 5, 5, 0, 0);
}

static void expand_forward(wk_function *f, wk_tensor *const in[], wk_tensor *out[])
{
    (void)f;
    out[0] = wk_expand(in[0], (2, 4));
    out[1] = wk_select(wk_reshape(wk_add(in[0], 1), (2, 2)), 1, 1);
}
static void expand_backward(wk_function *f, wk_tensor *const grad_out[], wk_tensor *grad_in[])
{
    (void)f;
    wk_tensor *sum = grad_out[0] ? wk_sum(grad_out[0], (0)) : wk_zeros((4), .dtype = WK_F64);
    wk_tensor *spread = grad_out[1] ? wk_reshape(grad_out[1], (2, 1)) : wk_zeros((2, 1), .dtype = WK_F64);
    grad_in[0] = wk_add(sum, wk_reshape(wk_cat((wk_zeros((2, 1), .dtype = WK_F64), spread), 1), (4)));
}

static const wk_function_kind odd = {.size = sizeof odd,
                                     .name = "odd",
                                     .inputs = 1,
                                     .outputs = 2,
                                     .forward = expand_forward,
                                     .backward = expand_backward};

/* Results of functions and gradients are bases like any other, even if forward returned a view with gaps, or one whose
 * elements overlap. */
static void odd_results_are_bases(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = counting(), *out[2], *g[2];
    assert_int_equal(wk_apply_n(&odd, NULL, (x), out), WK_OK);
    assert_non_null(wk_mul_(wk_select(out[0], 0, 0), 3));
    assert_non_null(wk_mul_(wk_narrow(out[1], 0, 1, 1), wk_narrow(x, 0, 0, 1)));
    assert_non_null(wk_mul_(out[1], 2));
    EXPECT_VALUES(out[0], 0, 3, 6, 9, 12, 1, 2, 3, 4);
    EXPECT_VALUES(out[1], 0, 6, 10);
    EXPECT_GRADIENT(wk_add(wk_sum(out[0]), wk_sum(out[1])), x, 14, 6, 4, 6);

    wk_tensor *a = counting(), *b = counting();
    assert_int_equal(wk_grad((wk_sum(wk_mul(wk_add(a, b), wk_mul(a, b)))), (a, b), g, .create_graph = true), WK_OK);
    wk_mul_(wk_narrow(g[0], 0, 0, 1), 10); /* 2 a b + b^2 and a^2 + 2 a b */
    wk_add_(g[1], g[0]);
    EXPECT_VALUES(g[0], 0, 30, 12, 27, 48);
    EXPECT_GRADIENT(wk_sum(g[1]), a, 24, 12, 18, 24);
}

/* The results of one wk_grad share no memory: writing one does not change the others. */
static void gradients_share_no_memory(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *a = counting(), *b = counting(), *seed = wk_of(double, (4), 1, 2, 3, 4), *seeds[] = {seed}, *g[2];
    assert_int_equal(wk_grad((wk_add(a, b)), (a, b), g, .grad_outputs = seeds), WK_OK);
    wk_mul_(g[0], 10);
    EXPECT_VALUES(g[0], 0, 10, 20, 30, 40);
    EXPECT_VALUES(g[1], 0, 1, 2, 3, 4);
    EXPECT_VALUES(seed, 0, 1, 2, 3, 4);
}

/* ---- gradients of gradients, and views of all kinds -------------------------------------------------------------- */

static wk_tensor *through_a_view(wk_tensor *const in[], void *context)
{
    (void)context;
    wk_tensor *y = wk_clone(in[0]);
    wk_sin_(wk_unsqueeze(wk_narrow(y, 0, 1, 3), 0));
    return y;
}

static wk_tensor *kept_result(wk_tensor *const in[], void *context)
{
    (void)context;
    wk_tensor *out[2];
    if (wk_apply_n(&odd, NULL, (in[0]), out) != WK_OK) return NULL;
    wk_tanh_(out[1]); /* the second result of its call, and the first of the next */
    return wk_mul(out[1], wk_narrow(out[0], 1, 0, 2));
}

static wk_tensor *overlapping(wk_tensor *const in[], void *context)
{
    (void)context;
    wk_tensor *y = wk_mul(in[0], 0.5), *windows = wk_unfold(y, 0, 2, 1),
              *all = wk_expand(wk_unfold(y, 0, 3, 1), (2, 2, 3));
    wk_square_(y); /* the windows are updated: they overlap with unequal steps */
    return wk_mul(wk_sum(wk_sin(windows)), all);
}

typedef wk_tensor *function(wk_tensor *const in[], void *context);

static wk_tensor *first_order(wk_tensor *const in[], void *context)
{
    WK_ENABLE_GRAD;
    wk_tensor *x = wk_requires_grad(in[0]) ? in[0] : wk_requires_grad_(wk_clone(in[0]), true), *grads[1];
    wk_tensor *loss = wk_sum(wk_square((*(function **)context)(&x, NULL)));
    return wk_grad((loss), (x), grads, .create_graph = true) == WK_OK ? grads[0] : NULL;
}

static void gradients_of_gradients(void **state)
{
    (void)state;
    function *const all[] = {through_a_view, kept_result, overlapping};
    for (int k = 0; k < 3; k++) {
        WK_SCOPE;
        wk_tensor *x = wk_requires_grad_(wk_of(double, (4), 0.7, 1.2, 0.4, 0.9), true);
        function *f = all[k];
        wk_gradcheck(f, NULL, (x));
        expect_ok();
        wk_gradcheck(first_order, &f, (x));
        expect_ok();
    }
}

/* ---- parts used together ----------------------------------------------------------------------------------------- */

/* A matrix, rows or columns of it, and elements of those, each with a weight. */
static wk_tensor *parts_together(wk_tensor *const in[], void *context)
{
    const int way = *(int *)context, d = way % 2, first = way / 2 % 3, element = way / 6 % 3;
    wk_tensor *x = way / 18 % 2 ? wk_mul(in[0], 2) : in[0], *a = wk_narrow(x, d, first, 3 - first);
    wk_tensor *line = wk_select(a, 1 - d, element), *s = wk_select(line, 0, -1), *one = wk_narrow(line, 0, 0, 1);
    wk_tensor *sum = wk_add(wk_sum(wk_mul(a, 0.3)), wk_mul(s, 0.7));
    if (way / 36 % 2) sum = wk_add(sum, wk_sum(wk_square(x)));
    if (way / 72 % 2) sum = wk_add(sum, wk_mul(wk_sum(line), wk_sum(one)));
    return sum;
}

static void parts_are_used_together(void **state)
{
    (void)state;
    for (int way = 0; way < 144; way++) {
        WK_SCOPE;
        wk_tensor *x = wk_requires_grad_(wk_of(double, (3, 3), 1, 2, 3, 4, 5, 6, 7, 8, 9), true);
        wk_gradcheck(parts_together, &way, (x));
        expect_ok();
    }
    WK_SCOPE;
    wk_tensor *x = wk_requires_grad_(wk_of(float, (2), 3, 5), true);
    EXPECT_GRADIENT(wk_add(wk_sum(wk_mul(x, x)), wk_mul(wk_select(x, 0, 1), 10)), x, 6, 20);
}

/* Targets that floats are copied to. */
static void masks_and_indices_have_no_gradient(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_of(float, (2), 0, 1, .requires_grad = true), *mask = wk_zeros((2), .dtype = WK_BOOL);
    wk_tensor *index = wk_zeros((2, 2), .dtype = WK_I64);
    wk_copy_(mask, x);
    wk_copy_(wk_select(index, 0, 1), x);
    assert_false(wk_requires_grad(mask) || wk_requires_grad(index));
    wk_tensor *y = wk_masked_fill_(wk_mul(x, 3), mask, 5);
    EXPECT_VALUES(y, 0, 0, 5);
    EXPECT_VALUES(index, 0, 0, 0, 0, 1);
    wk_backward(wk_sum(y));
    EXPECT_VALUES(wk_grad_of(x), 0, 3, 0);
}

/* A write through a view without elements changes neither values nor gradients. */
static void an_empty_view_is_written(void **state)
{
    (void)state;
    for (int create = 0; create < 2; create++) {
        WK_SCOPE;
        wk_tensor *x = wk_full((), 2.0, .requires_grad = true, .dtype = WK_F64), *g[1];
        wk_tensor *y = wk_mul(wk_reshape(x, (1)), 1);
        assert_non_null(wk_mul_(wk_narrow(y, 0, 1, 0), wk_exp(x)));
        assert_int_equal(wk_grad((wk_sum(wk_mul(y, wk_mul(y, y)))), (x), g, .create_graph = create), WK_OK);
        EXPECT_VALUES(g[0], 1e-12, 12);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stale_view_is_used_twice),
        cmocka_unit_test(a_stale_view_after_a_function),
        cmocka_unit_test(operands_may_share_memory_with_the_target),
        cmocka_unit_test(in_place_with_itself),
        cmocka_unit_test(results_of_ops_can_be_written),
        cmocka_unit_test(repeated_elements_share_no_memory),
        cmocka_unit_test(views_outlive_a_base_without_history),
        cmocka_unit_test(views_outlive_a_leaf),
        cmocka_unit_test(odd_results_are_bases),
        cmocka_unit_test(gradients_share_no_memory),
        cmocka_unit_test(gradients_of_gradients),
        cmocka_unit_test(parts_are_used_together),
        cmocka_unit_test(masks_and_indices_have_no_gradient),
        cmocka_unit_test(an_empty_view_is_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
