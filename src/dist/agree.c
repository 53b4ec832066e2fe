/* SPDX-License-Identifier: Apache-2.0 */
/* Agreements; see agree.h. */
#include "agree.h"
#include "../base/alloc.h"
#include "../base/status.h"
#include <string.h>

static const char *const op_names[] = {"sum", "avg", "product", "min", "max"};

const char *wk__asked(const wk__dist_frame *f, char *out, size_t size)
{
    int n = snprintf(out, size, "%s", wk__dist_names[f->collective]);
    if (f->dtype)
        n += snprintf(out + n, size - (size_t)n, " of %llu %s", (unsigned long long)f->count, wk_dtype_str(f->dtype));
    if (f->collective == WK__DIST_ALL_REDUCE || f->collective == WK__DIST_REDUCE_SCATTER)
        n += snprintf(out + n, size - (size_t)n, ", %s", op_names[f->reduction]);
    if (f->collective == WK__DIST_ALL_REDUCE && f->root)
        snprintf(out + n, size - (size_t)n, " for wk_ddp number %u", f->root);
    if (f->collective == WK__DIST_BROADCAST) snprintf(out + n, size - (size_t)n, " from rank %u", f->root);
    return out;
}

void wk__agreement_begin(wk__agreement *own, const wk__dist_step *step, int world_rank, uint32_t group)
{
    const wk__dist_request *r = step->request;
    *own = (wk__agreement){
        .said = {.kind = WK__FRAME_AGREE, .collective = (uint8_t)r->kind, .group = group, .sequence = step->sequence},
        .code = r->code,
        .failed = r->code == WK_OK ? WK__FRAME_NOBODY : (uint32_t)world_rank};
    own->said.rank = r->code == WK_OK ? (uint32_t)world_rank : WK__FRAME_NOBODY;
    if (r->code != WK_OK) {
        snprintf(own->text, sizeof own->text, "%s", r->text ? r->text : "it is out of memory");
        return;
    }
    own->said.dtype = (uint8_t)r->dtype;
    own->said.reduction = (uint8_t)r->op;
    own->said.root = (uint32_t)(r->kind == WK__DIST_ALL_REDUCE ? r->network : r->peer);
    own->said.count = (uint64_t)r->count;
}

static bool same(const wk__dist_frame *a, const wk__dist_frame *b)
{
    return a->collective == b->collective && a->dtype == b->dtype && a->reduction == b->reduction &&
           a->root == b->root && a->count == b->count;
}

static void differ(wk__agreement *own, const wk__dist_frame *a, const wk__dist_frame *b, const wk__dist_engine *engine,
                   void *world)
{
    char first[80], second[80];
    own->code = WK_ERR_STATE;
    own->failed = WK__FRAME_NOBODY;
    const bool lists = a->collective == WK__DIST_NEW_GROUP && b->collective == WK__DIST_NEW_GROUP;
    snprintf(own->text, sizeof own->text, "the ranks differ: rank %u on %s asks for %s, rank %u on %s for %s%s",
             a->rank, engine->host(world, (int)a->rank), wk__asked(a, first, sizeof first), b->rank,
             engine->host(world, (int)b->rank), wk__asked(b, second, sizeof second),
             lists ? " of another list of ranks" : "");
}

/* A failure before a difference, and that of the lowest rank. */
static bool outweighs(const wk__agreement *a, const wk__agreement *b)
{
    return a->code != WK_OK && (b->code == WK_OK || a->failed < b->failed);
}

void wk__agreement_add(wk__agreement *own, const wk__agreement *other, const wk__dist_engine *engine, void *world)
{
    const wk__dist_frame mine = own->said, *theirs = &other->said;
    if (outweighs(other, own)) {
        own->code = other->code;
        own->failed = other->failed;
        memcpy(own->text, other->text, sizeof own->text);
    }
    if (theirs->rank == WK__FRAME_NOBODY) return;
    if (mine.rank == WK__FRAME_NOBODY || theirs->rank < mine.rank) own->said = *theirs;
    if (mine.rank == WK__FRAME_NOBODY || own->code != WK_OK || same(&mine, theirs)) return;
    if (mine.rank < theirs->rank)
        differ(own, &mine, theirs, engine, world);
    else
        differ(own, theirs, &mine, engine, world);
}

wk__dist_frame wk__agreement_frame(const wk__agreement *own, uint64_t bytes)
{
    wk__dist_frame frame = own->said;
    frame.kind = WK__FRAME_AGREE;
    frame.status = (uint32_t)own->code;
    frame.part = own->failed;
    frame.bytes = own->code == WK_OK ? bytes : strlen(own->text);
    return frame;
}

void wk__agreement_of(const wk__dist_frame *frame, const char *text, wk__agreement *out)
{
    *out = (wk__agreement){.said = *frame, .code = (wk_code)frame->status, .failed = frame->part};
    if (out->code == WK_OK) out->failed = WK__FRAME_NOBODY;
    snprintf(out->text, sizeof out->text, "%s", text);
}

wk_code wk__agreement_end(const wk__agreement *all, const wk__dist_engine *engine, void *world, wk__dist_fail *fail)
{
    if (all->code == WK_OK) return WK_OK;
    if (all->failed == WK__FRAME_NOBODY) {
        wk__dist_fail_set(fail, all->code, "%s", all->text);
        fail->broken = true;
        return all->code;
    }
    char line[24];
    snprintf(line, sizeof line, "cause=%u\n", all->failed);
    wk__status_say(line);
    return wk__dist_fail_set(fail, all->code, "rank %u on %s failed: %s", all->failed,
                             engine->host(world, (int)all->failed), all->text);
}

/* ---- around engines that do not agree by themselves -------------------------------------------------------------- */

enum { SAID = WK__FRAME_BYTES + WK__FRAME_TEXT };

static void write_said(const wk__agreement *own, uint8_t said[SAID])
{
    const wk__dist_frame frame = wk__agreement_frame(own, 0);
    memset(said, 0, SAID);
    wk__dist_frame_write(&frame, said);
    memcpy(said + WK__FRAME_BYTES, own->text, own->code == WK_OK ? 0 : frame.bytes);
}

static bool read_said(const uint8_t said[SAID], wk__agreement *out)
{
    wk__dist_frame frame;
    char text[WK__FRAME_TEXT + 1];
    if (wk__dist_frame_parse(said, &frame) || frame.bytes > WK__FRAME_TEXT) return false;
    memcpy(text, said + WK__FRAME_BYTES, frame.bytes);
    text[frame.bytes] = '\0';
    wk__agreement_of(&frame, text, out);
    return true;
}

static wk_code unreadable(wk__dist_fail *fail)
{
    fail->broken = true;
    return wk__dist_fail_set(fail, WK_ERR_INTERNAL, "another rank says what cannot be read");
}

wk_code wk__agree_by_gathering(const wk__dist_engine *engine, void *world, const wk__dist_step *step,
                               wk__dist_fail *fail)
{
    const int size = step->group->size;
    const int rank = wk__dist_world_rank(step->group, step->group->rank);
    uint8_t own_said[SAID], *all = wk__alloc((size_t)size * SAID);
    wk__agreement own, other;
    if (!all) {
        fail->broken = true; /* the others are in it, and would take this rank's next call for this one */
        return wk__dist_fail_set(fail, WK_ERR_MEMORY, "out of host memory");
    }
    wk__agreement_begin(&own, step, rank, step->group->id);
    write_said(&own, own_said);
    const wk__dist_request gather = {
        .kind = WK__DIST_ALL_GATHER, .dtype = WK_U8, .count = SAID, .in = own_said, .out = all};
    wk__dist_step by = *step;
    by.request = &gather;
    wk_code code = engine->call(world, &by, fail);
    bool leaves = false; /* somebody has failed and makes no call any more */
    for (int k = 0; k < size && code == WK_OK; k++) {
        if (!read_said(all + (size_t)k * SAID, &other)) code = unreadable(fail);
        if (code != WK_OK) break;
        leaves = leaves || (other.said.collective == WK__DIST_FINISH && other.code != WK_OK);
        wk__agreement_add(&own, &other, engine, world);
    }
    wk__free(all);
    if (code != WK_OK) return code;
    wk__agreement_end(&own, engine, world, fail);
    fail->broken = fail->broken || leaves;
    return own.code;
}

wk_code wk__agree_in_pair(const wk__dist_engine *engine, void *world, const wk__dist_step *step, wk__dist_fail *fail)
{
    const wk__dist_request *q = step->request;
    const bool sends = q->kind == WK__DIST_SEND;
    uint8_t said[SAID];
    wk__agreement own, other;
    wk__agreement_begin(&own, step, wk__dist_world_rank(step->group, step->group->rank), step->group->id);
    own.said.collective = WK__DIST_SEND;
    own.said.root = own.said.reduction = 0;
    if (sends) write_said(&own, said);
    const wk__dist_request frame = {
        .kind = q->kind, .dtype = WK_U8, .peer = q->peer, .count = SAID, .in = said, .out = said};
    wk__dist_step by = *step;
    by.request = &frame;
    const wk_code code = engine->call(world, &by, fail);
    if (code != WK_OK || sends) return code == WK_OK ? q->code : code;
    if (!read_said(said, &other)) return unreadable(fail);
    const bool misses = own.code != WK_OK && other.code == WK_OK; /* what comes, and nobody takes */
    wk__agreement_add(&own, &other, engine, world);
    wk__agreement_end(&own, engine, world, fail);
    fail->broken = fail->broken || misses;
    return own.code;
}
