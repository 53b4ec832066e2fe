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

#include "frame.h"

/* What a guest says first. */
typedef struct wk__hello {
    wk__errand errand;
    int rank, size;
    uint16_t port; /* where it can be reached itself */
    char host[WK__FRAME_HOST];
    uint8_t nonce[WK__FRAME_NONCE];
} wk__hello;
enum { WK__HELLO_SENT = WK__FRAME_BYTES + WK__FRAME_HELLO_BYTES };
void wk__hello_write(const wk__hello *hello, uint8_t sent[WK__HELLO_SENT]);

/* The guest: does the host, whose CHALLENGE has come, know the secret? Then its own proof is in `reply`. */
enum { WK__PROOF_SENT = WK__FRAME_BYTES + WK__FRAME_PROOF };
bool wk__challenge_answer(const char *secret, const uint8_t hello[WK__HELLO_SENT], const wk__inbox *challenge,
                          uint8_t reply[WK__PROOF_SENT]);

/* The host's side of one visit. */
typedef struct wk__visitor {
    wk__inbox inbox;
    bool challenged;
    uint8_t nonce[WK__FRAME_NONCE];   /* random, set by who opens the door */
    uint8_t greeting[WK__HELLO_SENT]; /* its HELLO, */
    wk__hello hello;                  /* read */
} wk__visitor;

typedef enum wk__visit {
    WK__VISIT_WAITS,  /* for more bytes */
    WK__VISIT_REPLY,  /* `reply` is to be sent; the visit goes on */
    WK__VISIT_PROVED, /* it knows the secret, and is what `hello` says */
    WK__VISIT_OVER    /* it is to go, after `reply` where that has bytes */
} wk__visit;
/* The longest: a frame and a text. */
enum { WK__REPLY_MOST = WK__FRAME_BYTES + WK__FRAME_TEXT };
typedef struct wk__reply {
    uint8_t at[WK__REPLY_MOST];
    size_t bytes;
} wk__reply;
/* Takes what has come, as many bytes as *took says. */
wk__visit wk__visitor_take(wk__visitor *visitor, const char *secret, const uint8_t *bytes, size_t count, size_t *took,
                           wk__reply *reply);
/* A frame with a text behind it: REFUSED and ABORT. */
void wk__reply_text(wk__reply *reply, wk__dist_frame frame, const char *text);

#endif
