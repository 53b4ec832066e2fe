/* SPDX-License-Identifier: Apache-2.0 */
/* Wire format of the TCP transport: a header of 64 bytes, little-endian, most kinds followed by a payload.
 *
 *     0   "WICK"            16  sequence u64    40  status u32      a wk_code
 *     4   version u16       24  count u64       44  rank u32        of the world
 *     6   kind u8           32  root u32        48  bytes u64       that follow the frame
 *     7   collective u8     36  detail u32      56  0
 *     8   dtype u8, 0: none                     60  CRC-32 of bytes 0..59
 *     9   reduction u8
 *     10  0
 *     12  group u32
 *
 * docs/contributing/wire-formats.md describes the protocol. This file does no socket I/O. */
#ifndef WICK_DIST_WIRE_H
#define WICK_DIST_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    WK__WIRE_HEADER_BYTES = 64,
    WK__WIRE_VERSION = 1,
    WK__WIRE_TEXT_MAX = 640,        /* max. bytes of a text, without terminator */
    WK__WIRE_HOST_BYTES = 60,       /* host name with terminator */
    WK__WIRE_INLINE_MAX = 64 << 10, /* max. bytes of data in an AGREE frame */
    WK__WIRE_MAX_RANKS = 1024,      /* max. size of a world */
    WK__WIRE_NONCE_BYTES = 16,      /* random bytes */
    WK__WIRE_PROOF_BYTES = 32,      /* a MAC */
    WK__WIRE_HELLO_BYTES = WK__WIRE_NONCE_BYTES + 4 + WK__WIRE_HOST_BYTES, /* nonce, port u32, host */
    WK__WIRE_CHALLENGE_BYTES = WK__WIRE_NONCE_BYTES + WK__WIRE_PROOF_BYTES,
    WK__WIRE_ROSTER_ENTRY_BYTES = 20 + WK__WIRE_HOST_BYTES, /* family u8, 0, port u16, address 16, host */
};
#define WK__WIRE_NO_RANK UINT32_MAX /* in rank fields: no rank */
enum { WK__WIRE_UNFINISHED = 1 };   /* `detail` of STALLED and ABORT: the header names an unfinished call */

typedef enum wk__wire_kind {
    /* handshake; the connecting side, the client, begins */
    WK__WIRE_HELLO,     /* root: wk__hello_purpose; count: size of the world; rank; payload: WK__WIRE_HELLO_BYTES */
    WK__WIRE_CHALLENGE, /* payload: nonce, and the server's proof that it knows the secret */
    WK__WIRE_PROOF,     /* payload: the client's proof */
    WK__WIRE_REFUSED,   /* payload: text of the reason; status: its code, 0 if the client is not a rank of the job */
    WK__WIRE_WELCOME,   /* payload, if the client joins the world: the roster of addresses */
    /* control connections, between rank 0 and another rank */
    WK__WIRE_ABORT, /* payload: text of the first cause; rank: the rank whose own error it is */
    /* group, sequence, collective: an unfinished call; payload: a bit for each rank that it needs, and its description.
     * With a status: an error found since; payload: its text */
    WK__WIRE_STALLED,
    WK__WIRE_STATUS_QUERY, /* rank 0 requests the progress of a rank */
    WK__WIRE_STATUS_REPLY, /* group, sequence, collective of the last call; detail: wk__rank_phase */
    /* the sender, or if rank 0 sends it `rank`, has called wk_dist_finish; status and a text if an error is pending */
    WK__WIRE_LEAVE,
    WK__WIRE_LEAVE_ACK, /* from rank 0: all ranks have left */
    /* data connections, between two ranks of a group */
    WK__WIRE_AGREE, /* the request; payload: data, or with a status the text of an error */
    WK__WIRE_SEND,  /* the same for send */
    WK__WIRE_KINDS
} wk__wire_kind;

typedef enum wk__hello_purpose { WK__HELLO_JOIN, WK__HELLO_PEER, WK__HELLO_PURPOSES } wk__hello_purpose;
typedef enum wk__rank_phase { WK__RANK_IN_CALL, WK__RANK_IDLE, WK__RANK_FINISHING } wk__rank_phase;

typedef struct wk__wire_header {
    uint8_t kind, collective, dtype, reduction;
    uint32_t group, root, detail, status, rank;
    uint64_t sequence, count, bytes;
} wk__wire_header;

/* Parses a header. Returns NULL, or a description of the defect. On success all enumerated fields have known values and
 * `bytes` is within the limits of the kind. */
const char *wk__wire_header_parse(const uint8_t at[WK__WIRE_HEADER_BYTES], wk__wire_header *frame);
void wk__wire_header_write(const wk__wire_header *frame, uint8_t at[WK__WIRE_HEADER_BYTES]);

/* ---- incremental parser ------------------------------------------------------------------------------------------ */

/* Parser of frames with a short payload: all kinds but WELCOME and data. */
typedef struct wk__wire_parser {
    wk__wire_header frame;
    uint8_t head[WK__WIRE_HEADER_BYTES], body[WK__WIRE_TEXT_MAX];
    uint32_t got; /* bytes of header and body received */
    const char *error;
} wk__wire_parser;

typedef enum wk__parse_status { WK__PARSE_MORE, WK__PARSE_DONE, WK__PARSE_INVALID } wk__parse_status;
/* Consumes *took bytes up to the end of a frame. After WK__PARSE_INVALID, in->error describes the defect and the stream
 * is unusable. */
wk__parse_status wk__wire_parser_feed(wk__wire_parser *in, const uint8_t *bytes, size_t count, size_t *took);
/* Prepares for the next frame. */
void wk__wire_parser_reset(wk__wire_parser *in);
/* Copies the payload as a terminated string. */
void wk__wire_parser_text(const wk__wire_parser *in, char *out, size_t size);

/* ---- pieces ------------------------------------------------------------------------------------------------------ */

void wk__put_u32(uint8_t *at, uint32_t value);
uint32_t wk__get_u32(const uint8_t *at);
/* Write and read a host name field of WK__WIRE_HOST_BYTES bytes; other characters than letters, digits, "." and "-"
 * become "?". */
void wk__put_host(uint8_t *at, const char *host);
void wk__get_host(const uint8_t *at, char host[WK__WIRE_HOST_BYTES]);

#endif
