/* SPDX-License-Identifier: Apache-2.0 */
/* How two processes of a job make sure of each other before they talk:
 *
 *     guest                                           host
 *     HELLO nonce, errand, rank, world, port    -->
 *                                               <--   CHALLENGE nonce', MAC(secret, "wick host", HELLO, nonce')
 *     PROOF MAC(secret, "wick rank", HELLO, nonce') ->
 *                                               <--   WELCOME, or REFUSED and why
 *
 * The secret does not travel, and no proof serves twice. Until the proof the host keeps a visitor's 148 bytes, and
 * tells nothing. What is sent later is neither hidden nor proved: the network is to be one that the job's owner trusts.
 * Nothing here touches a socket. */
#ifndef WICK_DIST_HANDSHAKE_H
#define WICK_DIST_HANDSHAKE_H

#include "wire.h"

/* What a guest says first. */
typedef struct wk__hello {
    wk__hello_purpose purpose;
    int rank, size;
    uint16_t port; /* where it can be reached itself */
    char host[WK__WIRE_HOST_BYTES];
    uint8_t nonce[WK__WIRE_NONCE_BYTES];
} wk__hello;
enum { WK__HELLO_MESSAGE_BYTES = WK__WIRE_HEADER_BYTES + WK__WIRE_HELLO_BYTES };
void wk__hello_write(const wk__hello *hello, uint8_t sent[WK__HELLO_MESSAGE_BYTES]);

/* The guest: does the host, whose CHALLENGE has come, know the secret? Then its own proof is in `reply`. */
enum { WK__PROOF_MESSAGE_BYTES = WK__WIRE_HEADER_BYTES + WK__WIRE_PROOF_BYTES };
bool wk__challenge_answer(const char *secret, const uint8_t hello[WK__HELLO_MESSAGE_BYTES],
                          const wk__wire_parser *challenge, uint8_t reply[WK__PROOF_MESSAGE_BYTES]);

/* The host's side of one visit. */
typedef struct wk__handshake_server {
    wk__wire_parser inbox;
    bool challenged;
    uint8_t nonce[WK__WIRE_NONCE_BYTES];          /* random, set by who opens the door */
    uint8_t hello_bytes[WK__HELLO_MESSAGE_BYTES]; /* its HELLO, */
    wk__hello hello;                              /* read */
} wk__handshake_server;

typedef enum wk__handshake_status {
    WK__HANDSHAKE_MORE,    /* for more bytes */
    WK__HANDSHAKE_REPLY,   /* `reply` is to be sent; the visit goes on */
    WK__HANDSHAKE_DONE,    /* it knows the secret, and is what `hello` says */
    WK__HANDSHAKE_REJECTED /* it is to go, after `reply` where that has bytes */
} wk__handshake_status;
/* The longest: a frame and a text. */
enum { WK__REPLY_MAX_BYTES = WK__WIRE_HEADER_BYTES + WK__WIRE_TEXT_MAX };
typedef struct wk__reply {
    uint8_t at[WK__REPLY_MAX_BYTES];
    size_t bytes;
} wk__reply;
/* Takes what has come, as many bytes as *took says. */
wk__handshake_status wk__handshake_server_feed(wk__handshake_server *visitor, const char *secret, const uint8_t *bytes,
                                               size_t count, size_t *took, wk__reply *reply);
/* A frame with a text behind it: REFUSED and ABORT. */
void wk__reply_text(wk__reply *reply, wk__wire_header frame, const char *text);

#endif
