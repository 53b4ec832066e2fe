/* SPDX-License-Identifier: Apache-2.0 */
/* Handshakes; see handshake.h. */
#include "handshake.h"
#include "secret.h"
#include <string.h>

static void prove(const char *secret, const char *who, const uint8_t hello[WK__HELLO_SENT],
                  const uint8_t nonce[WK__FRAME_NONCE], uint8_t proof[WK__FRAME_PROOF])
{
    const wk__mac_part part[] = {{who, strlen(who)}, {hello, WK__HELLO_SENT}, {nonce, WK__FRAME_NONCE}};
    wk__mac(secret, part, 3, proof);
}

void wk__hello_write(const wk__hello *hello, uint8_t sent[WK__HELLO_SENT])
{
    uint8_t *body = sent + WK__FRAME_BYTES;
    wk__dist_frame_write(&(wk__dist_frame){.kind = WK__FRAME_HELLO,
                                           .root = (uint32_t)hello->errand,
                                           .rank = (uint32_t)hello->rank,
                                           .count = (uint64_t)hello->size,
                                           .bytes = WK__FRAME_HELLO_BYTES},
                         sent);
    memcpy(body, hello->nonce, WK__FRAME_NONCE);
    wk__put_u32(body + WK__FRAME_NONCE, hello->port);
    wk__put_host(body + WK__FRAME_NONCE + 4, hello->host);
}

/* False for a HELLO whose numbers nobody has. */
static bool hello_read(const wk__dist_frame *frame, const uint8_t *body, wk__hello *hello)
{
    const uint32_t port = wk__get_u32(body + WK__FRAME_NONCE);
    if (frame->root >= WK__ERRANDS || frame->count > WK__FRAME_WORLD || frame->rank >= frame->count) return false;
    if (port > UINT16_MAX) return false;
    *hello = (wk__hello){
        .errand = (wk__errand)frame->root, .rank = (int)frame->rank, .size = (int)frame->count, .port = (uint16_t)port};
    memcpy(hello->nonce, body, WK__FRAME_NONCE);
    wk__get_host(body + WK__FRAME_NONCE + 4, hello->host);
    return true;
}

bool wk__challenge_answer(const char *secret, const uint8_t hello[WK__HELLO_SENT], const wk__inbox *challenge,
                          uint8_t reply[WK__PROOF_SENT])
{
    uint8_t expected[WK__FRAME_PROOF];
    const uint8_t *nonce = challenge->body;
    if (challenge->frame.kind != WK__FRAME_CHALLENGE) return false;
    prove(secret, "wick host", hello, nonce, expected);
    if (!wk__mac_same(expected, nonce + WK__FRAME_NONCE)) return false;
    wk__dist_frame_write(&(wk__dist_frame){.kind = WK__FRAME_PROOF_OF, .bytes = WK__FRAME_PROOF}, reply);
    prove(secret, "wick rank", hello, nonce, reply + WK__FRAME_BYTES);
    return true;
}

void wk__reply_text(wk__reply *reply, wk__dist_frame frame, const char *text)
{
    const size_t length = strnlen(text, WK__FRAME_TEXT);
    frame.bytes = length;
    wk__dist_frame_write(&frame, reply->at);
    memcpy(reply->at + WK__FRAME_BYTES, text, length);
    reply->bytes = WK__FRAME_BYTES + length;
}

static wk__visit over(wk__reply *reply, const char *why)
{
    wk__reply_text(reply, (wk__dist_frame){.kind = WK__FRAME_REFUSED}, why);
    return WK__VISIT_OVER;
}

static wk__visit greeted(wk__visitor *v, const char *secret, wk__reply *reply)
{
    const wk__inbox *in = &v->inbox;
    if (in->frame.kind != WK__FRAME_HELLO || !hello_read(&in->frame, in->body, &v->hello))
        return over(reply, "a HELLO was expected");
    memcpy(v->greeting, in->head, WK__FRAME_BYTES);
    memcpy(v->greeting + WK__FRAME_BYTES, in->body, WK__FRAME_HELLO_BYTES);
    wk__dist_frame_write(&(wk__dist_frame){.kind = WK__FRAME_CHALLENGE, .bytes = WK__FRAME_CHALLENGE_BYTES}, reply->at);
    memcpy(reply->at + WK__FRAME_BYTES, v->nonce, WK__FRAME_NONCE);
    prove(secret, "wick host", v->greeting, v->nonce, reply->at + WK__FRAME_BYTES + WK__FRAME_NONCE);
    reply->bytes = WK__FRAME_BYTES + WK__FRAME_CHALLENGE_BYTES;
    v->challenged = true;
    return WK__VISIT_REPLY;
}

wk__visit wk__visitor_take(wk__visitor *v, const char *secret, const uint8_t *bytes, size_t count, size_t *took,
                           wk__reply *reply)
{
    uint8_t proof[WK__FRAME_PROOF];
    reply->bytes = 0;
    const wk__coming coming = wk__inbox_take(&v->inbox, bytes, count, took);
    if (coming == WK__GARBAGE) return over(reply, v->inbox.wrong);
    if (coming == WK__MORE) return WK__VISIT_WAITS;
    wk__inbox_next(&v->inbox);
    if (!v->challenged) return greeted(v, secret, reply);
    if (v->inbox.frame.kind != WK__FRAME_PROOF_OF) return over(reply, "a PROOF was expected");
    prove(secret, "wick rank", v->greeting, v->nonce, proof);
    return wk__mac_same(proof, v->inbox.body) ? WK__VISIT_PROVED : over(reply, "the secret is another one");
}
