/* SPDX-License-Identifier: Apache-2.0 */
/* Compares the declarations in report/image_jpeg_abi.h with libjpeg's own header, if it is installed. */
#include "support/wick.h"

#if __has_include(<jpeglib.h>)

#include <jpeglib.h>

/* Offsets and sizes in the library's header; the names of its types are those of the declarations. */
enum { OTHER_SIZE = sizeof(struct jpeg_decompress_struct), OTHER_VERSION = JPEG_LIB_VERSION };
#define LAYOUT(X)                                                                                                      \
    X(jpeg_decompress_struct, err)                                                                                     \
    X(jpeg_decompress_struct, src)                                                                                     \
    X(jpeg_decompress_struct, image_width)                                                                             \
    X(jpeg_decompress_struct, image_height)                                                                            \
    X(jpeg_decompress_struct, num_components)                                                                          \
    X(jpeg_decompress_struct, jpeg_color_space)                                                                        \
    X(jpeg_decompress_struct, out_color_space)                                                                         \
    X(jpeg_decompress_struct, output_width)                                                                            \
    X(jpeg_decompress_struct, output_height)                                                                           \
    X(jpeg_decompress_struct, output_components)                                                                       \
    X(jpeg_decompress_struct, output_scanline)                                                                         \
    X(jpeg_error_mgr, error_exit)                                                                                      \
    X(jpeg_error_mgr, emit_message)                                                                                    \
    X(jpeg_error_mgr, output_message)                                                                                  \
    X(jpeg_error_mgr, format_message)                                                                                  \
    X(jpeg_error_mgr, last_addon_message)                                                                              \
    X(jpeg_source_mgr, next_input_byte)                                                                                \
    X(jpeg_source_mgr, bytes_in_buffer)                                                                                \
    X(jpeg_source_mgr, fill_input_buffer)                                                                              \
    X(jpeg_source_mgr, term_source)
#define OFFSET(type, member) offsetof(struct type, member),
static const size_t others[] = {LAYOUT(OFFSET)};
static const int other_spaces[] = {JCS_GRAYSCALE, JCS_RGB, JCS_CMYK, JCS_YCCK, JMSG_LENGTH_MAX};
#undef JPEG_RST0

/* The declarations of the library, under other names. */
#define jpeg_decompress_struct own_decompress_struct
#define jpeg_error_mgr         own_error_mgr
#define jpeg_source_mgr        own_source_mgr
#include "report/image_jpeg_abi.h"
static const size_t own[] = {LAYOUT(OFFSET)};

static void layouts_and_values_agree(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof own / sizeof *own; k++) assert_int_equal(own[k], others[k]);
    const int spaces[] = {JPEG_GREY, JPEG_RGB, JPEG_CMYK, JPEG_YCCK, JPEG_MESSAGE};
    assert_memory_equal(spaces, other_spaces, sizeof spaces);
    for (size_t k = 0; k < sizeof jpeg_versions / sizeof *jpeg_versions; k++)
        if (jpeg_versions[k].version == OTHER_VERSION) assert_int_equal(jpeg_versions[k].size, OTHER_SIZE);
}

#else

static void layouts_and_values_agree(void **state)
{
    (void)state;
    skip();
}

#endif

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(layouts_and_values_agree)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
