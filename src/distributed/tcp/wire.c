/* SPDX-License-Identifier: Apache-2.0 */
/* Headers and the incremental parser; see wire.h. */
#include "wire.h"
#include "distributed/group.h"
#include <ctype.h>
#include <string.h>
#include <zlib.h>

static const uint8_t magic[4] = {'W', 'I', 'C', 'K'};

/* Limits of the payload of each kind, in bytes. */
static const struct {
    uint64_t least, most;
} payload_limits[WK__WIRE_KINDS] = {
    [WK__WIRE_HELLO] = {WK__WIRE_HELLO_BYTES, WK__WIRE_HELLO_BYTES},
    [WK__WIRE_CHALLENGE] = {WK__WIRE_CHALLENGE_BYTES, WK__WIRE_CHALLENGE_BYTES},
    [WK__WIRE_PROOF] = {WK__WIRE_PROOF_BYTES, WK__WIRE_PROOF_BYTES},
    [WK__WIRE_REFUSED] = {0, WK__WIRE_TEXT_MAX},
    [WK__WIRE_WELCOME] = {0, WK__WIRE_MAX_RANKS *WK__WIRE_ROSTER_ENTRY_BYTES},
    [WK__WIRE_ABORT] = {0, WK__WIRE_TEXT_MAX},
    [WK__WIRE_STALLED] = {0, WK__WIRE_TEXT_MAX},
    [WK__WIRE_LEAVE] = {0, WK__WIRE_TEXT_MAX},
    [WK__WIRE_AGREE] = {0, WK__WIRE_INLINE_MAX},
    [WK__WIRE_SEND] = {0, INT64_MAX},
};

static uint64_t get(const uint8_t *at, int bytes)
{
    uint64_t value = 0;
    for (int k = bytes; k-- > 0;) value = value << 8 | at[k];
    return value;
}

static void put(uint8_t *at, int bytes, uint64_t value)
{
    for (int k = 0; k < bytes; k++) at[k] = (uint8_t)(value >> 8 * k);
}

void wk__put_u32(uint8_t *at, uint32_t value)
{
    put(at, 4, value);
}

uint32_t wk__get_u32(const uint8_t *at)
{
    return (uint32_t)get(at, 4);
}

static uint32_t checksum(const uint8_t *at)
{
    return (uint32_t)crc32(crc32(0, NULL, 0), at, WK__WIRE_HEADER_BYTES - 4);
}

const char *wk__wire_header_parse(const uint8_t at[WK__WIRE_HEADER_BYTES], wk__wire_header *f)
{
    if (memcmp(at, magic, sizeof magic) != 0) return "not a Wick peer";
    if (get(at + 4, 2) != WK__WIRE_VERSION) return "another version of Wick";
    if (wk__get_u32(at + 60) != checksum(at)) return "wrong checksum";
    *f = (wk__wire_header){.kind = at[6],
                           .collective = at[7],
                           .dtype = at[8],
                           .reduction = at[9],
                           .group = wk__get_u32(at + 12),
                           .sequence = get(at + 16, 8),
                           .count = get(at + 24, 8),
                           .root = wk__get_u32(at + 32),
                           .detail = wk__get_u32(at + 36),
                           .status = wk__get_u32(at + 40),
                           .rank = wk__get_u32(at + 44),
                           .bytes = get(at + 48, 8)};
    const bool known = f->kind < WK__WIRE_KINDS && f->collective < WK__DIST_KINDS && f->dtype < WK_DTYPE_COUNT &&
                       f->reduction <= WK_DIST_MAX && f->status <= WK_ERR_TIMEOUT && f->count <= INT64_MAX &&
                       (f->rank < WK__WIRE_MAX_RANKS || f->rank == WK__WIRE_NO_RANK);
    if (!known || get(at + 10, 2) != 0 || get(at + 56, 4) != 0) return "invalid header field";
    if (f->bytes < payload_limits[f->kind].least || f->bytes > payload_limits[f->kind].most)
        return "invalid message length";
    if (f->status != WK_OK && f->bytes > WK__WIRE_TEXT_MAX) return "text too long";
    return NULL;
}

void wk__wire_header_write(const wk__wire_header *f, uint8_t at[WK__WIRE_HEADER_BYTES])
{
    memset(at, 0, WK__WIRE_HEADER_BYTES);
    memcpy(at, magic, sizeof magic);
    put(at + 4, 2, WK__WIRE_VERSION);
    at[6] = f->kind;
    at[7] = f->collective;
    at[8] = f->dtype;
    at[9] = f->reduction;
    put(at + 12, 4, f->group);
    put(at + 16, 8, f->sequence);
    put(at + 24, 8, f->count);
    put(at + 32, 4, f->root);
    put(at + 36, 4, f->detail);
    put(at + 40, 4, f->status);
    put(at + 44, 4, f->rank);
    put(at + 48, 8, f->bytes);
    put(at + 60, 4, checksum(at));
}

/* ---- bytes as they come ------------------------------------------------------------------------------------------ */

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

wk__parse_status wk__wire_parser_feed(wk__wire_parser *in, const uint8_t *bytes, size_t count, size_t *took)
{
    *took = 0;
    if (in->error) return WK__PARSE_INVALID;
    if (in->got < WK__WIRE_HEADER_BYTES) {
        *took = least(count, WK__WIRE_HEADER_BYTES - in->got);
        memcpy(in->head + in->got, bytes, *took);
        in->got += (uint32_t)*took;
        if (in->got < WK__WIRE_HEADER_BYTES) return WK__PARSE_MORE;
        in->error = wk__wire_header_parse(in->head, &in->frame);
        if (!in->error && in->frame.bytes > sizeof in->body) in->error = "message too long";
        if (in->error) return WK__PARSE_INVALID;
    }
    const uint32_t body = in->got - WK__WIRE_HEADER_BYTES;
    const size_t more = least(count - *took, in->frame.bytes - body);
    memcpy(in->body + body, bytes + *took, more);
    in->got += (uint32_t)more;
    *took += more;
    return body + more == in->frame.bytes ? WK__PARSE_DONE : WK__PARSE_MORE;
}

void wk__wire_parser_reset(wk__wire_parser *in)
{
    in->got = 0;
}

void wk__wire_parser_text(const wk__wire_parser *in, char *out, size_t size)
{
    const size_t length = least(in->frame.bytes, size - 1);
    memcpy(out, in->body, length);
    out[length] = '\0';
}

/* ---- pieces ------------------------------------------------------------------------------------------------------ */

void wk__put_host(uint8_t *at, const char *host)
{
    memset(at, 0, WK__WIRE_HOST_BYTES);
    memcpy(at, host, least(strlen(host), WK__WIRE_HOST_BYTES - 1));
}

void wk__get_host(const uint8_t *at, char host[WK__WIRE_HOST_BYTES])
{
    size_t k = 0;
    for (; k < WK__WIRE_HOST_BYTES - 1 && at[k]; k++)
        host[k] = isalnum(at[k]) || at[k] == '.' || at[k] == '-' || at[k] == '_' || at[k] == ':' ? (char)at[k] : '?';
    host[k] = '\0';
}
