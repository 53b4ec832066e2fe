/* SPDX-License-Identifier: Apache-2.0 */
/* Writing and verifying files with a checksum; see checkpoint_file.h. */
#include "checkpoint_file.h"
#include "base/alloc.h"
#include <string.h>
#include <zlib.h>

enum { DIGITS = 8 };
static const char zeros[] = "00000000";

/* Adds bytes to a checksum; zlib takes fewer than 2^32 at a time. */
static uint32_t add(uint32_t sum, const void *bytes, int64_t count)
{
    const unsigned char *next = bytes;
    while (count > 0) {
        const int64_t some = count < 1 << 30 ? count : 1 << 30;
        sum = (uint32_t)crc32(sum, next, (uInt)some);
        next += some, count -= some;
    }
    return sum;
}

/* ---- making ------------------------------------------------------------------------------------------------------ */

static bool fetch(wk_site site, const char *op, const wk__tensor_list *list, wk__checkpoint_file *p)
{
    for (int64_t k = 0; k < list->count; k++)
        if (!wk__materialize(list->item[k].tensor, site)) return false;
    for (; p->pieces < list->count; p->pieces++) {
        wk_tensor *x = list->item[p->layout.order[p->pieces]].tensor;
        const wk__body *body = wk__body_of(x);
        wk__checkpoint_file_piece *piece = &p->piece[p->pieces];
        if (!wk__contiguous_host_view(site, op, x, &piece->rows)) return false;
        piece->bytes = wk__body_numel(body) * (int64_t)wk_dtype_size(body->dtype);
    }
    return true;
}

bool wk__checkpoint_file_make(wk_site site, const char *op, wk_tensors *list, wk__metadata *pairs,
                              wk__checkpoint_file *out)
{
    wk__io_error error;
    const wk__tensor_list *of = wk__tensor_list_of(list);
    *out = (wk__checkpoint_file){.list = list};
    wk__handle_hold(&list->handle);
    wk__metadata_add(pairs, zeros, WK__CHECKSUM_KEY);
    const wk_code code = wk__safetensors_layout_list(of, pairs, &out->layout, &error);
    if (code != WK_OK) wk__error_set(site, code, "%s: %s", op, error.text);
    out->piece = wk__alloc_zero((size_t)of->count + 1, sizeof *out->piece);
    if (!out->piece) wk__error_set(site, WK_ERR_MEMORY, "%s: out of host memory", op);
    const bool fine = code == WK_OK && out->piece && fetch(site, op, of, out);
    if (!fine) wk__checkpoint_file_end(out);
    return fine;
}

void wk__checkpoint_file_end(wk__checkpoint_file *p)
{
    for (int64_t k = 0; k < p->pieces; k++) wk__host_unmap(&p->piece[k].rows);
    wk__free(p->piece);
    wk__safetensors_layout_end(&p->layout);
    if (p->list) wk__handle_drop(&p->list->handle);
    *p = (wk__checkpoint_file){0};
}

/* ---- writing ----------------------------------------------------------------------------------------------------- */

/* Finds the checksum digits in the header. Quotation marks inside JSON strings are escaped, so the key is
 * unambiguous. */
static char *checksum_digits(const wk__checkpoint_file *p)
{
    static const char begin[] = "\"" WK__CHECKSUM_KEY "\":\"";
    char *at = memmem(p->layout.header_text.data, (size_t)p->layout.header_text.length, begin, sizeof begin - 1);
    return at + sizeof begin - 1;
}

static void write_checksum(wk__checkpoint_file *p)
{
    char text[DIGITS + 1], *digits = checksum_digits(p);
    memcpy(digits, zeros, DIGITS);
    uint32_t sum = add(0, p->layout.header_text.data, p->layout.header_text.length);
    for (int64_t k = 0; k < p->pieces; k++) sum = add(sum, p->piece[k].rows.first, p->piece[k].bytes);
    snprintf(text, sizeof text, "%08x", (unsigned)sum);
    memcpy(digits, text, DIGITS);
}

wk_code wk__checkpoint_file_write(wk__checkpoint_file *p, const char *path, char **place, wk__io_error *error)
{
    wk__atomic_file save;
    write_checksum(p);
    wk_code code = wk__safetensors_begin(&save, path, &p->layout, error);
    for (int64_t k = 0; k < p->pieces && code == WK_OK; k++)
        code = wk__atomic_file_write(&save, p->piece[k].rows.first, p->piece[k].bytes, error);
    if (code == WK_OK && place && !(*place = wk__strdup(save.path)))
        code = wk__io_fail(error, WK_ERR_MEMORY, "%s: cannot save: out of host memory", wk__printable_name(path).text);
    if (code == WK_OK) code = wk__safetensors_commit(&save, &p->layout, error);
    wk__atomic_file_abort(&save);
    if (code == WK_OK || !place) return code;
    wk__free(*place);
    *place = NULL;
    return code;
}

/* ---- reading ----------------------------------------------------------------------------------------------------- */

/* Returns the file offset of the digits; 0: not found. A string without escapes is stored in the header verbatim. */
static int64_t checksum_offset(const wk__tensor_file *from, uint32_t *stored)
{
    static const char hex[] = "0123456789abcdef";
    const char *text = wk__metadata_find(from->header.metadata, from->header.metadata_count, WK__CHECKSUM_KEY);
    if (!text || strlen(text) != DIGITS || strspn(text, hex) != DIGITS) return 0;
    *stored = 0;
    for (int k = 0; k < DIGITS; k++) *stored = *stored << 4 | (uint32_t)(strchr(hex, text[k]) - hex);
    return WK__SAFETENSORS_PREFIX + (text - from->header.header);
}

/* Overwrites the digits with '0' in this block, which may contain only part of them. */
static void zero_digits(char *block, int64_t at, int64_t bytes, int64_t digits)
{
    for (int64_t k = digits; k < digits + DIGITS; k++)
        if (k >= at && k < at + bytes) block[k - at] = '0';
}

wk_code wk__checkpoint_file_verify(const wk__tensor_file *from, uint32_t *sum, wk__io_error *error)
{
    enum { BLOCK = 1 << 18 };
    uint32_t said = 0, computed = 0;
    const int64_t digits = checksum_offset(from, &said);
    if (digits == 0)
        return wk__io_fail(error, WK_ERR_FORMAT,
                           "%s: not a checkpoint: its metadata has no \"" WK__CHECKSUM_KEY
                           "\"; load files of wk_save with wk_load",
                           wk__printable_name(from->file.path).text);
    char *block = wk__alloc(BLOCK);
    if (!block)
        return wk__io_fail(error, WK_ERR_MEMORY, "%s: cannot read: out of host memory",
                           wk__printable_name(from->file.path).text);
    wk_code code = WK_OK;
    for (int64_t at = 0, some; at < from->file.bytes && code == WK_OK; at += some) {
        some = from->file.bytes - at < BLOCK ? from->file.bytes - at : BLOCK;
        code = wk__file_read_at(&from->file, at, block, some, error);
        if (code == WK_OK) zero_digits(block, at, some, digits);
        if (code == WK_OK) computed = add(computed, block, some);
    }
    wk__free(block);
    *sum = computed;
    if (code != WK_OK || computed == said) return code;
    return wk__io_fail(error, WK_ERR_FORMAT,
                       "%s: corrupted: checksum is %08x, expected %08x; restore a copy, or delete the file to start "
                       "over (.keep = 2 also keeps the previous one)",
                       wk__printable_name(from->file.path).text, (unsigned)computed, (unsigned)said);
}
