/* SPDX-License-Identifier: Apache-2.0 */
/* What processes say to each other over TCP: frames of 64 bytes, little-endian, most of them with bytes behind them.
 *
 *     0   "WICK"            16  sequence u64    40  status u32      a wk_code
 *     4   version u16       24  count u64       44  rank u32        of the world
 *     6   kind u8           32  root u32        48  bytes u64       that follow the frame
 *     7   collective u8     36  part u32        56  0
 *     8   dtype u8, 0: none                     60  CRC-32 of bytes 0..59
 *     9   reduction u8
 *     10  0
 *     12  group u32
 *
 * docs/formats.md says what is sent when. Nothing here touches a socket. */
#ifndef WICK_DIST_FRAME_H
#define WICK_DIST_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    WK__FRAME_BYTES = 64,
    WK__FRAME_VERSION = 1,
    WK__FRAME_TEXT = 640,                                         /* bytes of a text, its 0 not sent */
    WK__FRAME_HOST = 60,                                          /* of a host's name, with its 0 */
    WK__FRAME_SMALL = 64 << 10,                                   /* bytes of data that travel with an agreement */
    WK__FRAME_WORLD = 1024,                                       /* ranks */
    WK__FRAME_NONCE = 16,                                         /* random bytes */
    WK__FRAME_PROOF = 32,                                         /* a MAC */
    WK__FRAME_HELLO_BYTES = WK__FRAME_NONCE + 4 + WK__FRAME_HOST, /* nonce, port u32, host */
    WK__FRAME_CHALLENGE_BYTES = WK__FRAME_NONCE + WK__FRAME_PROOF,
    WK__FRAME_ENTRY = 20 + WK__FRAME_HOST, /* of a roster: family u8, 0, port u16, address 16, host */
};
#define WK__FRAME_NOBODY UINT32_MAX /* for a rank */
enum { WK__FRAME_IS_LATE = 1 };     /* `part` of LATE and ABORT: a call was not finished, and this is which */

typedef enum wk__dist_frame_kind {
    /* at a door, one after another; who comes begins */
    WK__FRAME_HELLO,     /* root: for what (wk__errand); count: ranks of the world; rank; behind it hello's bytes */
    WK__FRAME_CHALLENGE, /* nonce, and the proof that the host knows the secret */
    WK__FRAME_PROOF_OF,  /* the proof that who comes knows it */
    WK__FRAME_REFUSED,   /* a text */
    WK__FRAME_WELCOME,   /* behind it, for who joins the world, the roster */
    /* between rank 0 and another */
    WK__FRAME_ABORT, /* a text: the first cause; rank whose fault it is */
    WK__FRAME_LATE, /* group, sequence, collective: not finished; a bit for each rank that it waits for, a text: what it
                      * is; or status, text: that has come to light meanwhile */
    WK__FRAME_WHERE, /* rank 0 asks: */
    WK__FRAME_HERE,  /* group, sequence, collective; part: of what (wk__whereabouts) */
    WK__FRAME_LEAVE, /* this rank is at wk_dist_finish; status and a text if an error is pending. From rank 0: `rank`
                      * is */
    WK__FRAME_GO,    /* all are */
    /* between two ranks of a group */
    WK__FRAME_AGREE, /* what is asked for; status and a text, or data */
    WK__FRAME_SEND,  /* the same of send: data */
    WK__FRAME_KINDS
} wk__dist_frame_kind;

typedef enum wk__errand { WK__ERRAND_JOIN, WK__ERRAND_PEER, WK__ERRANDS } wk__errand;
typedef enum wk__whereabouts { WK__AT_WORK, WK__AT_REST, WK__AT_END } wk__whereabouts;

typedef struct wk__dist_frame {
    uint8_t kind, collective, dtype, reduction;
    uint32_t group, root, part, status, rank;
    uint64_t sequence, count, bytes;
} wk__dist_frame;

/* NULL, or what is wrong with these 64 bytes, for a message. What holds then: kind, collective, dtype, reduction and
 * status are ones that there are, and `bytes` is a number that may follow a frame of that kind. */
const char *wk__dist_frame_parse(const uint8_t at[WK__FRAME_BYTES], wk__dist_frame *frame);
void wk__dist_frame_write(const wk__dist_frame *frame, uint8_t at[WK__FRAME_BYTES]);

/* ---- a frame and what follows it, from bytes as they come -------------------------------------------------------- */

/* Of the kinds with few bytes: all but the roster and data. */
typedef struct wk__inbox {
    wk__dist_frame frame;
    uint8_t head[WK__FRAME_BYTES], body[WK__FRAME_TEXT];
    uint32_t got; /* of both */
    const char *wrong;
} wk__inbox;

typedef enum wk__coming { WK__MORE, WK__WHOLE, WK__GARBAGE } wk__coming;
/* Takes bytes until a frame is whole, and says how many it took. Of WK__GARBAGE in->wrong says what is wrong, and
 * nothing more is to be taken from there. */
wk__coming wk__inbox_take(wk__inbox *in, const uint8_t *bytes, size_t count, size_t *took);
/* The frame has been read; the next one may come. */
void wk__inbox_next(wk__inbox *in);
/* What follows it as a text that ends. */
void wk__inbox_text(const wk__inbox *in, char *out, size_t size);

/* ---- pieces ------------------------------------------------------------------------------------------------------ */

void wk__put_u32(uint8_t *at, uint32_t value);
uint32_t wk__get_u32(const uint8_t *at);
/* A name of WK__FRAME_HOST bytes: what is no letter, digit, point or dash becomes a question mark. */
void wk__put_host(uint8_t *at, const char *host);
void wk__get_host(const uint8_t *at, char host[WK__FRAME_HOST]);

#endif
