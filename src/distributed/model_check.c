/* SPDX-License-Identifier: Apache-2.0 */
/* Compares networks as texts with one line per parameter and buffer:
 *
 *     +f32[32,8] 0.weight        + it requires grad, - it does not
 *
 *     all ranks gather     hashes of the texts; if they are equal, the check is done
 *     rank 0 broadcasts    its text, and each rank looks for the first line that differs
 *     all ranks gather     the description each has found, so that all report the same one
 *
 * Received texts are bounded in size and otherwise untrusted. */
#include "model_check.h"
#include "base/alloc.h"
#include "base/text.h"
#include <string.h>

enum { MAX_TEXT = 1 << 20 /* bytes of a text that are sent */, DIFF_TEXT = 256 };

typedef struct summary {
    uint64_t hash, bytes;
} summary;

static wk__text text_of(const wk__tensor_list *list)
{
    wk__text text = {0};
    wk__text_add(&text, "");
    for (int64_t k = 0; k < list->count; k++) {
        const wk__body *body = wk__body_of(list->item[k].tensor);
        wk__text_format(&text, "%c%s", body->requires_grad ? '+' : '-', wk_dtype_str((wk_dtype)body->dtype));
        wk__text_shape(&text, body->ndim, body->shape);
        wk__text_format(&text, " %s\n", list->item[k].name);
    }
    return text;
}

static summary summary_of(const wk__text *text)
{
    summary own = {UINT64_C(0xcbf29ce484222325), (uint64_t)text->length};
    for (uint64_t k = 0; k < own.bytes; k++)
        own.hash = (own.hash ^ (unsigned char)text->data[k]) * UINT64_C(0x100000001b3); /* FNV-1a */
    return own;
}

/* ---- collectives ------------------------------------------------------------------------------------------------- */

/* Every rank makes this call, even after an allocation failure, which then fails all of them. */
static bool run_collective(wk_site site, wk__dist_group *group, wk__dist_request request)
{
    wk__dist_ticket ticket;
    request.label = "the network";
    if (!request.in || !request.out) {
        request.code = WK_ERR_MEMORY;
        request.error_text = "ddp: out of host memory";
        wk__error_set(site, WK_ERR_MEMORY, "ddp: out of host memory");
    }
    wk__dist_submit(&ticket, group, &request);
    return wk__dist_wait(&ticket, site, "ddp") == WK_OK && request.code == WK_OK;
}

static bool gather(wk_site site, wk__dist_group *group, const void *own, void *all, size_t bytes)
{
    return run_collective(
        site, group,
        (wk__dist_request){
            .kind = WK__DIST_ALL_GATHER, .dtype = WK_U8, .count = (int64_t)bytes, .in = own, .out = all});
}

/* ---- the first difference ---------------------------------------------------------------------------------------- */

typedef struct slice {
    const char *at;
    int bytes;
} slice;

/* Cursor over a text: rest, rank of the text, current line, name in the previous line. */
typedef struct line_reader {
    const char *at, *end;
    int rank;
    char grad;
    slice what, name, last;
} line_reader;

enum { SHOWN = 80, SHAPE_SHOWN = 40 };

static int least(int a, int b)
{
    return a < b ? a : b;
}

static bool next(line_reader *l)
{
    const char *end = memchr(l->at, '\n', (size_t)(l->end - l->at));
    l->last = l->name;
    if (!end || end == l->at) return false;
    const char *space = memchr(l->at + 1, ' ', (size_t)(end - l->at) - 1);
    const char *name = space ? space + 1 : end;
    l->grad = *l->at;
    l->what = (slice){l->at + 1, (int)((space ? space : end) - l->at) - 1};
    l->name = (slice){name, (int)(end - name)};
    l->at = end + 1;
    return true;
}

static bool same(slice a, slice b)
{
    return a.bytes == b.bytes && memcmp(a.at, b.at, (size_t)a.bytes) == 0;
}

static void describe_shorter(const line_reader *shorter, const line_reader *longer, char out[DIFF_TEXT])
{
    if (shorter->last.bytes > 0)
        snprintf(out, DIFF_TEXT, "rank %d has no parameter or buffer after \"%.*s\", rank %d has \"%.*s\"",
                 shorter->rank, least(shorter->last.bytes, SHOWN), shorter->last.at, longer->rank,
                 least(longer->name.bytes, SHOWN), longer->name.at);
    else
        snprintf(out, DIFF_TEXT, "rank %d has no parameters and buffers, rank %d has \"%.*s\"", shorter->rank,
                 longer->rank, least(longer->name.bytes, SHOWN), longer->name.at);
}

/* Describes the difference in line `number`, present in both texts. Returns false if there is none. */
static bool line_differs(const line_reader *a, const line_reader *b, int number, char out[DIFF_TEXT])
{
    if (!same(a->name, b->name))
        snprintf(out, DIFF_TEXT, "parameter or buffer %d is \"%.*s\" on rank %d and \"%.*s\" on rank %d", number,
                 least(a->name.bytes, SHOWN), a->name.at, a->rank, least(b->name.bytes, SHOWN), b->name.at, b->rank);
    else if (!same(a->what, b->what))
        snprintf(out, DIFF_TEXT, "\"%.*s\" is %.*s on rank %d and %.*s on rank %d", least(a->name.bytes, SHOWN),
                 a->name.at, least(a->what.bytes, SHAPE_SHOWN), a->what.at, a->rank, least(b->what.bytes, SHAPE_SHOWN),
                 b->what.at, b->rank);
    else if (a->grad != b->grad)
        snprintf(out, DIFF_TEXT, "\"%.*s\" requires grad on rank %d but not on rank %d", least(a->name.bytes, SHOWN),
                 a->name.at, a->grad == '+' ? a->rank : b->rank, a->grad == '+' ? b->rank : a->rank);
    else
        return false;
    return true;
}

/* cut: the text of rank 0 was truncated. */
static void find_difference(line_reader *own, line_reader *first, bool cut, char out[DIFF_TEXT])
{
    for (int number = 1;; number++) {
        const bool mine = next(own), its = next(first);
        if (mine && its && line_differs(own, first, number, out)) return;
        if (mine && its) continue;
        if (its)
            describe_shorter(own, first, out);
        else if (mine && !cut)
            describe_shorter(first, own, out);
        else
            snprintf(out, DIFF_TEXT, "rank %d and rank %d differ after the first %d parameters and buffers", own->rank,
                     first->rank, number - 1);
        return;
    }
}

/* ---- the check --------------------------------------------------------------------------------------------------- */

/* Receives the text of rank 0 and describes the first difference in words; empty if there is none. */
static bool compare(wk_site site, wk__dist_group *group, const wk__text *text, const summary *all,
                    char words[DIFF_TEXT])
{
    const uint64_t most = all[0].bytes < MAX_TEXT ? all[0].bytes : MAX_TEXT;
    const size_t count = most ? (size_t)most : 1;
    char *buffer = wk__alloc_zero(1, count);
    const size_t own = (size_t)text->length;
    if (buffer && group->rank == 0) memcpy(buffer, text->data, own < count ? own : count);
    const bool fine = run_collective(
        site, group,
        (wk__dist_request){
            .kind = WK__DIST_BROADCAST, .dtype = WK_U8, .count = (int64_t)count, .in = buffer, .out = buffer});
    if (fine && memcmp(&all[group->rank], &all[0], sizeof *all) != 0) {
        line_reader mine = {.at = text->data,
                            .end = text->data + text->length,
                            .rank = wk__dist_world_rank(group, group->rank)},
                    first = {.at = buffer, .end = buffer + count, .rank = wk__dist_world_rank(group, 0)};
        find_difference(&mine, &first, all[0].bytes > MAX_TEXT, words);
    }
    wk__free(buffer);
    return fine;
}

static bool report_difference(wk_site site, wk__dist_group *group, const char words[DIFF_TEXT])
{
    char *all = wk__alloc_zero((size_t)group->size, DIFF_TEXT);
    const char *first = all;
    if (gather(site, group, words, all, DIFF_TEXT)) {
        wk__text text = {0};
        while (first < all + (size_t)(group->size - 1) * DIFF_TEXT && !*first) first += DIFF_TEXT;
        wk__text_format(&text, "ddp: networks differ: %.*s", DIFF_TEXT - 1, first);
        wk__text_escape(&text, 0);
        wk__text_add(&text, "; names, shapes, dtypes and requires_grad must be the same on all ranks");
        wk__error_set_text(site, WK_ERR_ARGUMENT, &text);
    }
    wk__free(all);
    return false;
}

bool wk__check_same_model(wk_site site, wk__dist_group *group, const wk__tensor_list *list)
{
    wk__text text = text_of(list);
    const summary own = summary_of(&text);
    summary *all = wk__alloc_zero((size_t)group->size, sizeof own);
    char words[DIFF_TEXT] = "";
    bool fine = gather(site, group, text.failed ? NULL : &own, all, sizeof own), same = true;
    for (int k = 1; k < group->size && fine; k++) same = same && memcmp(&all[k], &all[0], sizeof *all) == 0;
    if (fine && !same) fine = compare(site, group, &text, all, words) && report_difference(site, group, words);
    wk__free(all);
    wk__text_free(&text);
    return fine;
}
