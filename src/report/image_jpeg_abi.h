/* SPDX-License-Identifier: Apache-2.0 */
/* Declarations of libjpeg, so that building needs none of its headers. Versions 6.2 (libjpeg.so.62) and 8.0
 * (libjpeg.so.8) differ in the part of jpeg_decompress_struct that is not declared here. jpeg_CreateDecompress compares
 * version and size with its own and reports an error if they differ. */
#ifndef WICK_REPORT_IMAGE_JPEG_ABI_H
#define WICK_REPORT_IMAGE_JPEG_ABI_H

#include <stddef.h>
#include <stdint.h>

struct jpeg_decompress_struct;

typedef struct jpeg_error_mgr {
    void (*error_exit)(struct jpeg_decompress_struct *file); /* must not return */
    void (*emit_message)(struct jpeg_decompress_struct *file, int level);
    void (*output_message)(struct jpeg_decompress_struct *file);
    void (*format_message)(struct jpeg_decompress_struct *file, char *text); /* at most JPEG_MESSAGE bytes */
    void (*reset_error_mgr)(struct jpeg_decompress_struct *file);
    int msg_code;
    union {
        int i[8];
        char s[80];
    } msg_parm;
    int trace_level;
    long num_warnings;
    const char *const *jpeg_message_table;
    int last_jpeg_message;
    const char *const *addon_message_table;
    int first_addon_message, last_addon_message;
} jpeg_error_mgr;
enum { JPEG_MESSAGE = 200 };

typedef struct jpeg_source_mgr {
    const unsigned char *next_input_byte;
    size_t bytes_in_buffer;
    void (*init_source)(struct jpeg_decompress_struct *file);
    int (*fill_input_buffer)(struct jpeg_decompress_struct *file);
    void (*skip_input_data)(struct jpeg_decompress_struct *file, long bytes);
    int (*resync_to_restart)(struct jpeg_decompress_struct *file, int desired);
    void (*term_source)(struct jpeg_decompress_struct *file);
} jpeg_source_mgr;

enum { JPEG_GREY = 1, JPEG_RGB = 2, JPEG_CMYK = 4, JPEG_YCCK = 5 }; /* colour spaces */

typedef struct jpeg_decompress_struct {
    jpeg_error_mgr *err;
    void *mem, *progress, *client_data;
    int is_decompressor, global_state;
    jpeg_source_mgr *src;
    unsigned image_width, image_height;
    int num_components, jpeg_color_space;
    int out_color_space;
    unsigned scale_num, scale_denom;
    double output_gamma;
    int buffered_image, raw_data_out;
    int dct_method, do_fancy_upsampling, do_block_smoothing;
    int quantize_colors, dither_mode, two_pass_quantize, desired_number_of_colors;
    int enable_1pass_quant, enable_external_quant, enable_2pass_quant;
    unsigned output_width, output_height;
    int out_color_components, output_components, rec_outbuf_height;
    int actual_number_of_colors;
    unsigned char **colormap;
    unsigned output_scanline;
    unsigned char rest[656 - 172]; /* up to the size in version 8.0 */
} jpeg_decompress_struct;
_Static_assert(sizeof(void *) == 8 && offsetof(jpeg_decompress_struct, output_scanline) == 168 &&
                   sizeof(jpeg_decompress_struct) == 656 && sizeof(jpeg_error_mgr) == 168,
               "the library's own layout");

/* Versions, newest last, and the size of jpeg_decompress_struct in each. */
static const struct {
    int version;
    size_t size;
} jpeg_versions[] = {{62, 632}, {80, 656}};

/* name, result, parameters */
#define WK__JPEG_FUNCTIONS(X)                                                                                          \
    X(std_error, jpeg_error_mgr *, (jpeg_error_mgr * err))                                                             \
    X(CreateDecompress, void, (jpeg_decompress_struct * file, int version, size_t size))                               \
    X(destroy_decompress, void, (jpeg_decompress_struct * file))                                                       \
    X(read_header, int, (jpeg_decompress_struct * file, int require_image))                                            \
    X(start_decompress, int, (jpeg_decompress_struct * file))                                                          \
    X(read_scanlines, unsigned, (jpeg_decompress_struct * file, unsigned char **rows, unsigned count))                 \
    X(resync_to_restart, int, (jpeg_decompress_struct * file, int desired))

#endif
