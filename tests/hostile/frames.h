/* SPDX-License-Identifier: Apache-2.0 */
/* What processes of a job say to each other, as bytes, and what must hold of any others. */
#ifndef WICK_TESTS_HOSTILE_FRAMES_H
#define WICK_TESTS_HOSTILE_FRAMES_H

#include "dist/group.h"
#include "dist/handshake.h"
#include <string.h>

#define FRAMES_SECRET "between us"
enum { FRAMES_MOST = WK__HELLO_SENT + WK__PROOF_SENT };

static const uint8_t frames_nonce[WK__FRAME_NONCE] = "a host's nonce..";

/* What a rank says that is let in, HELLO and PROOF, and what it is answered between them. */
static inline size_t frames_conversation(uint8_t said[FRAMES_MOST])
{
    wk__visitor visitor = {.challenged = false};
    const wk__hello hello = {
        .errand = WK__ERRAND_JOIN, .rank = 2, .size = 5, .port = 40123, .host = "nodeB", .nonce = "a guest's nonce"};
    wk__inbox challenge = {.got = 0};
    wk__reply reply;
    size_t took;
    memcpy(visitor.nonce, frames_nonce, sizeof visitor.nonce);
    wk__hello_write(&hello, said);
    if (wk__visitor_take(&visitor, FRAMES_SECRET, said, WK__HELLO_SENT, &took, &reply) != WK__VISIT_REPLY) return 0;
    if (wk__inbox_take(&challenge, reply.at, reply.bytes, &took) != WK__WHOLE) return 0;
    return wk__challenge_answer(FRAMES_SECRET, said, &challenge, said + WK__HELLO_SENT) ? FRAMES_MOST : 0;
}

/* One frame of each kind, with as many bytes behind it as `bytes` says. */
static inline wk__dist_frame frames_sample(int kind)
{
    static const uint64_t bytes[WK__FRAME_KINDS] = {[WK__FRAME_HELLO] = WK__FRAME_HELLO_BYTES,
                                                    [WK__FRAME_CHALLENGE] = WK__FRAME_CHALLENGE_BYTES,
                                                    [WK__FRAME_PROOF_OF] = WK__FRAME_PROOF,
                                                    [WK__FRAME_REFUSED] = 20,
                                                    [WK__FRAME_ABORT] = 33,
                                                    [WK__FRAME_LATE] = 128,
                                                    [WK__FRAME_LEAVE] = 7,
                                                    [WK__FRAME_AGREE] = 40,
                                                    [WK__FRAME_SEND] = 12};
    return (wk__dist_frame){.kind = (uint8_t)kind,
                            .collective = WK__DIST_ALL_REDUCE,
                            .dtype = WK_F32,
                            .reduction = WK_DIST_MAX,
                            .group = 3,
                            .root = 1,
                            .part = 2,
                            .rank = 4,
                            .sequence = 50,
                            .count = 1000,
                            .bytes = bytes[kind]};
}

/* Bytes that come from anywhere, in pieces and all at once: NULL, or what does not hold. `proved`: how far they
 * are what a rank says that is let in, as frames_conversation has it. */
static inline const char *frames_check(const uint8_t *data, size_t size, bool *proved)
{
    wk__dist_frame frame;
    uint8_t again[WK__FRAME_BYTES];
    if (size >= WK__FRAME_BYTES && !wk__dist_frame_parse(data, &frame)) {
        wk__dist_frame_write(&frame, again);
        if (memcmp(again, data, sizeof again) != 0) return "a frame that was read is not written as it was";
        if (frame.kind != WK__FRAME_SEND && frame.bytes > WK__FRAME_WORLD * WK__FRAME_ENTRY) return "too long a frame";
    }
    wk__inbox whole = {.got = 0}, split = {.got = 0};
    size_t at = 0, took = 0;
    const wk__coming first = wk__inbox_take(&whole, data, size, &took);
    wk__coming then = WK__MORE;
    const size_t piece = size ? data[size / 2] % 67 + 1 : 1;
    while (then == WK__MORE && at < size) {
        size_t some = 0;
        then = wk__inbox_take(&split, data + at, size - at < piece ? size - at : piece, &some);
        at += some;
        if (some == 0 && then == WK__MORE) return "an inbox takes nothing and wants more";
    }
    if (first != then) return "bytes that come in pieces are read otherwise";
    if (first == WK__WHOLE && (took != at || whole.got != split.got || memcmp(whole.body, split.body, whole.got - 64)))
        return "bytes that come in pieces are another frame";
    if (whole.got > WK__FRAME_BYTES + WK__FRAME_TEXT) return "an inbox has taken more than it has room for";
    wk__visitor visitor = {.challenged = false};
    wk__visit visit = WK__VISIT_WAITS;
    wk__reply reply;
    memcpy(visitor.nonce, frames_nonce, sizeof visitor.nonce);
    for (at = 0; at < size && (visit == WK__VISIT_WAITS || visit == WK__VISIT_REPLY); at += took) {
        visit = wk__visitor_take(&visitor, FRAMES_SECRET, data + at, size - at, &took, &reply);
        if (reply.bytes > WK__REPLY_MOST) return "a reply is too long";
        if (took == 0 && visit == WK__VISIT_WAITS) return "a visitor says something, and nobody takes it";
    }
    *proved = visit == WK__VISIT_PROVED;
    return NULL;
}

#endif
