/* SPDX-License-Identifier: Apache-2.0 */
/* References of the ops in src/ops/linalg/einsum.c. */
#include "references/reference.h"
#include <string.h>

/* ---- einsum ------------------------------------------------------------------------------------------------------ */

/* The space of all labels that occur: their characters and sizes. "..." is the characters 8 to 1, from the right. */
typedef struct space {
    int count;
    char label[64];
    int64_t size[64], at[64];
} space;

static int find_label(space *s, char label)
{
    for (int k = 0; k < s->count; k++)
        if (s->label[k] == label) return k;
    s->label[s->count] = label;
    s->size[s->count] = 1;
    return s->count++;
}

/* Writes the labels of an operand of ndim dimensions (-1: of the result, with `extra` for "..."); returns where it
 * ends, and the number of labels. */
static const char *labels_of(const char *text, int ndim, int extra, char *label, int *count)
{
    const char *end = text + strcspn(text, ",-");
    int letters = 0;
    for (const char *at = text; at < end; at++) letters += *at != '.' && *at != ' ';
    if (ndim >= 0) extra = ndim - letters;
    *count = 0;
    for (; text < end; text++) {
        if (*text == '.') {
            for (int k = extra; k > 0; k--) label[(*count)++] = (char)k;
            text += 2;
        } else if (*text != ' ') {
            label[(*count)++] = *text;
        }
    }
    return end;
}

static int64_t offset_of(space *s, const char *label, int count, const int64_t *shape)
{
    int64_t at = 0;
    for (int d = 0; d < count; d++) at = at * shape[d] + (shape[d] == 1 ? 0 : s->at[find_label(s, label[d])]);
    return at;
}

/* Orders a result without an arrow: "..." first, then letters that occur once. */
static int implicit_labels(const char *equation, int extra, char *label)
{
    int count = 0;
    for (int k = extra; k > 0; k--) label[count++] = (char)k;
    for (char c = 'A'; c <= 'z'; c++) {
        const char *first = strchr(equation, c);
        if ((c <= 'Z' || c >= 'a') && first && !strchr(first + 1, c)) label[count++] = c;
    }
    return count;
}

static void einsum_reference(reference_call *r)
{
    const char *equation = r->args[0].text, *at = equation, *arrow = strstr(equation, "->");
    char label[8][16], out_label[16];
    int count[8], extra = 0, outputs;
    space s = {0};
    for (int k = 0; k < r->inputs; k++, at++) {
        at = labels_of(at, r->in[k].ndim, 0, label[k], &count[k]);
        for (int d = 0; d < count[k]; d++) {
            const int l = find_label(&s, label[k][d]);
            if (r->in[k].shape[d] != 1) s.size[l] = r->in[k].shape[d];
            if (label[k][d] <= 8 && label[k][d] > extra) extra = label[k][d];
        }
    }
    if (arrow)
        labels_of(arrow + 2, -1, extra, out_label, &outputs);
    else
        outputs = implicit_labels(equation, extra, out_label);
    int64_t shape[WK__MAX_DIMS], total = 1;
    for (int d = 0; d < outputs; d++) shape[d] = s.size[find_label(&s, out_label[d])];
    double *out = reference_out(r, 0, outputs, shape);
    for (int k = 0; k < s.count; k++) total *= s.size[k];
    for (int64_t n = 0; n < total; n++) {
        int64_t rest = n;
        double product = 1;
        for (int k = 0; k < s.count; rest /= s.size[k++]) s.at[k] = rest % s.size[k];
        for (int k = 0; k < r->inputs; k++) product *= r->in[k].data[offset_of(&s, label[k], count[k], r->in[k].shape)];
        out[offset_of(&s, out_label, outputs, shape)] += product;
    }
}

static const char *const einsum_samples[] = {"\"ij,jk->ik\", {[3,4] [4,5]}",
                                             "\"bij,bjk\", {[2,3,4] [2,4,2]}",
                                             "\"ii->i\", {[3,3]}",
                                             "\"iji\", {[3,2,3]}",
                                             "\"ij->ji\", {[2,3]}",
                                             "\"b...d,kd->b...k\", {[2,3,2,4] [5,4]}",
                                             "\"...ij->ij\", {[2,3,4]}",
                                             "\"i,j,k->jik\", {[2] [3] [4]}",
                                             "\"ij, jk , kl->il\", {[2,3] [3,2] [2,4]}",
                                             "\"ab,cb,ad->c\", {[2,3] [4,3] [2,1]}",
                                             "\"i,i->i\", {[4] [4]}",
                                             "\"i,\", {[4] []}",
                                             "\"ij,jk->ik\", {[3,1] [4,5]}",
                                             "\"aB,Bc\", {[2,3] [3,2]}",
                                             "\"bqhd,bkhd->bhqk\", {[2,3,2,4] [2,2,2,4]}",
                                             "\"ij,jk->ik\", {[0,3] [3,2]}",
                                             NULL};

const op_reference op_reference_einsum = {
    .reference = einsum_reference, .samples = einsum_samples, .low = -2, .high = 2};

/* ---- tensordot: the product over the pairs of listed dimensions -------------------------------------------------- */

static bool is_listed(const wk_value *dims, int ndim, int d, int *place)
{
    for (int k = 0; k < dims->count; k++) {
        *place = k;
        if ((dims->ints[k] < 0 ? dims->ints[k] + ndim : dims->ints[k]) == d) return true;
    }
    return false;
}

static void tensordot_reference(reference_call *r)
{
    const reference_array *in[2] = {&r->in[0], &r->in[1]};
    int64_t shape[WK__MAX_DIMS], summed[WK__MAX_DIMS], total = 1;
    int outputs = 0, place;
    for (int k = 0; k < r->args[2].count; k++) summed[k] = 1;
    for (int i = 0; i < 2; i++)
        for (int d = 0; d < in[i]->ndim; d++)
            if (!is_listed(&r->args[2 + i], in[i]->ndim, d, &place))
                shape[outputs++] = in[i]->shape[d];
            else if (in[i]->shape[d] != 1)
                summed[place] = in[i]->shape[d];
    for (int k = 0; k < r->args[2].count; k++) total *= summed[k];
    double *out = reference_out(r, 0, outputs, shape);
    for (int64_t n = 0; n < reference_numel(&r->out[0]); n++)
        for (int64_t m = 0; m < total; m++) {
            double product = 1;
            int64_t index[WK__MAX_DIMS], along[WK__MAX_DIMS], rest = n;
            for (int d = outputs; d-- > 0; rest /= shape[d]) index[d] = rest % shape[d];
            rest = m;
            for (int k = 0; k < r->args[2].count; rest /= summed[k++]) along[k] = rest % summed[k];
            for (int i = 0, next = 0; i < 2; i++) {
                int64_t at = 0;
                for (int d = 0; d < in[i]->ndim; d++) {
                    const bool listed = is_listed(&r->args[2 + i], in[i]->ndim, d, &place);
                    const int64_t here = listed ? along[place] : index[next];
                    next += !listed;
                    at = at * in[i]->shape[d] + (in[i]->shape[d] == 1 ? 0 : here);
                }
                product *= in[i]->data[at];
            }
            out[n] += product;
        }
}

static const char *const tensordot_samples[] = {
    "[3,4], [4,5], (1), (0)",     "[2,3,4], [4,3,2], (1,2), (1,0)", "[2,3], [4,2], (0), (-1)", "[3], [2], (), ()",
    "[2,3], [2,3], (0,1), (0,1)", "[2,1], [3,2], (1), (0)",         "[0,3], [3,2], (1), (0)",  NULL};

const op_reference op_reference_tensordot = {
    .reference = tensordot_reference, .samples = tensordot_samples, .low = -2, .high = 2};
