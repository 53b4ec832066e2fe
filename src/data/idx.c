/* SPDX-License-Identifier: Apache-2.0 */
/* The reader of IDX files; see idx.h. */
#include "idx.h"
#include "base/alloc.h"
#include <string.h>
#include <zlib.h>

/* ---- bytes: of a file or of memory, as they are or through gzip ---------------------------------------------------
 */

enum { WINDOW = 1 << 15 }; /* compressed bytes that are looked at together */

typedef struct source {
    const wk__file *file;        /* or NULL, then: */
    const unsigned char *memory; /* bytes of the file */
    int64_t bytes, at;           /* size of the file, and how much of it was taken */
    bool gzip;
    bool ended; /* gzip: the last member is complete */
    z_stream stream;
    unsigned char window[WINDOW];
} source;

static wk_code read_raw(source *from, void *to, int64_t count, wk__io_error *error)
{
    wk_code code = WK_OK;
    if (from->file)
        code = wk__file_read_at(from->file, from->at, to, count, error);
    else
        memcpy(to, from->memory + from->at, (size_t)count);
    from->at += count;
    return code;
}

static void *zlib_alloc(void *user, unsigned count, unsigned size)
{
    (void)user;
    return wk__alloc_zero(count, size);
}

static void zlib_free(void *user, void *block)
{
    (void)user;
    wk__free(block);
}

static wk_code no_memory(wk__io_error *error)
{
    return wk__io_fail(error, WK_ERR_MEMORY, "out of host memory");
}

/* Finds out whether the file is compressed: IDX begins with a zero byte, gzip with 1f 8b. */
static wk_code open_source(source *from, wk__io_error *error)
{
    unsigned char magic[2] = {0};
    wk_code code = from->bytes < 2 ? WK_OK : read_raw(from, magic, 2, error);
    if (code != WK_OK) return code;
    from->at = 0;
    from->gzip = magic[0] == 0x1f && magic[1] == 0x8b;
    if (!from->gzip) return WK_OK;
    from->stream = (z_stream){.zalloc = zlib_alloc, .zfree = zlib_free};
    enum { ONLY_GZIP = 16 };
    return inflateInit2(&from->stream, ONLY_GZIP + MAX_WBITS) == Z_OK ? WK_OK : no_memory(error);
}

static void close_source(source *from)
{
    if (from->gzip) inflateEnd(&from->stream);
}

static wk_code refill(source *from, wk__io_error *error)
{
    int64_t left = from->bytes - from->at, count = left < WINDOW ? left : WINDOW;
    wk_code code = read_raw(from, from->window, count, error);
    from->stream.next_in = from->window;
    from->stream.avail_in = (unsigned)count;
    return code;
}

/* Unpacks up to `count` bytes; fewer only at the end of the compressed data. A gzip file may be several, one after the
 * other; anything else behind it is an error. */
static wk_code inflate_bytes(source *from, void *to, int64_t count, int64_t *got, wk__io_error *error)
{
    enum { PIECE = 1 << 30 }; /* zlib counts in 32 bits */
    z_stream *stream = &from->stream;
    for (*got = 0; *got < count;) {
        if (stream->avail_in == 0 && from->at < from->bytes) {
            wk_code code = refill(from, error);
            if (code != WK_OK) return code;
        }
        if (from->ended && stream->avail_in == 0) return WK_OK;
        if (from->ended) inflateReset(stream);
        int64_t piece = count - *got < PIECE ? count - *got : PIECE;
        stream->next_out = (unsigned char *)to + *got;
        stream->avail_out = (unsigned)piece;
        int result = inflate(stream, Z_NO_FLUSH);
        *got += piece - stream->avail_out;
        from->ended = result == Z_STREAM_END;
        if (result == Z_MEM_ERROR) return no_memory(error);
        bool starved = stream->avail_in == 0 && from->at == from->bytes && stream->avail_out > 0;
        if (result == Z_BUF_ERROR || (result == Z_OK && starved))
            return wk__io_fail(error, WK_ERR_FORMAT, "the gzip data is truncated (byte %lld)", (long long)from->at);
        if (result != Z_OK && result != Z_STREAM_END)
            return wk__io_fail(error, WK_ERR_FORMAT, "the gzip data is corrupted: %s (near byte %lld)",
                               stream->msg ? stream->msg : "not gzip", (long long)(from->at - stream->avail_in));
    }
    return WK_OK;
}

/* Reads up to `count` bytes of the content. */
static wk_code read_bytes(source *from, void *to, int64_t count, int64_t *got, wk__io_error *error)
{
    if (from->gzip) return inflate_bytes(from, to, count, got, error);
    int64_t left = from->bytes - from->at;
    *got = count < left ? count : left;
    return read_raw(from, to, *got, error);
}

/* ---- the format -------------------------------------------------------------------------------------------------- */

static wk_code bad(wk__io_error *error, const char *what)
{
    return wk__io_fail(error, WK_ERR_FORMAT, "%s", what);
}

static uint32_t big_endian(const unsigned char bytes[4])
{
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

static wk_code read_kind(source *from, wk__idx *out, int *element, wk__io_error *error)
{
    static const struct {
        wk_dtype dtype;
        int bytes;
    } kinds[] = {[0x08] = {WK_U8, 1},  [0x09] = {WK_I8, 1},  [0x0b] = {WK_I16, 2},
                 [0x0c] = {WK_I32, 4}, [0x0d] = {WK_F32, 4}, [0x0e] = {WK_F64, 8}};
    unsigned char magic[4];
    int64_t got;
    wk_code code = read_bytes(from, magic, sizeof magic, &got, error);
    if (code != WK_OK) return code;
    if (got < 4) return bad(error, "not an IDX file: truncated within its first 4 bytes");
    if (magic[0] != 0 || magic[1] != 0) return bad(error, "not an IDX file: expected two zero bytes (byte 0)");
    if (magic[2] >= sizeof kinds / sizeof *kinds || !kinds[magic[2]].dtype)
        return wk__io_fail(error, WK_ERR_FORMAT, "unknown dtype 0x%02x (byte 2)", magic[2]);
    if (magic[3] < 1 || magic[3] > WK__MAX_DIMS)
        return wk__io_fail(error, WK_ERR_FORMAT, "%d dimensions, expected 1 to 8 (byte 3)", magic[3]);
    out->dtype = kinds[magic[2]].dtype;
    out->ndim = magic[3];
    *element = kinds[magic[2]].bytes;
    return WK_OK;
}

static wk_code read_shape(source *from, wk__idx *out, int element, wk__io_error *error)
{
    unsigned char sizes[4 * WK__MAX_DIMS];
    int64_t got, elements = element; /* bytes, without the dimensions of size 0: strides are products of the others */
    wk_code code = read_bytes(from, sizes, 4 * out->ndim, &got, error);
    if (code != WK_OK) return code;
    if (got < 4 * out->ndim) return bad(error, "truncated within the sizes of the dimensions");
    bool empty = false;
    for (int k = 0; k < out->ndim; k++) {
        out->shape[k] = big_endian(sizes + 4 * k);
        if (out->shape[k] == 0)
            empty = true;
        else if (!wk__mul_size(elements, out->shape[k], &elements))
            return wk__io_fail(error, WK_ERR_FORMAT, "the size overflows 63 bits (byte %d)", 4 + 4 * k);
    }
    out->bytes = empty ? 0 : elements;
    return WK_OK;
}

/* Checks, before memory is allocated, that the file can hold the data that its header declares: a plain file has
 * exactly that many bytes left, and deflate packs at most 1,032 bytes into one. */
static wk_code check_data_size(const source *from, const wk__idx *out, wk__io_error *error)
{
    enum { DEFLATE = 1032 };
    int64_t left = from->bytes - from->at;
    if (!from->gzip && left != out->bytes)
        return wk__io_fail(
            error, WK_ERR_FORMAT, "the header declares %lld bytes of data, but %lld follow: %s (byte %lld)",
            (long long)out->bytes, (long long)left, left < out->bytes ? "truncated" : "too long", (long long)from->at);
    if (from->gzip && out->bytes / DEFLATE > from->bytes)
        return wk__io_fail(
            error, WK_ERR_FORMAT,
            "the header declares %lld bytes of data, more than %lld compressed bytes can hold: truncated",
            (long long)out->bytes, (long long)from->bytes);
    return WK_OK;
}

static void swap_bytes(unsigned char *data, int64_t bytes, int element)
{
    for (unsigned char *at = data, *end = data + bytes; at < end; at += element)
        for (int k = 0; k < element / 2; k++) {
            unsigned char byte = at[k];
            at[k] = at[element - 1 - k];
            at[element - 1 - k] = byte;
        }
}

static wk_code read_data(source *from, wk__idx *out, wk__io_error *error)
{
    unsigned char more;
    int64_t got, behind = 0;
    wk_code code = read_bytes(from, out->data, out->bytes, &got, error);
    if (code != WK_OK) return code;
    if (got < out->bytes)
        return wk__io_fail(error, WK_ERR_FORMAT, "the header declares %lld bytes of data, but %lld follow: truncated",
                           (long long)out->bytes, (long long)got);
    /* gzip compares its checksum only when it is asked for what follows. */
    code = read_bytes(from, &more, 1, &behind, error);
    if (code != WK_OK) return code;
    return behind == 0 ? WK_OK : bad(error, "more data follows than the header declares: too long");
}

static wk_code parse(source *from, wk__idx *out, wk__io_error *error)
{
    int element = 0;
    wk_code code = read_kind(from, out, &element, error);
    if (code == WK_OK) code = read_shape(from, out, element, error);
    if (code == WK_OK) code = check_data_size(from, out, error);
    if (code != WK_OK) return code;
    out->data = wk__alloc((size_t)out->bytes);
    if (!out->data) return no_memory(error);
    code = read_data(from, out, error);
    if (code != WK_OK) {
        wk__free(out->data);
        out->data = NULL;
    } else if (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__) {
        swap_bytes(out->data, out->bytes, element);
    }
    return code;
}

static wk_code parse_source(const wk__file *file, const void *memory, int64_t bytes, wk__idx *out, wk__io_error *error)
{
    *out = (wk__idx){0};
    source *from = wk__alloc_zero(1, sizeof *from);
    if (!from) return no_memory(error);
    from->file = file;
    from->memory = memory;
    from->bytes = bytes;
    wk_code code = open_source(from, error);
    if (code == WK_OK) code = parse(from, out, error);
    close_source(from);
    wk__free(from);
    return code;
}

wk_code wk__idx_parse(const void *bytes, int64_t count, wk__idx *out, wk__io_error *error)
{
    return parse_source(NULL, bytes, count, out, error);
}

wk_code wk__idx_read(const char *path, wk__idx *out, wk__io_error *error)
{
    wk__file file;
    wk_code code = wk__file_open(&file, path, error);
    if (code != WK_OK) return code;
    code = parse_source(&file, NULL, file.bytes, out, error);
    wk__file_close(&file);
    /* Errors of the system already name the file. */
    return code == WK_OK || code == WK_ERR_IO ? code : wk__io_prefix(error, "%s", wk__printable_name(path).text);
}
