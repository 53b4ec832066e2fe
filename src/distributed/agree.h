/* SPDX-License-Identifier: Apache-2.0 */
/* Agreement of the ranks of a group before a collective moves data: all request the same operation, and none has
 * failed.
 *
 * The statements of a set of ranks are one wk__agreement, and two sets merge into one. The merge is associative and
 * commutative, so every rank ends with the same result, whatever the order of exchanges:
 *
 *     a failure outranks a mismatch; of several failures that of the lowest rank is kept; without a failure the
 *     requests of the lowest rank of each set are compared */
#ifndef WICK_DIST_AGREE_H
#define WICK_DIST_AGREE_H

#include "transport.h"
#include "distributed/tcp/wire.h"

typedef struct wk__agreement {
    wk__wire_header request;          /* request of the lowest rank that has not failed; .rank is that rank or none */
    wk_code code;                     /* WK_OK: no failure and no mismatch so far */
    uint32_t failed_rank;             /* world rank that failed; WK__WIRE_NO_RANK: the requests differ */
    char text[WK__WIRE_TEXT_MAX + 1]; /* message of the failure, or a description of the mismatch */
} wk__agreement;

/* Initializes the agreement with this rank's own statement: its request, or the error it has pending. */
void wk__agreement_begin(wk__agreement *own, const wk__dist_call *call, int world_rank, uint32_t group);
/* Merges the statements of other ranks into own. The transport supplies host names for messages. */
void wk__agreement_merge(wk__agreement *own, const wk__agreement *other, const wk__dist_transport *transport,
                         void *world);
/* Converts to the header of an AGREE frame, followed by `bytes` of data or by the text of a failure; and back. */
wk__wire_header wk__agreement_to_header(const wk__agreement *own, uint64_t bytes);
void wk__agreement_from_header(const wk__wire_header *frame, const char *text, wk__agreement *out);
/* Returns WK_OK, or the error with which all ranks of the group fail. */
wk_code wk__agreement_result(const wk__agreement *all, const wk__dist_transport *transport, void *world,
                             wk__dist_error *fail);

/* Agreement for transports without checks_agreement, before the call itself: by an all_gather over the group, or for
 * send and recv by one frame from sender to receiver. The call is skipped if this fails. */
wk_code wk__agree_all_gather(const wk__dist_transport *transport, void *world, const wk__dist_call *call,
                             wk__dist_error *fail);
wk_code wk__agree_p2p(const wk__dist_transport *transport, void *world, const wk__dist_call *call,
                      wk__dist_error *fail);

/* Describes the request of a frame, "all_reduce of 12 f32, sum". Returns out. */
const char *wk__request_text(const wk__wire_header *frame, char *out, size_t size);

#endif
