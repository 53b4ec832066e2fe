/* SPDX-License-Identifier: Apache-2.0 */
/* Mutual authentication of two processes of a job by HMAC over a shared secret:
 *
 *     client                                          server
 *     HELLO nonce, purpose, rank, world, port   -->
 *                                               <--   CHALLENGE nonce', MAC(secret, "wick host", HELLO, nonce')
 *     PROOF MAC(secret, "wick rank", HELLO, nonce') ->
 *                                               <--   WELCOME, or REFUSED and the reason
 *
 * The secret is never sent, and nonces prevent replay. Before the client's proof the server stores only its 148-byte
 * HELLO and reveals nothing. Later traffic is neither encrypted nor authenticated, so the network must be trusted. This
 * file does no socket I/O. */
#ifndef WICK_DIST_HANDSHAKE_H
#define WICK_DIST_HANDSHAKE_H

#include "wire.h"

/* Contents of HELLO. */
typedef struct wk__hello {
    wk__hello_purpose purpose;
    int rank, size;
    uint16_t port; /* port on which the client listens */
    char host[WK__WIRE_HOST_BYTES];
    uint8_t nonce[WK__WIRE_NONCE_BYTES];
} wk__hello;
enum { WK__HELLO_MESSAGE_BYTES = WK__WIRE_HEADER_BYTES + WK__WIRE_HELLO_BYTES };
void wk__hello_write(const wk__hello *hello, uint8_t sent[WK__HELLO_MESSAGE_BYTES]);

/* Client: Verifies the CHALLENGE of the server and writes the PROOF. Returns false if the server does not know the
 * secret. */
enum { WK__PROOF_MESSAGE_BYTES = WK__WIRE_HEADER_BYTES + WK__WIRE_PROOF_BYTES };
bool wk__challenge_answer(const char *secret, const uint8_t hello[WK__HELLO_MESSAGE_BYTES],
                          const wk__wire_parser *challenge, uint8_t reply[WK__PROOF_MESSAGE_BYTES]);

/* Server side of one handshake. */
typedef struct wk__handshake_server {
    wk__wire_parser inbox;
    bool challenged;
    uint8_t nonce[WK__WIRE_NONCE_BYTES];          /* random, set by the acceptor */
    uint8_t hello_bytes[WK__HELLO_MESSAGE_BYTES]; /* raw HELLO of the client */
    wk__hello hello;                              /* parsed */
} wk__handshake_server;

typedef enum wk__handshake_status {
    WK__HANDSHAKE_MORE,    /* needs more bytes */
    WK__HANDSHAKE_REPLY,   /* send the reply and continue */
    WK__HANDSHAKE_DONE,    /* authenticated; hello is valid */
    WK__HANDSHAKE_REJECTED /* close the connection, after sending the reply if any */
} wk__handshake_status;
/* Max. size of a reply: a header and a text. */
enum { WK__REPLY_MAX_BYTES = WK__WIRE_HEADER_BYTES + WK__WIRE_TEXT_MAX };
typedef struct wk__reply {
    uint8_t at[WK__REPLY_MAX_BYTES];
    size_t bytes;
} wk__reply;
/* Consumes *took of the received bytes. */
wk__handshake_status wk__handshake_server_feed(wk__handshake_server *server, const char *secret, const uint8_t *bytes,
                                               size_t count, size_t *took, wk__reply *reply);
/* Writes a frame with a text payload: REFUSED or ABORT. */
void wk__reply_text(wk__reply *reply, wk__wire_header frame, const char *text);

#endif
