/* SPDX-License-Identifier: Apache-2.0 */
/* Tests random programs of collectives: of the world and of groups, of all dtypes, on views, between recorded calls
 * that have not run, with calls that fail in one rank, and with lists of tensors on several devices. Each rank draws
 * the same program and knows the data of all ranks, so it computes the expected results in plain C (dist_reference.h).
 *
 * WICK_TEST_SEED is the seed. A failure reports its world, program and step. */
#include "reference.h"
#include "support/devices.h"
#include "support/ranks.h"

#include <math.h>
#include <unistd.h>

enum { SLOTS = 4, GROUPS = 3, HELD = 10, STEPS = 40, DTYPES = 10, LARGEST = 40000 };
static const wk_dtype dtypes[DTYPES] = {WK_F32, WK_F64, WK_F16, WK_BF16, WK_I8, WK_U8, WK_I16, WK_I32, WK_I64, WK_BOOL};

/* A dense tensor of each rank, (rows, cols), and its contents in each rank. */
typedef struct slot {
    wk_tensor *base;
    wk_dtype dtype;
    int64_t rows, cols;
    char *bytes[RANKS_MOST];
} slot;

/* A tensor with known values that have not been read yet. */
typedef struct held {
    wk_tensor *x;
    wk_dtype dtype;
    int64_t count;
    char *want;
    char what[200];
} held;

typedef struct group {
    wk_dist_group *handle; /* NULL: the world */
    int size;
    int64_t rank[RANKS_MOST];
} group;

typedef struct program {
    rng d;
    int number, step, rank, size;
    wk_device device[3];
    int devices;
    slot slot[SLOTS];
    group group[GROUPS];
    held held[HELD];
    int nheld;
    char what[200];
} program;

/* ---- checks ------------------------------------------------------------------------------------------------------ */

static void stop(const program *p, const char *what, const char *how)
{
    const char *error = wk_error();
    snprintf(my_note()->failure, sizeof my_note()->failure, "program %d, step %d: %s: %s%s%.200s", p->number, p->step,
             what, how, error ? ": " : "", error ? error : "");
    _exit(1);
}

static void need(const program *p, bool good, const char *how)
{
    if (!good) stop(p, p->what, how);
}

/* Checks that x has these values. */
static void expect_now(const program *p, wk_tensor *x, wk_dtype dtype, int64_t count, const void *want,
                       const char *what)
{
    const size_t bytes = (size_t)count * wk_dtype_size(dtype);
    void *got = malloc(bytes + 1);
    char how[120];
    if (!x || wk_dtype_of(x) != dtype || wk_numel(x) != count) stop(p, what, "wrong dtype or number of elements");
    if (wk_read(x, got, bytes) != WK_OK) stop(p, what, "cannot be read");
    const int64_t at = plain_differs(dtype, got, want, count);
    if (at >= 0) {
        snprintf(how, sizeof how, "[%lld] is %.17g, not %.17g", (long long)at, plain_number(dtype, got, at),
                 plain_number(dtype, want, at));
        stop(p, what, how);
    }
    free(got);
}

static void expect_held(program *p)
{
    for (int k = 0; k < p->nheld; k++) {
        const held *h = &p->held[k];
        expect_now(p, h->x, h->dtype, h->count, h->want, h->what);
        free(h->want);
    }
    p->nheld = 0;
}

/* `want` is freed after the comparison, which happens now or later. */
static void expect(program *p, bool later, wk_tensor *x, wk_dtype dtype, int64_t count, char *want)
{
    need(p, x != NULL, "no result");
    if (p->nheld == HELD) expect_held(p);
    held *h = &p->held[p->nheld++];
    *h = (held){.x = x, .dtype = dtype, .count = count, .want = want};
    snprintf(h->what, sizeof h->what, "%s", p->what);
    if (!later) expect_held(p);
}

/* ---- slots and views --------------------------------------------------------------------------------------------- */

static size_t bytes_of(wk_dtype dtype, int64_t count)
{
    return (size_t)count * wk_dtype_size(dtype);
}

static wk_tensor *tensor_of(const program *p, wk_dtype dtype, const void *data, int64_t rows, int64_t cols)
{
    const int64_t shape[] = {rows, cols};
    wk_tensor *x = wk_from_at(WK_HERE, dtype, data, bytes_of(dtype, rows * cols), shape, 2);
    return wk_to(x, p->device[(rows + cols) % p->devices]);
}

static void fill(program *p, slot *s, bool whole)
{
    for (int r = 0; r < p->size; r++) {
        free(s->bytes[r]);
        s->bytes[r] = malloc(bytes_of(s->dtype, s->rows * s->cols) + 1);
        plain_draw(&p->d, s->dtype, whole, s->rows * s->cols, s->bytes[r]);
    }
    s->base = tensor_of(p, s->dtype, s->bytes[p->rank], s->rows, s->cols);
    need(p, s->base != NULL, "a new tensor");
}

static void draw_slot(program *p, slot *s)
{
    s->dtype = dtypes[rng_below(&p->d, DTYPES)];
    s->rows = rng_range(&p->d, 0, 13);
    s->cols = rng_range(&p->d, 1, 9);
    if (rng_percent(&p->d, 30)) {
        s->rows = rng_range(&p->d, 12, 40);
        s->cols = rng_range(&p->d, 100, LARGEST / (int)s->rows);
    }
    fill(p, s, rng_percent(&p->d, 30));
}

/* A view of a slot: the rows row, row + row_step, ... and such columns, as they are or transposed, or a single
 * element. */
typedef struct view {
    slot *of;
    int64_t row, rows, row_step, col, cols, col_step;
    bool whole, transposed, number;
    int64_t count;
} view;

/* Draws indices of a dimension; their number is a multiple of `multiple`. */
static void draw_places(rng *d, int64_t all, int multiple, int64_t *from, int64_t *length, int64_t *step)
{
    *step = rng_percent(d, 30) ? 2 : 1;
    const int64_t most = (all + *step - 1) / *step;
    *length = rng_percent(d, 50) ? most : rng_below(d, (int)most + 1);
    *length -= *length % multiple;
    *from = *length > 0 ? rng_below(d, (int)(all - (*length - 1) * *step)) : 0;
}

/* The size of the first dimension is a multiple of that number. */
static view draw_view(program *p, int multiple)
{
    rng *d = &p->d;
    slot *s = &p->slot[rng_below(d, SLOTS)];
    view v = {.of = s, .rows = s->rows, .cols = s->cols, .row_step = 1, .col_step = 1};
    v.whole = rng_percent(d, 35) && s->rows % multiple == 0;
    v.transposed = !v.whole && rng_percent(d, 40);
    v.number = !v.whole && multiple == 1 && s->rows > 0 && rng_percent(d, 8);
    if (!v.whole) {
        draw_places(d, s->rows, v.transposed ? 1 : multiple, &v.row, &v.rows, &v.row_step);
        draw_places(d, s->cols, v.transposed ? multiple : 1, &v.col, &v.cols, &v.col_step);
    }
    if (v.number) {
        v.row = rng_below(d, (int)s->rows);
        v.col = rng_below(d, (int)s->cols);
        v.rows = v.cols = 1;
    }
    v.count = v.rows * v.cols;
    return v;
}

static wk_tensor *places(wk_tensor *x, int dim, int64_t from, int64_t length, int64_t step)
{
    return wk_slice(x, dim, from, length > 0 ? from + (length - 1) * step + 1 : from, step);
}

static wk_tensor *tensor_at(const view *v)
{
    wk_tensor *x = v->of->base;
    if (v->whole) return x;
    if (v->number) return wk_select(wk_select(x, 0, v->row), 0, v->col);
    x = places(places(x, 0, v->row, v->rows, v->row_step), 1, v->col, v->cols, v->col_step);
    return v->transposed ? wk_transpose(x, 0, 1) : x;
}

static int64_t first_size(const view *v)
{
    return v->number ? 1 : v->transposed ? v->cols : v->rows;
}

static char *place_of(const view *v, int rank, int64_t i)
{
    const int64_t inner = v->transposed ? v->rows : v->cols, a = i / inner, b = i % inner;
    const int64_t row = v->row + (v->transposed ? b : a) * v->row_step;
    const int64_t col = v->col + (v->transposed ? a : b) * v->col_step;
    return v->of->bytes[rank] + bytes_of(v->of->dtype, row * v->of->cols + col);
}

/* Its elements in a rank, contiguous. */
static char *elements_of(const view *v, int rank)
{
    const size_t size = wk_dtype_size(v->of->dtype);
    char *out = malloc(size * (size_t)v->count + 1);
    for (int64_t i = 0; i < v->count; i++) memcpy(out + size * (size_t)i, place_of(v, rank, i), size);
    return out;
}

static void replace(const view *v, int rank, const char *numbers)
{
    const size_t size = wk_dtype_size(v->of->dtype);
    for (int64_t i = 0; i < v->count; i++) memcpy(place_of(v, rank, i), numbers + size * (size_t)i, size);
}

static void expect_slot(const program *p, const slot *s)
{
    expect_now(p, s->base, s->dtype, s->rows * s->cols, s->bytes[p->rank], p->what);
}

/* ---- groups ------------------------------------------------------------------------------------------------------ */

static bool is_in(const group *g, int rank)
{
    for (int k = 0; k < g->size; k++)
        if (g->rank[k] == rank) return true;
    return false;
}

static int rank_in(const group *g, int rank)
{
    int k = 0;
    while (g->rank[k] != rank) k++;
    return k;
}

/* group[0] is the world. */
static void draw_group(program *p, int k)
{
    group *g = &p->group[k];
    *g = (group){.size = p->size};
    for (int r = 0; r < p->size; r++) g->rank[r] = r;
    if (k == 0) return;
    for (int r = p->size - 1; r > 0; r--) {
        const int other = rng_below(&p->d, r + 1);
        const int64_t kept = g->rank[r];
        g->rank[r] = g->rank[other];
        g->rank[other] = kept;
    }
    g->size = rng_range(&p->d, 1, p->size);
    g->handle = wk_dist_new_group_at(WK_HERE, g->rank, g->size);
    need(p, g->handle != NULL, "dist_new_group");
    need(p, wk_dist_group_size(g->handle) == g->size, "dist_group_size");
    need(p, wk_dist_group_rank(g->handle) == (is_in(g, p->rank) ? rank_in(g, p->rank) : -1), "dist_group_rank");
}

static void say(program *p, const char *call, const view *v, const group *g, int which)
{
    int n = snprintf(p->what, sizeof p->what, "%s %d", call, which);
    if (v)
        n += snprintf(p->what + n, sizeof p->what - (size_t)n, ", %s (%lld, %lld) of (%lld, %lld)%s%s",
                      wk_dtype_str(v->of->dtype), (long long)v->rows, (long long)v->cols, (long long)v->of->rows,
                      (long long)v->of->cols, v->transposed ? " transposed" : "", v->number ? " as a number" : "");
    for (int k = 0; g && k < g->size; k++)
        n += snprintf(p->what + n, sizeof p->what - (size_t)n, "%s%d", k ? "," : ", ranks ", (int)g->rank[k]);
}

/* ---- recorded calls ---------------------------------------------------------------------------------------------- */

/* x + y, in dtype. */
static char *sum_of_two(wk_dtype dtype, const char *x, const char *y, int64_t count)
{
    const void *two[] = {x, y};
    char *out = malloc(bytes_of(dtype, count) + 1);
    plain_reduce(dtype, WK_DIST_SUM, PLAIN_LIST, 2, two, count, out);
    return out;
}

/* A pending result whose operands are overwritten. */
static void record_sum(program *p)
{
    const view v = draw_view(p, 1);
    say(p, "a sum", &v, NULL, 0);
    char *x = elements_of(&v, p->rank);
    wk_tensor *at = tensor_at(&v);
    expect(p, true, wk_add(at, at), v.of->dtype, v.count, sum_of_two(v.of->dtype, x, x, v.count));
    free(x);
}

/* In-place calls before pending in-place calls. */
static void record_in_place(program *p)
{
    const view v = draw_view(p, 1);
    say(p, "add_", &v, NULL, 0);
    for (int r = 0; r < p->size; r++) {
        char *x = elements_of(&v, r), *sum = sum_of_two(v.of->dtype, x, x, v.count);
        replace(&v, r, sum);
        free(x);
        free(sum);
    }
    wk_tensor *at = tensor_at(&v);
    need(p, wk_add_(at, at) == at, "add_");
}

/* ---- collectives ------------------------------------------------------------------------------------------------- */

typedef enum call { ALL_REDUCE, BROADCAST, ALL_GATHER, REDUCE_SCATTER, ALL_TO_ALL, CALLS } call;
static const char *const call_names[CALLS] = {"all_reduce_", "broadcast_", "all_gather", "reduce_scatter",
                                              "all_to_all"};

static wk_dist_op draw_op(program *p, wk_dtype dtype)
{
    const wk_dist_op op = (wk_dist_op)rng_below(&p->d, 5);
    return op == WK_DIST_AVG && dtype > WK_BF16 ? WK_DIST_SUM : op;
}

/* Returns the result of rank k of the group; `in` has the operands of all. */
static char *result_of(call c, const view *v, const group *g, int k, wk_dist_op op, char *const *in)
{
    const wk_dtype dtype = v->of->dtype;
    const size_t part = bytes_of(dtype, v->count / g->size), all = bytes_of(dtype, v->count);
    char *out = malloc((c == ALL_GATHER ? all * (size_t)g->size : all) + 1);
    const plain_order order = c == REDUCE_SCATTER ? PLAIN_RING : plain_order_of(dtype, g->size, v->count);
    if (c == ALL_REDUCE || c == REDUCE_SCATTER)
        plain_reduce(dtype, op, order, g->size, (const void *const *)in, v->count, out);
    if (c == REDUCE_SCATTER) memmove(out, out + part * (size_t)k, part);
    for (int from = 0; from < g->size; from++) {
        if (c == ALL_GATHER) memcpy(out + all * (size_t)from, in[from], all);
        if (c == ALL_TO_ALL) memcpy(out + part * (size_t)from, in[from] + part * (size_t)k, part);
    }
    return out;
}

static wk_tensor *call_on(call c, wk_tensor *x, const group *g, wk_dist_op op, int src)
{
    switch (c) {
    case ALL_REDUCE: return wk_dist_all_reduce_(x, .group = g->handle, .op = op);
    case BROADCAST: return wk_dist_broadcast_(x, src, .group = g->handle);
    case ALL_GATHER: return wk_dist_all_gather(x, .group = g->handle);
    case REDUCE_SCATTER: return wk_dist_reduce_scatter(x, .group = g->handle, .op = op);
    default: return wk_dist_all_to_all(x, .group = g->handle);
    }
}

/* MPI has other orders: there the values are such that the order does not matter. */
static void make_exact(program *p, const view *v, const group *g, wk_dist_op op)
{
    if (!ranks_are_mpi() || g->size < 3 || v->of->dtype > WK_BF16 || op >= WK_DIST_MIN) return;
    fill(p, v->of, true);
}

/* In place: afterwards all ranks of the group have the same values. */
static void in_place(program *p, call c, const view *v, const group *g, wk_dist_op op, int root, char *const *in)
{
    char *out = c == BROADCAST ? NULL : result_of(c, v, g, 0, op, in);
    for (int k = 0; k < g->size; k++) replace(v, (int)g->rank[k], out ? out : in[root]);
    free(out);
    if (is_in(g, p->rank)) {
        wk_tensor *x = tensor_at(v);
        need(p, call_on(c, x, g, op, (int)g->rank[root]) == x, "returned another tensor");
    }
}

/* New results: compared now, or later through a recorded call that doubles them. */
static void out_of_place(program *p, call c, const view *v, const group *g, wk_dist_op op, char *const *in)
{
    const bool later = rng_percent(&p->d, 50);
    if (!is_in(g, p->rank)) return;
    const int k = rank_in(g, p->rank);
    const int64_t times = c == ALL_GATHER ? g->size : 1, parts = c == REDUCE_SCATTER ? g->size : 1;
    const int64_t count = v->count * times / parts;
    wk_tensor *x = call_on(c, tensor_at(v), g, op, 0);
    char *want = result_of(c, v, g, k, op, in);
    need(p, x != NULL, "no result");
    need(p, wk_size(x, 0) == first_size(v) * times / parts, "wrong first dimension");
    if (later) {
        char *sum = sum_of_two(v->of->dtype, want, want, count);
        free(want);
        expect(p, true, wk_add(x, x), v->of->dtype, count, sum);
    } else {
        expect(p, false, x, v->of->dtype, count, want);
    }
}

static void collective(program *p)
{
    const group *g = &p->group[rng_below(&p->d, GROUPS)];
    const call c = (call)rng_below(&p->d, CALLS);
    const view v = draw_view(p, c == REDUCE_SCATTER || c == ALL_TO_ALL ? g->size : 1);
    const wk_dist_op op = draw_op(p, v.of->dtype);
    const int root = rng_below(&p->d, g->size);
    char *in[RANKS_MOST];
    say(p, call_names[c], &v, g, c == BROADCAST ? root : (int)op);
    if (c == ALL_REDUCE || c == REDUCE_SCATTER) make_exact(p, &v, g, op);
    for (int k = 0; k < g->size; k++) in[k] = elements_of(&v, (int)g->rank[k]);
    if (c == ALL_REDUCE || c == BROADCAST)
        in_place(p, c, &v, g, op, root, in);
    else
        out_of_place(p, c, &v, g, op, in);
    for (int k = 0; k < g->size; k++) free(in[k]);
}

/* Sends two tensors from one rank to another, in order. */
static void send(program *p)
{
    const group *g = &p->group[rng_below(&p->d, GROUPS)];
    const int from = rng_below(&p->d, g->size), to = (from + 1) % g->size;
    const int sender = (int)g->rank[from], receiver = (int)g->rank[to];
    for (int k = 0; k < 2; k++) {
        const view v = draw_view(p, 1);
        say(p, "send", &v, g, from);
        if (g->size < 2) continue;
        char *numbers = elements_of(&v, sender);
        replace(&v, receiver, numbers);
        free(numbers);
        wk_tensor *x = tensor_at(&v);
        if (p->rank == sender) need(p, wk_dist_send(x, receiver, .group = g->handle) == WK_OK, "dist_send");
        if (p->rank == receiver) need(p, wk_dist_recv_(x, sender, .group = g->handle) == x, "dist_recv_");
    }
}

/* One rank has an error, reported at once or when its operand is computed: all fail with it, nothing is written, and
 * the world remains usable. */
static void fail_in_one(program *p)
{
    const group *g = &p->group[rng_below(&p->d, GROUPS)];
    const int who = (int)g->rank[rng_below(&p->d, g->size)];
    const bool late = rng_percent(&p->d, 50);
    const call c = rng_percent(&p->d, 50) ? ALL_REDUCE : ALL_GATHER;
    const view v = draw_view(p, 1);
    char word[40];
    say(p, late ? "a late failure" : "a failure", &v, g, who);
    if (!is_in(g, p->rank) || g->size < 2) return;
    wk_tensor *x = tensor_at(&v);
    if (p->rank == who && late)
        x = wk_index_select(wk_ones((2)), 0, wk_add(wk_of(int64_t, (1), 5), 1));
    else if (p->rank == who)
        wk_matmul(wk_ones((2, 3)), wk_ones((2, 3)));
    need(p, !call_on(c, x, g, WK_DIST_SUM, 0), "succeeded in spite of the error");
    snprintf(word, sizeof word, "rank %d on ", who);
    need(p, wk_error() && (p->rank == who || (strstr(wk_error(), word) && strstr(wk_error(), " failed: "))),
         "another error");
    need(p, strstr(wk_error(), late ? "index 6" : "matmul") != NULL, "another error");
    wk_clear_error();
}

/* The mean of a history over all ranks; its values are integers, so sums are exact in any order. */
static void mean_of_history(program *p)
{
    const group *g = &p->group[rng_below(&p->d, GROUPS)];
    const wk_device device = p->device[rng_below(&p->d, p->devices)];
    wk_history *history = wk_history_new();
    double sum = 0, weights = 0;
    snprintf(p->what, sizeof p->what, "a mean over %d ranks", g->size);
    for (int r = 0; r < p->size; r++)
        for (int k = rng_below(&p->d, 4); k > 0; k--) {
            const double figure = rng_range(&p->d, -9, 9), weight = rng_range(&p->d, 1, 5);
            if (is_in(g, r)) sum += figure * weight, weights += weight;
            if (r == p->rank) wk_history_add(history, wk_full((), figure, .device = device), .weight = weight);
        }
    if (!is_in(g, p->rank)) return;
    const double got = wk_dist_history_mean(history, .group = g->handle);
    need(p, weights > 0 ? got == sum / weights : isnan(got), "wrong value");
}

/* ---- lists of tensors on devices --------------------------------------------------------------------------------- */

enum { LIST_MOST = 4 };

static int draw_devices(program *p, wk_device devices[LIST_MOST])
{
    const int n = rng_range(&p->d, 1, LIST_MOST);
    for (int k = 0; k < n; k++) devices[k] = p->device[rng_below(&p->d, p->devices)];
    return n;
}

static void move_among_devices(program *p)
{
    wk_device devices[LIST_MOST];
    const int n = draw_devices(p, devices);
    const view v = draw_view(p, 1);
    const wk_dtype dtype = v.of->dtype;
    say(p, "scatter_to, gather_from, broadcast", &v, NULL, n);
    char *numbers = elements_of(&v, p->rank);
    wk_tensors *all = wk_devices_broadcast(tensor_at(&v), devices, n);
    for (int k = 0; k < n; k++) expect_now(p, wk_tensors_get(all, k), dtype, v.count, numbers, p->what);
    if (!v.number) {
        wk_tensors *parts = wk_devices_scatter(tensor_at(&v), devices, n);
        const int64_t samples = first_size(&v), row = samples > 0 ? v.count / samples : 0;
        const int count = samples == 0 ? 1 : samples < n ? (int)samples : n;
        int64_t at = 0;
        need(p, parts && wk_tensors_count(parts) == count, "wrong number of parts");
        for (int k = 0; k < count; k++) {
            const int64_t share = samples / count + (k < samples % count);
            expect_now(p, wk_tensors_get(parts, k), dtype, share * row, numbers + bytes_of(dtype, at * row), p->what);
            at += share;
        }
        expect_now(p, wk_devices_gather(parts, devices[n - 1]), dtype, v.count, numbers, p->what);
    }
    free(numbers);
}

/* Adds tensors of one shape, some of them transposed. */
static void sum_a_list(program *p)
{
    wk_device devices[LIST_MOST];
    const int n = draw_devices(p, devices);
    const wk_dtype dtype = dtypes[rng_below(&p->d, DTYPES)];
    const int64_t rows = rng_range(&p->d, 0, 20), cols = rng_range(&p->d, 1, 20), count = rows * cols;
    char *in[LIST_MOST];
    wk_tensor *x[LIST_MOST];
    snprintf(p->what, sizeof p->what, "all_reduce of %d %s(%lld, %lld)", n, wk_dtype_str(dtype), (long long)rows,
             (long long)cols);
    for (int k = 0; k < n; k++) {
        const bool transposed = rng_percent(&p->d, 40);
        in[k] = malloc(bytes_of(dtype, count) + 1);
        plain_draw(&p->d, dtype, false, count, in[k]);
        x[k] = wk_to(tensor_of(p, dtype, in[k], rows, cols), devices[k]);
        if (transposed) x[k] = wk_transpose(wk_contiguous(wk_transpose(x[k], 0, 1)), 0, 1);
    }
    char *sum = malloc(bytes_of(dtype, count) + 1);
    plain_reduce(dtype, WK_DIST_SUM, PLAIN_LIST, n, (const void *const *)in, count, sum);
    wk_tensors *list = wk_list_at(WK_HERE, x, n), *sums = wk_devices_all_reduce(list);
    for (int k = 0; k < n; k++) expect_now(p, wk_tensors_get(sums, k), dtype, count, sum, p->what);
    for (int k = 0; k < n; k++) expect_now(p, x[k], dtype, count, in[k], p->what);
    need(p, wk_devices_all_reduce_(list) == list, "all_reduce_ of a list");
    for (int k = 0; k < n; k++) expect_now(p, x[k], dtype, count, sum, p->what);
    for (int k = 0; k < n; k++) free(in[k]);
    free(sum);
}

/* ---- programs ---------------------------------------------------------------------------------------------------- */

static void take_step(program *p)
{
    const int what = rng_below(&p->d, 100);
    snprintf(p->what, sizeof p->what, "a tensor");
    if (what < 8)
        draw_slot(p, &p->slot[rng_below(&p->d, SLOTS)]);
    else if (what < 18)
        record_sum(p);
    else if (what < 28)
        record_in_place(p);
    else if (what < 33)
        expect_slot(p, &p->slot[rng_below(&p->d, SLOTS)]);
    else if (what < 41)
        send(p);
    else if (what < 47)
        fail_in_one(p);
    else if (what < 50)
        draw_group(p, rng_range(&p->d, 1, GROUPS - 1));
    else if (what < 55)
        move_among_devices(p);
    else if (what < 60)
        sum_a_list(p);
    else if (what < 64)
        mean_of_history(p);
    else if (what < 66)
        need(p, wk_dist_barrier() == WK_OK, "dist_barrier");
    else
        collective(p);
}

static void run_program(program *p)
{
    WK_SCOPE;
    for (int k = 0; k < GROUPS; k++) draw_group(p, k);
    for (int k = 0; k < SLOTS; k++) draw_slot(p, &p->slot[k]);
    for (p->step = 0; p->step < STEPS; p->step++) take_step(p);
    expect_held(p);
    snprintf(p->what, sizeof p->what, "a tensor at the end");
    for (int k = 0; k < SLOTS; k++) {
        expect_slot(p, &p->slot[k]);
        for (int r = 0; r < p->size; r++) free(p->slot[k].bytes[r]);
    }
    need(p, !wk_error(), "an error");
}

static void run_programs(int rank, int count, int devices)
{
    const uint64_t seed = (uint64_t)(uintptr_t)the_ranks->user;
    RANK_CHECK(wk_dist_init() == WK_OK && wk_dist_size() == the_ranks->size);
    for (int k = 0; k < count; k++) {
        program p = {.d = {.state = ((seed * 8 + (uint64_t)the_ranks->size) << 32) + (uint64_t)k},
                     .number = k,
                     .rank = rank,
                     .size = the_ranks->size,
                     .devices = devices,
                     .device = {wk_cpu()}};
        if (devices > 1) test_devices(p.device);
        run_program(&p);
    }
    RANK_CHECK(wk_dist_finish() == WK_OK && !wk_error());
}

enum { PROGRAMS = 20, GPU_PROGRAMS = 4 };

static void on_the_cpu(int rank)
{
    run_programs(rank, PROGRAMS, 1);
}

static void on_three_devices(int rank)
{
    run_programs(rank, GPU_PROGRAMS, 3);
}

static void run_in_a_world(int size, void (*body)(int rank))
{
    ranks r = {.size = size, .body = body, .user = (void *)(uintptr_t)test_seed()};
    print_message("seed %llu, world size %d\n", (unsigned long long)test_seed(), size);
    ranks_run(&r);
    ranks_free(&r);
}

static void programs_in_worlds_of_1_to_4(void **state)
{
    (void)state;
    for (int size = 1; size <= RANKS_MOST; size++) run_in_a_world(size, on_the_cpu);
}

static void programs_with_devices(void **state)
{
    (void)state;
    if (test_cpu_alone() || ranks_are_mpi()) skip();
    run_in_a_world(2, on_three_devices);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(programs_in_worlds_of_1_to_4),
        cmocka_unit_test(programs_with_devices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
