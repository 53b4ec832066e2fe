/* SPDX-License-Identifier: Apache-2.0 */
/* Reads JPEG files through libjpeg. An error of libjpeg leaves its calls by longjmp, to try(). The file is in memory;
 * if its data end before the image is complete, that is an error. */
#include "base/alloc.h"
#include "base/environment.h"
#include "base/platform/dynlib.h"
#include "image_file.h"
#include "image_jpeg_abi.h"
#include <setjmp.h>
#include <string.h>

#define FUNCTION(name, result, parameters) result(*name) parameters;
typedef struct functions {
    WK__JPEG_FUNCTIONS(FUNCTION)
} functions;
#undef FUNCTION
static functions jpeg;

static wk_code load(wk__io_error *error)
{
#define SYMBOL(name, result, parameters) {"jpeg_" #name, offsetof(functions, name)},
    static const wk__symbol symbols[] = {WK__JPEG_FUNCTIONS(SYMBOL)};
#undef SYMBOL
    static wk__image_library library = {.name = "libjpeg",
                                        .files = {"libjpeg.so.62", "libjpeg.so.8"},
                                        .package = "libjpeg62-turbo",
                                        .setting = WK__SETTING_LIBJPEG,
                                        .symbols = symbols,
                                        .count = sizeof symbols / sizeof *symbols,
                                        .table = &jpeg};
    return wk__image_library_load(&library, error);
}

/* A file that is being read. */
typedef struct reader {
    jpeg_decompress_struct file; /* first, so that callbacks find the reader */
    jpeg_error_mgr errors;
    jpeg_source_mgr source;
    jmp_buf failed;
    int version;  /* index in jpeg_versions */
    int channels; /* wanted; 0: as in the file */
    bool created;
    wk_code code; /* of a failure that libjpeg did not report; its text is in *error */
    wk__io_error *error;
    wk__pixels *out;
} reader;

/* ---- callbacks --------------------------------------------------------------------------------------------------- */

static reader *reader_of(jpeg_decompress_struct *file)
{
    return (reader *)file;
}

_Noreturn static void fail(reader *r, wk_code code)
{
    r->code = code;
    longjmp(r->failed, 1);
}

_Noreturn static void on_error(jpeg_decompress_struct *file)
{
    reader *r = reader_of(file);
    char text[JPEG_MESSAGE] = "";
    file->err->format_message(file, text);
    const bool memory = strstr(text, "Insufficient memory");
    fail(r, wk__io_fail(r->error, memory ? WK_ERR_MEMORY : WK_ERR_FORMAT, "libjpeg: %.199s", text));
}

static int no_more_data(jpeg_decompress_struct *file)
{
    reader *r = reader_of(file);
    fail(r, wk__io_fail(r->error, WK_ERR_FORMAT, "the JPEG data are truncated or damaged"));
}

/* Fails if a scan ends before the image is complete: libjpeg fills the rest with grey and warns. Other damage that it
 * repairs is accepted. */
static void on_message(jpeg_decompress_struct *file, int level)
{
    const jpeg_error_mgr *errors = file->err;
    const bool listed = errors->msg_code > 0 && errors->msg_code <= errors->last_jpeg_message;
    const char *format = listed ? errors->jpeg_message_table[errors->msg_code] : "";
    if (level < 0 && strstr(format, "premature end")) no_more_data(file);
}

static void do_nothing(jpeg_decompress_struct *file)
{
    (void)file;
}

static void skip(jpeg_decompress_struct *file, long bytes)
{
    jpeg_source_mgr *source = file->src;
    if (bytes <= 0) return;
    if ((size_t)bytes > source->bytes_in_buffer) no_more_data(file);
    source->next_input_byte += bytes;
    source->bytes_in_buffer -= (size_t)bytes;
}

/* ---- steps ------------------------------------------------------------------------------------------------------- */

/* Calls step(r). Returns false if it failed. */
static bool try(reader *r, void (*step)(reader *r))
{
    if (setjmp(r->failed)) return false;
    step(r);
    return true;
}

static void create(reader *r)
{
    r->file.err = jpeg.std_error(&r->errors);
    r->errors.error_exit = on_error;
    r->errors.emit_message = on_message;
    r->errors.output_message = do_nothing;
    jpeg.CreateDecompress(&r->file, jpeg_versions[r->version].version, jpeg_versions[r->version].size);
    r->created = true;
}

static void read_header(reader *r)
{
    r->source.init_source = r->source.term_source = do_nothing;
    r->source.fill_input_buffer = no_more_data;
    r->source.skip_input_data = skip;
    r->source.resync_to_restart = jpeg.resync_to_restart;
    r->file.src = &r->source;
    jpeg.read_header(&r->file, 1);
    if (r->file.jpeg_color_space == JPEG_CMYK || r->file.jpeg_color_space == JPEG_YCCK)
        fail(r, wk__io_fail(r->error, WK_ERR_UNSUPPORTED, "the JPEG file has CMYK colours; convert it to RGB first"));
    const int channels = r->channels ? r->channels : r->file.num_components == 1 ? 1 : 3;
    r->file.out_color_space = channels == 1 ? JPEG_GREY : JPEG_RGB;
}

static void read_rows(reader *r)
{
    jpeg_decompress_struct *file = &r->file;
    const int channels = file->out_color_space == JPEG_GREY ? 1 : 3;
    const wk_code code = wk__pixels_alloc(file->image_width, file->image_height, channels, r->out, r->error);
    if (code != WK_OK) fail(r, code);
    jpeg.start_decompress(file);
    if (file->output_width != file->image_width || file->output_height != file->image_height ||
        file->output_components != channels)
        fail(r,
             wk__io_fail(r->error, WK_ERR_INTERNAL, "libjpeg: the size of the result differs from that of the file"));
    while (file->output_scanline < file->output_height) {
        unsigned char *row = r->out->data + (size_t)file->output_scanline * file->output_width * (size_t)channels;
        jpeg.read_scanlines(file, &row, 1);
    }
}

wk_code wk__jpeg_read(const void *bytes, int64_t count, int channels, wk__pixels *out, wk__io_error *error)
{
    enum { VERSIONS = sizeof jpeg_versions / sizeof *jpeg_versions };
    wk_code code = load(error);
    if (code != WK_OK) return code;
    reader *r = wk__alloc_zero(1, sizeof *r);
    if (!r) return wk__io_fail(error, WK_ERR_MEMORY, "out of host memory");
    *out = (wk__pixels){0};
    r->channels = channels;
    r->error = error;
    r->out = out;
    while (r->version < VERSIONS && !try(r, create)) r->version++;
    r->source.next_input_byte = bytes;
    r->source.bytes_in_buffer = (size_t)count;
    const bool fine = r->created && try(r, read_header) && try(r, read_rows);
    code = fine ? WK_OK : r->code;
    if (r->created)
        jpeg.destroy_decompress(&r->file);
    else
        code = wk__io_fail(error, WK_ERR_UNSUPPORTED, "unknown version of libjpeg; expected libjpeg.so.62 or .8");
    wk__free(code == WK_OK ? NULL : out->data);
    wk__free(r);
    return code;
}
