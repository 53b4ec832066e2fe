/* SPDX-License-Identifier: Apache-2.0 */
/* einsum, tensordot: products of tensors with labelled dimensions, summed over labels, as calls of other ops.
 *
 * Operands are contracted from left to right. Of two operands, a label that no later operand and no result has is
 * summed; each pair is one product of matrices:
 *
 *     left   (batch labels of both, labels of the left, summed labels)
 *     right  (batch labels of both, summed labels, labels of the right)
 *     out    (batch labels of both, labels of the left, labels of the right)
 *
 * Without summed labels the matrices are multiplied by broadcasting. A label of size 1 on one side only is removed
 * there, and a label of one side only that is not needed is summed first. */
#include "ops/core/compose.h"
#include "ops/core/view_geometry.h"
#include <string.h>

enum { LETTERS = 52, LABELS = LETTERS + WK__MAX_DIMS /* those of "..." follow the letters */ };

/* A tensor and the labels of its dimensions. */
typedef struct labelled {
    wk_tensor *x; /* NULL after an error */
    int ndim;
    int8_t label[WK__MAX_DIMS];
} labelled;

static uint64_t mask_of(const labelled *a)
{
    uint64_t mask = 0;
    for (int d = 0; d < a->ndim; d++) mask |= 1ull << a->label[d];
    return mask;
}

static int64_t size_of(const labelled *a, int label)
{
    for (int d = 0; d < a->ndim && a->x; d++)
        if (a->label[d] == label) return wk__body_of(a->x)->shape[d];
    return 1;
}

/* Removes the dimensions of these labels: sums over them, or removes their size 1. */
static void remove_labels(labelled *a, uint64_t labels, bool summed)
{
    int64_t dims[WK__MAX_DIMS];
    int count = 0, left = 0;
    for (int d = 0; d < a->ndim; d++)
        if (labels >> a->label[d] & 1)
            dims[count++] = d;
        else
            a->label[left++] = a->label[d];
    a->ndim = left;
    if (!count || !a->x) return;
    const wk_reduce_options same = {.size = sizeof same, .dtype = (wk_dtype)wk__body_of(a->x)->dtype};
    a->x = summed ? wk_sum_at((wk_site){0}, a->x, dims, count, &same) : wk_squeeze_at((wk_site){0}, a->x, dims, count);
}

/* Puts the dimensions into the order of these labels, all of which a has. */
static void reorder(labelled *a, const int8_t *label)
{
    int64_t dims[WK__MAX_DIMS];
    for (int k = 0; k < a->ndim; k++)
        for (int d = 0; d < a->ndim; d++)
            if (a->label[d] == label[k]) dims[k] = d;
    memcpy(a->label, label, sizeof *label * (size_t)a->ndim);
    a->x = wk_permute_at((wk_site){0}, a->x, dims, a->ndim);
}

/* Appends the labels of a that are in the mask. */
static int append_labels(int8_t *to, int count, const labelled *a, uint64_t mask)
{
    for (int d = 0; d < a->ndim; d++)
        if (mask >> a->label[d] & 1) to[count++] = a->label[d];
    return count;
}

/* ---- contraction of two operands --------------------------------------------------------------------------------- */

/* The labels of a pair, by group. */
typedef struct groups {
    int8_t label[2 * WK__MAX_DIMS]; /* batch, left, summed, right */
    int batch, left, summed, right; /* the number of each */
} groups;

/* Returns a as (batch sizes, rows, columns). The first group of two after the batch has `first` dimensions. A batch of
 * more dimensions than matrices may have is merged. */
static wk_tensor *as_matrices(const labelled *a, const groups *g, int first)
{
    if (!a->x) return NULL;
    const wk__body *body = wk__body_of(a->x);
    int64_t shape[WK__MAX_DIMS];
    int ndim = g->batch;
    memcpy(shape, body->shape, sizeof shape);
    if (g->batch > WK__MAX_DIMS - 2) shape[0] = wk__numel(g->batch, body->shape), ndim = 1;
    shape[ndim++] = wk__numel(first, body->shape + g->batch);
    shape[ndim++] = wk__numel(body->ndim - g->batch - first, body->shape + g->batch + first);
    return wk_reshape_at((wk_site){0}, a->x, shape, ndim);
}

/* Sums over the labels that only one operand has and nothing later needs, drops dimensions of size 1 that the other
 * operand has with another size, and sorts the remaining labels into groups. */
static groups prepare_pair(labelled *l, labelled *r, uint64_t needed)
{
    uint64_t unit_left = 0, unit_right = 0;
    for (int d = 0; d < l->ndim; d++) {
        const int label = l->label[d];
        if (!(mask_of(r) >> label & 1) || size_of(l, label) == size_of(r, label)) continue;
        *(size_of(l, label) == 1 ? &unit_left : &unit_right) |= 1ull << label;
    }
    remove_labels(l, unit_left, false);
    remove_labels(r, unit_right, false);
    const uint64_t left = mask_of(l), right = mask_of(r);
    remove_labels(l, left & ~right & ~needed, true);
    remove_labels(r, right & ~left & ~needed, true);
    groups g;
    g.batch = append_labels(g.label, 0, l, left & right & needed);
    g.left = append_labels(g.label, g.batch, l, left & ~right) - g.batch;
    g.summed = append_labels(g.label, g.batch + g.left, l, left & right & ~needed) - g.batch - g.left;
    g.right = append_labels(g.label, l->ndim, r, right & ~left) - l->ndim;
    return g;
}

/* Returns the product of both operands, summed over the labels that are not needed. */
static labelled contract(const wk__op *op, wk_site site, labelled *l, labelled *r, uint64_t needed)
{
    const groups g = prepare_pair(l, r, needed);
    labelled out = {.ndim = g.batch + g.left + g.right};
    if (!l->x || !r->x) return out;
    if (out.ndim > WK__MAX_DIMS) {
        wk__error_set(site, WK_ERR_SHAPE, "%s: a product has %d dimensions; a tensor has at most %d", op->name,
                      out.ndim, WK__MAX_DIMS);
        return out;
    }
    const int kept = g.batch + g.left;
    int8_t order[2 * WK__MAX_DIMS];
    memcpy(order, g.label, sizeof order);
    reorder(l, order);
    memcpy(order + g.batch, g.label + kept, sizeof *order * (size_t)(g.summed + g.right));
    reorder(r, order);
    if (!l->x || !r->x) return out;
    int64_t shape[WK__MAX_DIMS];
    memcpy(shape, wk__body_of(l->x)->shape, sizeof *shape * (size_t)kept);
    memcpy(shape + kept, wk__body_of(r->x)->shape + g.batch + g.summed, sizeof *shape * (size_t)g.right);
    wk_tensor *a = as_matrices(l, &g, g.left), *b = as_matrices(r, &g, g.summed);
    out.x = wk_reshape_at(site, g.summed ? wk_matmul(a, b) : wk_mul(a, b), shape, out.ndim);
    memcpy(out.label, g.label, sizeof *out.label * (size_t)kept);
    memcpy(out.label + kept, g.label + kept + g.summed, sizeof *out.label * (size_t)g.right);
    return out;
}

/* Checks that all operands have one dtype, which is not bool. */
static bool check_dtypes(const wk__op *op, wk_site site, wk_tensor *const in[], int count)
{
    for (int k = 0; k < count; k++) {
        wk_tensor *const pair[2] = {in[0], in[k]};
        const bool same = wk__body_of(in[k])->dtype == wk__body_of(in[0])->dtype;
        if (same && wk__body_of(in[k])->dtype != WK_BOOL) continue;
        wk__op_error(op, site, WK_ERR_DTYPE, pair,
                     same ? "bool is not supported: $a; convert with wk_to_dtype(x, WK_F32)"
                          : "$a and $b have different dtypes; convert one with wk_to_dtype");
        return false;
    }
    return true;
}

/* ---- equations --------------------------------------------------------------------------------------------------- */

/* The labels of one operand or of the result, as written. */
typedef struct subscripts {
    int count;
    int8_t label[WK__MAX_DIMS];
    int ellipsis; /* the number of labels before "...", -1 without one */
} subscripts;

/* One call. */
typedef struct einsum_call {
    const wk__op *op;
    wk_site site;
    const char *equation;
    wk_tensor *const *x;
    int count;
    int64_t size[LABELS];
    int uses[LABELS], last[LABELS]; /* how often a label occurs, and the last operand with it */
    int ellipsis;                   /* the largest number of dimensions of "..." */
    int8_t output[LABELS];
    int outputs;
} einsum_call;

__attribute__((format(printf, 2, 3))) static bool refuse(const einsum_call *e, const char *format, ...)
{
    char problem[160];
    va_list list;
    va_start(list, format);
    vsnprintf(problem, sizeof problem, format, list);
    va_end(list);
    wk__error_set(e->site, WK_ERR_ARGUMENT, "%s: %s in \"%s\"", e->op->name, problem, e->equation);
    return false;
}

static int label_of(char c)
{
    return c >= 'A' && c <= 'Z' ? c - 'A' : c >= 'a' && c <= 'z' ? c - 'a' + 26 : -1;
}

static char letter_of(int label)
{
    return (char)(label < 26 ? 'A' + label : label < LETTERS ? 'a' + label - 26 : '.');
}

/* Refuses the character at `at`; `hint` ends the message. Bytes other than printable ASCII are shown as numbers. */
static bool refuse_character(const einsum_call *e, const char *at, const char *hint)
{
    const unsigned char byte = (unsigned char)*at;
    const bool shown = byte >= ' ' && byte < 0x7f;
    return refuse(e, shown ? "unexpected '%c' at index %d%s" : "unexpected byte 0x%02x at index %d%s", byte,
                  (int)(at - e->equation), hint);
}

/* Reads the labels up to the next comma, arrow or end. */
static bool read_subscripts(const einsum_call *e, const char **at, subscripts *s)
{
    s->count = 0;
    s->ellipsis = -1;
    for (; **at && **at != ',' && **at != '-'; ++*at) {
        const int label = label_of(**at);
        if (**at == ' ') continue;
        if (label >= 0 && s->count == WK__MAX_DIMS)
            return refuse(e, "an operand has more than %d labels", WK__MAX_DIMS);
        if (label >= 0) {
            s->label[s->count++] = (int8_t)label;
        } else if (strncmp(*at, "...", 3) == 0 && s->ellipsis < 0) {
            s->ellipsis = s->count;
            *at += 2;
        } else {
            return refuse_character(e, *at, "; labels are letters, or ... once for each operand");
        }
    }
    return true;
}

/* Writes the labels of ndim dimensions. "..." has those without a letter; they are aligned at the last. */
static void write_labels(const subscripts *s, int ndim, int8_t *label)
{
    const int extra = ndim - s->count, at = extra ? s->ellipsis : s->count;
    for (int d = 0; d < ndim; d++)
        label[d] = d < at ? s->label[d] : d < at + extra ? (int8_t)(LABELS - extra + d - at) : s->label[d - extra];
}

/* Records the sizes and uses of the labels of operand k; checks the sizes. */
static bool record_operand(einsum_call *e, int k, const subscripts *s)
{
    const wk__body *body = wk__body_of(e->x[k]);
    const int extra = body->ndim - s->count;
    int8_t label[WK__MAX_DIMS];
    if (extra < 0 || (extra > 0 && s->ellipsis < 0)) {
        wk__op_error(e->op, e->site, WK_ERR_ARGUMENT, &e->x[k], "\"%s\" has %d labels for operand %d, $a", e->equation,
                     s->count, k);
        return false;
    }
    if (s->ellipsis >= 0 && extra > e->ellipsis) e->ellipsis = extra;
    write_labels(s, body->ndim, label);
    for (int d = 0; d < body->ndim; d++) {
        const int64_t size = body->shape[d], known = e->uses[label[d]] ? e->size[label[d]] : 1;
        int before = 0; /* the dimension of the same operand with this label, or d */
        while (label[before] != label[d]) before++;
        if (size != body->shape[before] || (size != known && size != 1 && known != 1)) {
            wk__op_error(e->op, e->site, WK_ERR_SHAPE, &e->x[k],
                         "label %c of \"%s\" has size %lld in operand %d, $a, and %lld before", letter_of(label[d]),
                         e->equation, (long long)size, k,
                         (long long)(size != body->shape[before] ? body->shape[before] : known));
            return false;
        }
        e->size[label[d]] = size == 1 ? known : size;
        e->uses[label[d]]++;
        e->last[label[d]] = k;
    }
    return true;
}

/* Without an arrow, the result has the dimensions of "...", then the letters that occur once. */
static void implicit_output(einsum_call *e)
{
    for (int label = LABELS - e->ellipsis; label < LABELS; label++) e->output[e->outputs++] = (int8_t)label;
    for (int label = 0; label < LETTERS; label++)
        if (e->uses[label] == 1) e->output[e->outputs++] = (int8_t)label;
}

static bool explicit_output(einsum_call *e, const char *at)
{
    subscripts s;
    int8_t label[2 * WK__MAX_DIMS];
    if (!read_subscripts(e, &at, &s)) return false;
    if (*at) return refuse_character(e, at, ", after the result");
    e->outputs = s.count + (s.ellipsis >= 0 ? e->ellipsis : 0);
    write_labels(&s, e->outputs, label);
    for (int k = 0; k < e->outputs; k++) {
        if (label[k] < LETTERS && !e->uses[label[k]])
            return refuse(e, "no operand has label %c of the result", letter_of(label[k]));
        for (int i = 0; i < k; i++)
            if (label[i] == label[k]) return refuse(e, "the result has label %c twice", letter_of(label[k]));
    }
    memcpy(e->output, label, sizeof *label * (size_t)e->outputs);
    return true;
}

/* Reads the equation: the sizes and uses of all labels, and the result's labels. */
static bool read_equation(einsum_call *e)
{
    const char *at = e->equation;
    subscripts s;
    for (int k = 0; k < e->count; k++) {
        if (!read_subscripts(e, &at, &s) || !record_operand(e, k, &s)) return false;
        if (k + 1 == e->count) continue;
        if (*at != ',') return refuse(e, "%d operands for %d tensors", k + 1, e->count);
        at++;
    }
    if (*at == ',') return refuse(e, "more operands than the %d tensors", e->count);
    if (*at && strncmp(at, "->", 2) != 0) return refuse_character(e, at, "; the result follows ->");
    const bool arrow = *at;
    if (arrow && !explicit_output(e, at + 2)) return false;
    if (!arrow) implicit_output(e);
    if (e->outputs <= WK__MAX_DIMS) return true;
    return refuse(e, "the result has %d dimensions, more than %d,", e->outputs, WK__MAX_DIMS);
}

/* Replaces two dimensions of one label by their diagonal. */
static void take_diagonals(labelled *a)
{
    for (int i = 0; i < a->ndim; i++)
        for (int j = i + 1; j < a->ndim; j++) {
            const int8_t label = a->label[i];
            if (label != a->label[j]) continue;
            a->x = wk_diagonal_at((wk_site){0}, a->x, 0, i, j);
            for (int d = i, from = i + 1; from < a->ndim; from++)
                if (from != j) a->label[d++] = a->label[from];
            a->label[--a->ndim - 1] = label;
            i = -1;
            break;
        }
}

/* Reads the next operand. The equation was checked. */
static labelled next_operand(const einsum_call *e, int k, const char **at, bool wide)
{
    labelled a = {.x = wide ? wk__to_opmath(e->x[k]) : e->x[k]};
    subscripts s;
    read_subscripts(e, at, &s);
    ++*at;
    a.ndim = wk__body_of(e->x[k])->ndim;
    write_labels(&s, a.ndim, a.label);
    take_diagonals(&a);
    return a;
}

/* Returns the labels that the result or an operand after k has. */
static uint64_t needed_after(const einsum_call *e, int k)
{
    uint64_t needed = 0;
    for (int i = 0; i < e->outputs; i++) needed |= 1ull << e->output[i];
    for (int label = 0; label < LABELS; label++)
        if (e->uses[label] && e->last[label] > k) needed |= 1ull << label;
    return needed;
}

static wk_tensor *contract_all(const einsum_call *e)
{
    const char *at = e->equation;
    const bool wide = e->count > 1; /* several steps are rounded once, at the end */
    labelled a = next_operand(e, 0, &at, wide);
    for (int k = 1; k < e->count && a.x; k++) {
        labelled b = next_operand(e, k, &at, wide);
        a = contract(e->op, e->site, &a, &b, needed_after(e, k));
    }
    if (!a.x) return NULL;
    remove_labels(&a, ~needed_after(e, e->count), true);
    reorder(&a, e->output);
    wk_tensor *out = wk_to_dtype_at(e->site, a.x, wk__body_of(e->x[0])->dtype);
    return e->count == 1 ? wk_clone_at(e->site, out) : out; /* may be a view */
}

wk_tensor *wk_einsum_at(wk_site site, const char *equation, wk_tensor *const *x, int count)
{
    const wk__op *op = &wk__op_einsum;
    einsum_call e = {.op = op, .site = site, .equation = equation, .x = x, .count = count};
    wk__call_scope c;
    if (!wk__array_check(x, count, site, op->name, "the array of tensors")) return NULL;
    if (!equation || count < 1) {
        wk__error_set(site, WK_ERR_ARGUMENT, "%s: %s", op->name,
                      equation ? "the list of tensors is empty" : "the equation is NULL");
        return NULL;
    }
    if (!wk__inlined_begin(&c, op, site, x, count)) return NULL;
    return wk__inlined_end(&c, check_dtypes(op, site, x, count) && read_equation(&e) ? contract_all(&e) : NULL);
}

const wk__op wk__op_einsum = {WK__SIGNATURE_einsum};

/* ---- tensordot --------------------------------------------------------------------------------------------------- */

/* Labels the listed dimensions of in[k] from 0 on, the others from `others` on. */
static bool label_pairs(wk_site site, wk_tensor *const in[2], int k, const int64_t *dims, int count, int others,
                        labelled *a)
{
    uint16_t mask;
    if (count > 0 && !wk__dims_mask(&wk__op_tensordot, site, in[k], dims, count, &mask)) return false;
    a->x = in[k];
    a->ndim = wk__body_of(in[k])->ndim;
    memset(a->label, -1, sizeof a->label);
    for (int i = 0, d; i < count; i++)
        if (wk__wrap_dim(a->ndim, dims[i], &d)) a->label[d] = (int8_t)i;
    for (int d = 0; d < a->ndim && d < WK__MAX_DIMS; d++)
        if (a->label[d] < 0) a->label[d] = (int8_t)(others + d);
    return true;
}

static bool check_pair_sizes(wk_site site, wk_tensor *const in[2], const labelled pair[2], int count)
{
    for (int i = 0; i < count; i++) {
        const int64_t m = size_of(&pair[0], i), n = size_of(&pair[1], i);
        if (m == n || m == 1 || n == 1) continue;
        wk__op_error(&wk__op_tensordot, site, WK_ERR_SHAPE, in,
                     "summed dimensions of $a and $b differ: sizes %lld and %lld in pair %d", (long long)m,
                     (long long)n, i);
        return false;
    }
    return true;
}

static wk_tensor *tensordot(wk_site site, wk_tensor *const in[2], const int64_t *dims_a, const int64_t *dims_b,
                            int count)
{
    labelled pair[2];
    enum { LEFT = WK__MAX_DIMS, RIGHT = 2 * WK__MAX_DIMS };
    if (!label_pairs(site, in, 0, dims_a, count, LEFT, &pair[0]) ||
        !label_pairs(site, in, 1, dims_b, count, RIGHT, &pair[1]) || !check_pair_sizes(site, in, pair, count))
        return NULL;
    for (int k = 0; k < 2; k++) pair[k].x = wk__to_opmath(pair[k].x);
    labelled out = contract(&wk__op_tensordot, site, &pair[0], &pair[1], UINT64_MAX << WK__MAX_DIMS);
    return out.x ? wk_to_dtype_at(site, out.x, wk__body_of(in[0])->dtype) : NULL;
}

wk_tensor *wk_tensordot_at(wk_site site, wk_tensor *a, wk_tensor *b, const int64_t *dims_a, int count_a,
                           const int64_t *dims_b, int count_b)
{
    const wk__op *op = &wk__op_tensordot;
    wk_tensor *in[2] = {a, b}, *out = NULL;
    wk__call_scope c;
    if (!wk__array_check(dims_a, count_a, site, op->name, "the list of dimensions") ||
        !wk__array_check(dims_b, count_b, site, op->name, "the list of dimensions") ||
        !wk__inlined_begin(&c, op, site, in, 2))
        return NULL;
    if (count_a != count_b)
        wk__op_error(op, site, WK_ERR_ARGUMENT, in, "%d dimensions of $a, but %d of $b", count_a, count_b);
    else if (check_dtypes(op, site, in, 2))
        out = tensordot(site, in, dims_a, dims_b, count_a);
    return wk__inlined_end(&c, out);
}

const wk__op wk__op_tensordot = {WK__SIGNATURE_tensordot};
