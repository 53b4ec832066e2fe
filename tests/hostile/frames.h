/* SPDX-License-Identifier: Apache-2.0 */
/* Messages between the processes of a job as bytes, and invariants of the parser for arbitrary bytes. */
#ifndef WICK_TESTS_HOSTILE_FRAMES_H
#define WICK_TESTS_HOSTILE_FRAMES_H

#include "distributed/group.h"
#include "distributed/tcp/handshake.h"
#include <string.h>

#define FRAMES_SECRET "between us"
enum { FRAMES_MOST = WK__HELLO_MESSAGE_BYTES + WK__PROOF_MESSAGE_BYTES };

static const uint8_t frames_nonce[WK__WIRE_NONCE_BYTES] = "a host's nonce..";

/* Writes the messages of an admitted rank: HELLO, and PROOF, its answer to the challenge. Returns 0 on failure. */
static inline size_t frames_conversation(uint8_t said[FRAMES_MOST])
{
    wk__handshake_server visitor = {.challenged = false};
    const wk__hello hello = {
        .purpose = WK__HELLO_JOIN, .rank = 2, .size = 5, .port = 40123, .host = "nodeB", .nonce = "a guest's nonce"};
    wk__wire_parser challenge = {.got = 0};
    wk__reply reply;
    size_t took;
    memcpy(visitor.nonce, frames_nonce, sizeof visitor.nonce);
    wk__hello_write(&hello, said);
    if (wk__handshake_server_feed(&visitor, FRAMES_SECRET, said, WK__HELLO_MESSAGE_BYTES, &took, &reply) !=
        WK__HANDSHAKE_REPLY)
        return 0;
    if (wk__wire_parser_feed(&challenge, reply.at, reply.bytes, &took) != WK__PARSE_DONE) return 0;
    return wk__challenge_answer(FRAMES_SECRET, said, &challenge, said + WK__HELLO_MESSAGE_BYTES) ? FRAMES_MOST : 0;
}

/* Returns a valid header of each kind, with its number of payload bytes. */
static inline wk__wire_header frames_sample(int kind)
{
    static const uint64_t bytes[WK__WIRE_KINDS] = {[WK__WIRE_HELLO] = WK__WIRE_HELLO_BYTES,
                                                   [WK__WIRE_CHALLENGE] = WK__WIRE_CHALLENGE_BYTES,
                                                   [WK__WIRE_PROOF] = WK__WIRE_PROOF_BYTES,
                                                   [WK__WIRE_REFUSED] = 20,
                                                   [WK__WIRE_ABORT] = 33,
                                                   [WK__WIRE_STALLED] = 128,
                                                   [WK__WIRE_LEAVE] = 7,
                                                   [WK__WIRE_AGREE] = 40,
                                                   [WK__WIRE_SEND] = 12};
    return (wk__wire_header){.kind = (uint8_t)kind,
                             .collective = WK__DIST_ALL_REDUCE,
                             .dtype = WK_F32,
                             .reduction = WK_DIST_MAX,
                             .group = 3,
                             .root = 1,
                             .detail = 2,
                             .rank = 4,
                             .sequence = 50,
                             .count = 1000,
                             .bytes = bytes[kind]};
}

/* Parses arbitrary bytes at once and in pieces. Returns NULL or the violated invariant. *proved: whether the bytes are
 * the messages of an admitted rank, as from frames_conversation. */
static inline const char *frames_check(const uint8_t *data, size_t size, bool *proved)
{
    wk__wire_header frame;
    uint8_t again[WK__WIRE_HEADER_BYTES];
    if (size >= WK__WIRE_HEADER_BYTES && !wk__wire_header_parse(data, &frame)) {
        wk__wire_header_write(&frame, again);
        if (memcmp(again, data, sizeof again) != 0) return "a parsed header is written differently";
        if (frame.kind != WK__WIRE_SEND && frame.bytes > WK__WIRE_MAX_RANKS * WK__WIRE_ROSTER_ENTRY_BYTES)
            return "a frame is too long";
    }
    wk__wire_parser whole = {.got = 0}, split = {.got = 0};
    size_t at = 0, took = 0;
    const wk__parse_status first = wk__wire_parser_feed(&whole, data, size, &took);
    wk__parse_status then = WK__PARSE_MORE;
    const size_t piece = size ? data[size / 2] % 67 + 1 : 1;
    while (then == WK__PARSE_MORE && at < size) {
        size_t some = 0;
        then = wk__wire_parser_feed(&split, data + at, size - at < piece ? size - at : piece, &some);
        at += some;
        if (some == 0 && then == WK__PARSE_MORE) return "the parser neither consumes bytes nor ends";
    }
    if (first != then) return "bytes in pieces have another status";
    if (first == WK__PARSE_DONE &&
        (took != at || whole.got != split.got || memcmp(whole.body, split.body, whole.got - 64)))
        return "bytes in pieces are another frame";
    if (whole.got > WK__WIRE_HEADER_BYTES + WK__WIRE_TEXT_MAX) return "the parser has consumed more than its buffer";
    wk__handshake_server visitor = {.challenged = false};
    wk__handshake_status visit = WK__HANDSHAKE_MORE;
    wk__reply reply;
    memcpy(visitor.nonce, frames_nonce, sizeof visitor.nonce);
    for (at = 0; at < size && (visit == WK__HANDSHAKE_MORE || visit == WK__HANDSHAKE_REPLY); at += took) {
        visit = wk__handshake_server_feed(&visitor, FRAMES_SECRET, data + at, size - at, &took, &reply);
        if (reply.bytes > WK__REPLY_MAX_BYTES) return "a reply is too long";
        if (took == 0 && visit == WK__HANDSHAKE_MORE) return "the handshake neither consumes bytes nor ends";
    }
    *proved = visit == WK__HANDSHAKE_DONE;
    return NULL;
}

#endif
