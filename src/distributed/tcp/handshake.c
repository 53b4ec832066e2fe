/* SPDX-License-Identifier: Apache-2.0 */
/* Both sides of the handshake; see handshake.h. */
#include "handshake.h"
#include "hmac.h"
#include <string.h>

static const wk__wire_header proof_frame = {.kind = WK__WIRE_PROOF, .bytes = WK__WIRE_PROOF_BYTES};

static void prove(const char *secret, const char *who, const uint8_t hello[WK__HELLO_MESSAGE_BYTES],
                  const uint8_t nonce[WK__WIRE_NONCE_BYTES], uint8_t proof[WK__WIRE_PROOF_BYTES])
{
    const wk__hmac_part part[] = {{who, strlen(who)}, {hello, WK__HELLO_MESSAGE_BYTES}, {nonce, WK__WIRE_NONCE_BYTES}};
    wk__hmac(secret, part, 3, proof);
}

void wk__hello_write(const wk__hello *hello, uint8_t sent[WK__HELLO_MESSAGE_BYTES])
{
    uint8_t *body = sent + WK__WIRE_HEADER_BYTES;
    wk__wire_header_write(&(wk__wire_header){.kind = WK__WIRE_HELLO,
                                             .root = (uint32_t)hello->purpose,
                                             .rank = (uint32_t)hello->rank,
                                             .count = (uint64_t)hello->size,
                                             .bytes = WK__WIRE_HELLO_BYTES},
                          sent);
    memcpy(body, hello->nonce, WK__WIRE_NONCE_BYTES);
    wk__put_u32(body + WK__WIRE_NONCE_BYTES, hello->port);
    wk__put_host(body + WK__WIRE_NONCE_BYTES + 4, hello->host);
}

/* Parses a HELLO. Returns false if a value is out of range. */
static bool hello_read(const wk__wire_header *frame, const uint8_t *body, wk__hello *hello)
{
    const uint32_t port = wk__get_u32(body + WK__WIRE_NONCE_BYTES);
    if (frame->root >= WK__HELLO_PURPOSES || frame->count > WK__WIRE_MAX_RANKS || frame->rank >= frame->count)
        return false;
    if (port > UINT16_MAX) return false;
    *hello = (wk__hello){.purpose = (wk__hello_purpose)frame->root,
                         .rank = (int)frame->rank,
                         .size = (int)frame->count,
                         .port = (uint16_t)port};
    memcpy(hello->nonce, body, WK__WIRE_NONCE_BYTES);
    wk__get_host(body + WK__WIRE_NONCE_BYTES + 4, hello->host);
    return true;
}

bool wk__challenge_answer(const char *secret, const uint8_t hello[WK__HELLO_MESSAGE_BYTES],
                          const wk__wire_parser *challenge, uint8_t reply[WK__PROOF_MESSAGE_BYTES])
{
    uint8_t expected[WK__WIRE_PROOF_BYTES];
    const uint8_t *nonce = challenge->body;
    if (challenge->frame.kind != WK__WIRE_CHALLENGE) return false;
    prove(secret, "wick host", hello, nonce, expected);
    if (!wk__hmac_equal(expected, nonce + WK__WIRE_NONCE_BYTES)) return false;
    wk__wire_header_write(&proof_frame, reply);
    prove(secret, "wick rank", hello, nonce, reply + WK__WIRE_HEADER_BYTES);
    return true;
}

void wk__reply_text(wk__reply *reply, wk__wire_header frame, const char *text)
{
    const size_t length = strnlen(text, WK__WIRE_TEXT_MAX);
    frame.bytes = length;
    wk__wire_header_write(&frame, reply->at);
    memcpy(reply->at + WK__WIRE_HEADER_BYTES, text, length);
    reply->bytes = WK__WIRE_HEADER_BYTES + length;
}

static wk__handshake_status reject(wk__reply *reply, const char *why)
{
    wk__reply_text(reply, (wk__wire_header){.kind = WK__WIRE_REFUSED}, why);
    return WK__HANDSHAKE_REJECTED;
}

static wk__handshake_status send_challenge(wk__handshake_server *v, const char *secret, wk__reply *reply)
{
    const wk__wire_parser *in = &v->inbox;
    if (in->frame.kind != WK__WIRE_HELLO || !hello_read(&in->frame, in->body, &v->hello))
        return reject(reply, "expected a HELLO message");
    memcpy(v->hello_bytes, in->head, WK__WIRE_HEADER_BYTES);
    memcpy(v->hello_bytes + WK__WIRE_HEADER_BYTES, in->body, WK__WIRE_HELLO_BYTES);
    wk__wire_header_write(&(wk__wire_header){.kind = WK__WIRE_CHALLENGE, .bytes = WK__WIRE_CHALLENGE_BYTES}, reply->at);
    memcpy(reply->at + WK__WIRE_HEADER_BYTES, v->nonce, WK__WIRE_NONCE_BYTES);
    prove(secret, "wick host", v->hello_bytes, v->nonce, reply->at + WK__WIRE_HEADER_BYTES + WK__WIRE_NONCE_BYTES);
    reply->bytes = WK__WIRE_HEADER_BYTES + WK__WIRE_CHALLENGE_BYTES;
    v->challenged = true;
    return WK__HANDSHAKE_REPLY;
}

wk__handshake_status wk__handshake_server_feed(wk__handshake_server *v, const char *secret, const uint8_t *bytes,
                                               size_t count, size_t *took, wk__reply *reply)
{
    uint8_t proof[WK__WIRE_PROOF_BYTES];
    reply->bytes = 0;
    const wk__parse_status coming = wk__wire_parser_feed(&v->inbox, bytes, count, took);
    if (coming == WK__PARSE_INVALID) return reject(reply, v->inbox.error);
    if (coming == WK__PARSE_MORE) return WK__HANDSHAKE_MORE;
    wk__wire_parser_reset(&v->inbox);
    if (!v->challenged) return send_challenge(v, secret, reply);
    uint8_t head[WK__WIRE_HEADER_BYTES];
    wk__wire_header_write(&proof_frame, head);
    if (memcmp(head, v->inbox.head, sizeof head) != 0) return reject(reply, "expected a PROOF message");
    prove(secret, "wick rank", v->hello_bytes, v->nonce, proof);
    return wk__hmac_equal(proof, v->inbox.body) ? WK__HANDSHAKE_DONE : reject(reply, "wrong WICK_SECRET");
}
