/* SPDX-License-Identifier: Apache-2.0 */
/* max_pool1d to 3d, adaptive_max_pool1d to 3d: the largest element of each window and its index in the plane.
 *
 * The pooled dimensions are reduced one after the other, the first one first, because its taps are contiguous rows.
 * Among equal elements the one with the smallest index wins, and of several NaN the one with the largest, as in
 * PyTorch, which visits windows in row-major order. Indices are computed only if they are returned or a gradient is
 * needed, in i32 where the plane allows it, because i64 fills vectors with half as many elements.
 *
 * The node has the indices as its second operand: the gradient is added to x there. */
#include "windows.h"
#include "ops/core/view_geometry.h"

/* ---- the better of two elements ---------------------------------------------------------------------------------- */

/* in: index of the best element so far, index of another, both elements -> index of the better one */
static int better_index(wk__emit *e, const int in[])
{
    int higher = wk__emit_compare(e, WK__GT, in[3], in[2]), equal = wk__emit_compare(e, WK__EQ, in[3], in[2]);
    int before = wk__emit_compare(e, WK__LT, in[1], in[0]);
    int wins = wk__emit_ins(e, WK__OR, WK_BOOL, higher, wk__emit_ins(e, WK__AND, WK_BOOL, equal, before, 0), 0);
    int nan = wk__emit_compare(e, WK__NE, in[3], in[3]), number = wk__emit_compare(e, WK__EQ, in[2], in[2]);
    int last = wk__emit_ins(e, WK__OR, WK_BOOL, number, wk__emit_compare(e, WK__GT, in[1], in[0]), 0);
    wins = wk__emit_ins(e, WK__OR, WK_BOOL, wins, wk__emit_ins(e, WK__AND, WK_BOOL, nan, last, 0), 0);
    return wk__emit_where(e, wins, in[1], in[0]);
}

/* The same if the other index is known to be larger. */
static int better_later_index(wk__emit *e, const int in[])
{
    int higher = wk__emit_compare(e, WK__GT, in[3], in[2]), nan = wk__emit_compare(e, WK__NE, in[3], in[3]);
    return wk__emit_where(e, wk__emit_ins(e, WK__OR, WK_BOOL, higher, nan, 0), in[1], in[0]);
}

enum { ELEMENTS = 1 << 2 | 1 << 3 /* operands 2 and 3, whose dtype is that of x */ };
static const wk__op better = {
    .name = "max_pool2d", .expression = better_index, .arity = 4, .own_dtype_operands = ELEMENTS};
static const wk__op better_later = {
    .name = "max_pool2d", .expression = better_later_index, .arity = 4, .own_dtype_operands = ELEMENTS};

/* ---- values ------------------------------------------------------------------------------------------------------ */

/* The largest elements of partly pooled windows, and their indices in the plane. Indices are relative to the start of
 * the window, and in dimensions that are not pooled yet to its first element. */
typedef struct best {
    wk_tensor *value, *index; /* index: NULL if not requested */
} best;

typedef struct max_call {
    wk__windows w;
    bool indexed; /* indices are requested */
    wk_dtype index_dtype;
    int64_t plane[WK__MAX_SIZES]; /* strides of the plane of x */
} max_call;

/* Returns the index of tap j along dimension k: `within`, its index in the dimensions pooled before, or NULL, and its
 * distance from the start of the window. */
static wk_tensor *tap_index(const max_call *m, wk_tensor *within, wk_tensor *x, int k, int64_t j)
{
    const wk__windows *w = &m->w;
    if (w->uneven[k]) {
        wk_tensor *at = wk_mul(wk__window_index(w, k, j, wk_device_of(x)), m->plane[k]);
        at = wk_to_dtype_at(w->site, wk__window_vector(w, at, k), m->index_dtype);
        return within ? wk_add(within, at) : at;
    }
    const int64_t step = j * w->dilation[k] * m->plane[k];
    if (within) return step ? wk_add(within, step) : within;
    const wk_tensor_options like = {.size = sizeof like, .dtype = m->index_dtype, .device = wk_device_of(x)};
    return wk_full_i64_at(w->site, (const int64_t[]){1}, 1, step, &like);
}

/* Returns the indices of the starts of `count` windows along dimension k, from window `first` on; indices of uneven
 * windows include them. */
static wk_tensor *window_starts(const max_call *m, wk_device device, int k, int64_t first, int64_t count)
{
    const wk__windows *w = &m->w;
    const wk_tensor_options like = {.size = sizeof like, .dtype = m->index_dtype, .device = device};
    const int64_t step = w->stride[k] * m->plane[k], start = (first * w->stride[k] - w->padding[k]) * m->plane[k];
    if (w->uneven[k]) return NULL;
    if (count == 1) return wk_full_i64_at(w->site, (const int64_t[]){1}, 1, start, &like);
    return wk__window_vector(w, wk_add(wk_mul(wk_arange_i64_at(w->site, count, &like), step), start), k);
}

/* Returns the indices of the starts of all windows of a run of the last dimension, or NULL if all are uneven. They are
 * computed before the elements are compared, in a small kernel, so that the kernel that finds indices can add them. */
static wk_tensor *starts_of_run(const max_call *m, wk_device device, const wk__window_run *run)
{
    const int last = m->w.dims - 1;
    wk_tensor *sum = window_starts(m, device, last, run->first, run->count);
    for (int k = last; k-- > 0;) {
        wk_tensor *starts = window_starts(m, device, k, 0, m->w.out[k]);
        sum = sum && starts ? wk_add(sum, starts) : sum ? sum : starts;
    }
    return sum;
}

/* Frees tensors that nothing else will read: a flush during the call would store them. */
static void release(const max_call *m, best b)
{
    if (b.value) wk__handle_release(&b.value->handle, m->w.site);
    if (b.index) wk__handle_release(&b.index->handle, m->w.site);
}

/* Pools one run of dimension k. */
static best pool_run(const max_call *m, best x, int k, const wk__window_run *run)
{
    const wk__windows *w = &m->w;
    best b = {NULL, NULL};
    for (int64_t j = run->tap; j < run->tap + run->taps && x.value; j++) {
        best t = {wk__window_tap(w, x.value, k, run, j), NULL};
        if (m->indexed) t.index = tap_index(m, x.index ? wk__window_tap(w, x.index, k, run, j) : NULL, x.value, k, j);
        wk_tensor *value = b.value ? wk_maximum(t.value, b.value) : t.value; /* the second of equal operands */
        if (b.value && m->indexed) {
            const wk__arg in[4] = {{.tensor = b.index}, {.tensor = t.index}, {.tensor = b.value}, {.tensor = t.value}};
            t.index = wk__elementwise(x.index ? &better : &better_later, w->site, in, 4, NULL);
        }
        t.value = value;
        release(m, b);
        b = t;
        if (!b.value || (m->indexed && !b.index)) return (best){NULL, NULL};
    }
    if (run->taps == 1 && m->indexed && !x.index) /* a number for all windows */
        b.index = wk_expand_as_at(w->site, b.index, b.value);
    return b;
}

/* Pools a run of the last dimension, and completes its indices. */
static best pool_last_run(const max_call *m, best x, const wk__window_run *run)
{
    wk_tensor *starts = m->indexed ? starts_of_run(m, wk_device_of(x.value), run) : NULL;
    best b = pool_run(m, x, m->w.dims - 1, run);
    if (b.index && starts) b.index = wk_add(b.index, starts);
    if (b.index) b.index = wk_to_dtype_at(m->w.site, b.index, WK_I64);
    return b;
}

/* Pools dimension k. */
static best pool_dim(const max_call *m, best x, int k)
{
    const int64_t dim = m->w.first + k;
    wk__parts values = {.count = 0}, indices = {.count = 0};
    wk__window_run run = {.count = 0};
    while (x.value && wk__window_run_at(&m->w, k, run.first + run.count, &run)) {
        best b = k == m->w.dims - 1 ? pool_last_run(m, x, &run) : pool_run(m, x, k, &run);
        if (!wk__parts_add(&values, m->w.site, b.value, dim)) return (best){NULL, NULL};
        if (m->indexed && !wk__parts_add(&indices, m->w.site, b.index, dim)) return (best){NULL, NULL};
    }
    return (best){wk__parts_join(&values, m->w.site, dim), wk__parts_join(&indices, m->w.site, dim)};
}

static best pool_all(max_call *m, wk_tensor *x)
{
    int64_t elements = 1;
    for (int k = m->w.dims; k-- > 0; elements *= m->w.size[k]) m->plane[k] = elements;
    m->index_dtype = elements <= INT32_MAX ? WK_I32 : WK_I64;
    best b = {x, NULL};
    if (wk__windows_empty(&m->w, x))
        return (best){wk__windows_empty_result(&m->w, x, wk_dtype_of(x)), wk__windows_empty_result(&m->w, x, WK_I64)};
    for (int k = 0; k < m->w.dims; k++) b = pool_dim(m, b, k);
    return b;
}

/* ---- calls ------------------------------------------------------------------------------------------------------- */

/* PyTorch pools one dimension as two, and a squeeze follows. */
static const char *node_name(const wk__windows *w)
{
    return w->dims == 1 ? "SqueezeBackward1" : NULL;
}

/* Begins a call: checks that x is a tensor, and decides whether indices are computed. */
static bool begin(wk__compose *c, max_call *m, const wk__op *op, wk_site site, wk_tensor *x, wk_tensor **indices)
{
    if (indices) *indices = NULL;
    if (!wk__check_input(op, site, x)) return false;
    m->indexed = indices || wk__needs_grad_fn(wk__context(), &x, 1);
    return wk__compose_begin(c, op, site, &x, 1);
}

/* Pools x and attaches the node; stores the indices in *indices if that is not NULL. */
static wk_tensor *finish(wk__compose *c, max_call *m, bool valid, wk_tensor **indices)
{
    best b = {NULL, NULL};
    wk__attr attr = {.count = 0};
    if (valid) {
        b = pool_all(m, c->in[0]);
        wk__windows_to_attr(&m->w, &attr);
        attr.grad_fn_name = node_name(&m->w);
    }
    wk_tensor *out[2] = {b.value, b.index};
    if (!m->indexed || !out[1]) return wk__compose_end(c, m->indexed ? NULL : out[0], &attr);
    c->in[1] = out[1];
    c->inputs = 2;
    const bool whole = wk__compose_end_n(c, out, 2, &attr);
    if (whole && indices) *indices = out[1];
    if (whole && !indices) wk__handle_release(&out[1]->handle, c->scope.site);
    return whole ? out[0] : NULL;
}

static wk_tensor *max_pool(const wk__op *op, wk_site site, wk_tensor *x, int dims, wk_sizes kernel,
                           const wk_max_pool_options *options)
{
    wk_max_pool_options o;
    wk__compose c;
    max_call m;
    if (!wk__options(site, op->name, options, &o)) return NULL;
    if (!begin(&c, &m, op, site, x, o.return_indices)) return NULL;
    const wk__window_sizes sizes = {kernel, o.stride, o.padding, o.dilation, o.ceil_mode};
    return finish(&c, &m, wk__windows_read(&m.w, op, site, x, dims, &sizes), o.return_indices);
}

static wk_tensor *adaptive_max_pool(const wk__op *op, wk_site site, wk_tensor *x, int dims, wk_sizes out,
                                    const wk_adaptive_max_pool_options *options)
{
    wk_adaptive_max_pool_options o;
    wk__compose c;
    max_call m;
    if (!wk__options(site, op->name, options, &o)) return NULL;
    if (!begin(&c, &m, op, site, x, o.return_indices)) return NULL;
    return finish(&c, &m, wk__windows_read_adaptive(&m.w, op, site, x, dims, out), o.return_indices);
}

wk_tensor *wk_max_pool1d_at(wk_site site, wk_tensor *x, wk_sizes kernel, const wk_max_pool_options *options)
{
    return max_pool(&wk__op_max_pool1d, site, x, 1, kernel, options);
}
wk_tensor *wk_max_pool2d_at(wk_site site, wk_tensor *x, wk_sizes kernel, const wk_max_pool_options *options)
{
    return max_pool(&wk__op_max_pool2d, site, x, 2, kernel, options);
}
wk_tensor *wk_max_pool3d_at(wk_site site, wk_tensor *x, wk_sizes kernel, const wk_max_pool_options *options)
{
    return max_pool(&wk__op_max_pool3d, site, x, 3, kernel, options);
}
wk_tensor *wk_adaptive_max_pool1d_at(wk_site site, wk_tensor *x, wk_sizes size,
                                     const wk_adaptive_max_pool_options *options)
{
    return adaptive_max_pool(&wk__op_adaptive_max_pool1d, site, x, 1, size, options);
}
wk_tensor *wk_adaptive_max_pool2d_at(wk_site site, wk_tensor *x, wk_sizes size,
                                     const wk_adaptive_max_pool_options *options)
{
    return adaptive_max_pool(&wk__op_adaptive_max_pool2d, site, x, 2, size, options);
}
wk_tensor *wk_adaptive_max_pool3d_at(wk_site site, wk_tensor *x, wk_sizes size,
                                     const wk_adaptive_max_pool_options *options)
{
    return adaptive_max_pool(&wk__op_adaptive_max_pool3d, site, x, 3, size, options);
}

/* The number of results: one more if the last argument, return_indices, is true. */
static int results(const wk__op *op, wk_site site, const wk_value *args)
{
    (void)site;
    return 1 + (wk__value_int(&args[op->parameter_count - 1], 0) != 0);
}

/* ---- gradient ---------------------------------------------------------------------------------------------------- */

static void gradient(wk__grad_ctx *g)
{
    const wk_site here = {0};
    const wk__tensor_meta *x = &g->node->shape[0];
    wk__windows w;
    wk__windows_of_attr(&w, g);
    const int64_t first = w.first;
    wk_tensor *sum = wk_flatten_at(here, wk__zeros_like_operand(g), first, -1);
    wk_tensor *index = wk_flatten_at(here, wk__saved(g, 1), first, -1);
    sum = wk_scatter_add__at(here, sum, first, index, wk_flatten_at(here, g->out[0], first, -1));
    g->in[0] = wk_reshape_at(here, sum, x->size, x->ndim);
}

const wk__op wk__op_max_pool1d = {
    .gradient = gradient,
    .saves = {WK__SAVE_1},
    .result_count = results,
    WK__SIGNATURE_max_pool1d,
};
const wk__op wk__op_max_pool2d = {
    .gradient = gradient,
    .saves = {WK__SAVE_1},
    .result_count = results,
    WK__SIGNATURE_max_pool2d,
};
const wk__op wk__op_max_pool3d = {
    .gradient = gradient,
    .saves = {WK__SAVE_1},
    .result_count = results,
    WK__SIGNATURE_max_pool3d,
};
const wk__op wk__op_adaptive_max_pool1d = {
    .gradient = gradient,
    .saves = {WK__SAVE_1},
    .result_count = results,
    WK__SIGNATURE_adaptive_max_pool1d,
};
const wk__op wk__op_adaptive_max_pool2d = {
    .gradient = gradient,
    .saves = {WK__SAVE_1},
    .result_count = results,
    WK__SIGNATURE_adaptive_max_pool2d,
};
const wk__op wk__op_adaptive_max_pool3d = {
    .gradient = gradient,
    .saves = {WK__SAVE_1},
    .result_count = results,
    WK__SIGNATURE_adaptive_max_pool3d,
};
