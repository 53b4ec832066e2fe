/* SPDX-License-Identifier: Apache-2.0 */
/* Before numbers move, the ranks of a group agree: all ask for the same, and none has failed. What some of them say is
 * one struct, and what two such sets say together is one again, in whatever order they are put together; so it ends
 * alike in all ranks.
 *
 *     a failure counts more than a difference, of failures that of the lowest rank; without a failure, what the lowest
 *     ranks of two sets ask for is compared */
#ifndef WICK_DIST_AGREE_H
#define WICK_DIST_AGREE_H

#include "transport.h"
#include "distributed/tcp/wire.h"

typedef struct wk__agreement {
    wk__wire_header request;          /* what the lowest rank asks for that has not failed; rank: which, or nobody */
    wk_code code;                     /* WK_OK: they agree so far */
    uint32_t failed_rank;             /* who has failed; nobody: they differ */
    char text[WK__WIRE_TEXT_MAX + 1]; /* why; how they differ */
} wk__agreement;

/* What this rank says. */
void wk__agreement_begin(wk__agreement *own, const wk__dist_call *step, int world_rank, uint32_t group);
/* Adds what others say, `from` ranks of the world. `host` names ranks. */
void wk__agreement_merge(wk__agreement *own, const wk__agreement *other, const wk__dist_transport *engine, void *world);
/* The frame that says it, with `text` or data of `bytes` behind it; and back. */
wk__wire_header wk__agreement_to_header(const wk__agreement *own, uint64_t bytes);
void wk__agreement_from_header(const wk__wire_header *frame, const char *text, wk__agreement *out);
/* WK_OK, or what all ranks fail with. */
wk_code wk__agreement_result(const wk__agreement *all, const wk__dist_transport *engine, void *world,
                             wk__dist_error *fail);

/* For engines that do not agree by themselves, before the call that the step asks for: all ranks of a group by an
 * all_gather of theirs; sender and receiver by a frame. A send or a receive that has failed is not made after that. */
wk_code wk__agree_all_gather(const wk__dist_transport *engine, void *world, const wk__dist_call *step,
                             wk__dist_error *fail);
wk_code wk__agree_p2p(const wk__dist_transport *engine, void *world, const wk__dist_call *step, wk__dist_error *fail);

/* "all_reduce of 12 f32, sum": what a frame asks for. */
const char *wk__request_text(const wk__wire_header *frame, char *out, size_t size);

#endif
