/* SPDX-License-Identifier: Apache-2.0 */
/* Tests image files: values as torchvision reads them, round trips, missing libraries, damaged files. */
#include "base/alloc.h"
#include "hostile/scratch.h"
#include "support/devices.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

/* ---- help -------------------------------------------------------------------------------------------------------- */

static const char *fixture(const char *name)
{
    return fixture_file("image", name);
}

/* Returns the elements of a u8 tensor; the caller frees them. */
static uint8_t *bytes_of(wk_tensor *x)
{
    const size_t count = (size_t)wk_numel(x);
    uint8_t *out = malloc(count + 1);
    assert_int_equal(wk_dtype_of(x), WK_U8);
    assert_int_equal(wk_read(x, out, count), WK_OK);
    return out;
}

static uint64_t hash_of(wk_tensor *x)
{
    uint8_t *data = bytes_of(x);
    uint64_t value = 0xcbf29ce484222325u;
    for (int64_t k = 0; k < wk_numel(x); k++) value = (value ^ data[k]) * 0x100000001b3u;
    free(data);
    return value;
}

static void expect_equal(wk_tensor *a, wk_tensor *b)
{
    assert_int_equal(wk_ndim(a), wk_ndim(b));
    for (int d = 0; d < wk_ndim(a); d++) assert_int_equal(wk_size(a, d), wk_size(b, d));
    uint8_t *left = bytes_of(a), *right = bytes_of(b);
    assert_memory_equal(left, right, (size_t)wk_numel(a));
    free(left);
    free(right);
}

static wk_tensor *random_bytes(int64_t channels, int64_t height, int64_t width)
{
    return wk_to_dtype(wk_randint(0, 256, (channels, height, width)), WK_U8);
}

/* Reads a whole file; the caller frees it. */
static char *content_of(const char *path, long *bytes)
{
    FILE *file = fopen(path, "rb");
    if (!file) fail_msg("no file %s", path);
    fseek(file, 0, SEEK_END);
    *bytes = ftell(file);
    rewind(file);
    char *data = malloc((size_t)*bytes + 1);
    assert_int_equal(fread(data, 1, (size_t)*bytes, file), *bytes);
    fclose(file);
    return data;
}

static const char *file_of(const char *name, const void *data, long bytes)
{
    const char *path = scratch(name);
    FILE *file = fopen(path, "wb");
    assert_int_equal(fwrite(data, 1, (size_t)bytes, file), bytes);
    fclose(file);
    return path;
}

/* Skips the test on a machine without the libraries, such as an emulated one. */
static void need_libraries(void)
{
    WK_SCOPE;
    const bool there = wk_image_read(fixture("rgb.png")) && wk_image_read(fixture("rgb.jpg"));
    const bool missing = !there && strstr(wk_error(), "cannot load");
    wk_clear_error();
    if (missing) skip();
}

/* ---- libraries that are missing: before a test loads them -------------------------------------------------------- */

static void a_missing_library_is_named(void **state)
{
    (void)state;
    WK_SCOPE;
    setenv("WICK_LIBPNG", "/no/such/libpng16.so.16", 1);
    setenv("WICK_LIBJPEG", "/no/such/libjpeg.so", 1);
    assert_null(wk_image_read(fixture("rgb.png")));
    assert_int_equal(wk_error_code(), WK_ERR_UNSUPPORTED);
    expect_error("image_read: ", "rgb.png: cannot load libpng: /no/such/libpng16.so.16",
                 "install the package libpng16-16", "WICK_LIBPNG", NULL);
    assert_int_equal(wk_image_write(scratch("none.png"), wk_ones((2, 3))), WK_ERR_UNSUPPORTED);
    expect_error("image_write: ", "none.png: cannot load libpng", "libpng16-16", NULL);
    assert_int_not_equal(access(scratch("none.png"), F_OK), 0);
    assert_null(wk_image_read(fixture("rgb.jpg")));
    expect_error("image_read: ", "cannot load libjpeg: /no/such/libjpeg.so", "install the package libjpeg62-turbo",
                 NULL);
    setenv("WICK_LIBPNG", "libc.so.6", 1);
    assert_null(wk_image_read(fixture("rgb.png")));
    expect_error("cannot load libpng: it lacks a function", NULL);
    unsetenv("WICK_LIBPNG");
    unsetenv("WICK_LIBJPEG");
    expect_shape(wk_image_read(fixture("rgb.ppm")), 3, (const int64_t[]){3, 13, 18}); /* needs no library */
    need_libraries();
    expect_shape(wk_image_read(fixture("rgb.png")), 3, (const int64_t[]){3, 13, 18});
    expect_shape(wk_image_read(fixture("rgb.jpg")), 3, (const int64_t[]){3, 40, 52});
    expect_ok();
}

/* ---- reading ----------------------------------------------------------------------------------------------------- */

static void values_are_those_of_torchvision(void **state)
{
    (void)state;
    need_libraries();
    WK_SCOPE;
    FILE *list = fopen(source_file("tests/goldens/images.txt"), "r");
    assert_non_null(list);
    char name[64];
    int mode, count = 0;
    long long c, h, w;
    unsigned long long hash;
    while (fscanf(list, "%63s %d %lldx%lldx%lld %llx", name, &mode, &c, &h, &w, &hash) == 6) {
        wk_tensor *x = wk_image_read(fixture(name), .channels = mode);
        if (!x) fail_msg("%s, %d: %s", name, mode, wk_error());
        expect_shape(x, 3, (const int64_t[]){c, h, w});
        if (hash_of(x) != hash) fail_msg("%s, %d: the values differ", name, mode);
        count++;
    }
    assert_int_equal(count, 48);
    fclose(list);
}

static void refused_files(void **state)
{
    (void)state;
    need_libraries();
    WK_SCOPE;
    assert_null(wk_image_read(fixture("cmyk.jpg")));
    assert_int_equal(wk_error_code(), WK_ERR_UNSUPPORTED);
    expect_error("image_read: ", "cmyk.jpg: the JPEG file has CMYK colours; convert it to RGB", NULL);
    assert_null(wk_image_read("no/such.png"));
    assert_int_equal(wk_error_code(), WK_ERR_IO);
    expect_error("image_read: no/such.png: cannot open: No such file", NULL);
    assert_null(wk_image_read(source_file("LICENSE")));
    assert_int_equal(wk_error_code(), WK_ERR_FORMAT);
    expect_error("LICENSE: unknown image format; expected a PNG, JPEG, PGM (P5) or PPM (P6) file", NULL);
    assert_null(wk_image_read(file_of("empty", "", 0)));
    expect_error("empty: the file is empty; expected a PNG", NULL);
    assert_null(wk_image_read(""));
    expect_error("image_read: the path is empty", NULL);
    assert_null(wk_image_read(NULL));
    expect_error("image_read: the path is NULL", NULL);
    assert_null(wk_image_read(fixture("rgb.png"), .channels = 2));
    assert_int_equal(wk_error_code(), WK_ERR_ARGUMENT);
    expect_error("image_read: .channels must be 0, 1 or 3, got 2", NULL);
}

/* Every file that is cut is refused, whatever its format; damaged bytes crash nothing. */
static void truncated_and_damaged_files(void **state)
{
    (void)state;
    need_libraries();
    const char *const names[] = {"rgba.png", "interlaced.png",  "palette.png", "grey16.png",
                                 "rgb.jpg",  "progressive.jpg", "rgb.ppm"};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        long bytes;
        char *data = content_of(fixture(names[k]), &bytes);
        for (long cut = 0; cut < bytes; cut += cut < 64 ? 1 : 37) {
            WK_SCOPE;
            const bool end_of_png = strstr(names[k], "png") && cut >= bytes - 12; /* without IEND it is complete */
            if (wk_image_read(file_of("cut", data, cut)) && !end_of_png)
                fail_msg("%s, cut at %ld of %ld bytes, is accepted", names[k], cut, bytes);
            if (wk_error() && wk_error_code() != WK_ERR_FORMAT) fail_msg("%s, cut: %s", names[k], wk_error());
            wk_clear_error();
        }
        uint64_t random = 5;
        for (int round = 0; round < 300; round++) {
            WK_SCOPE;
            random = random * 6364136223846793005u + 1442695040888963407u;
            const long at = (long)(random >> 33) % bytes;
            const char before = data[at];
            data[at] = (char)(random >> 25);
            wk_image_read(file_of("damaged", data, bytes));
            if (wk_error() && wk_error_code() != WK_ERR_FORMAT && wk_error_code() != WK_ERR_UNSUPPORTED)
                fail_msg("%s, damaged: %s", names[k], wk_error());
            wk_clear_error();
            data[at] = before;
        }
        free(data);
    }
}

/* Headers of images of 2^40 pixels and more, with no data to speak of. */
static void enormous_images_are_refused(void **state)
{
    (void)state;
    need_libraries();
    WK_SCOPE;
    static const unsigned char png[] =
        "\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\x0f\x42\x40\0\x0f\x42\x40\x08\2\0\0\0\xcd\x1b\xd2\x6d"
        "\0\0\0\1IDAT\x78\0\0\0\0";
    assert_null(wk_image_read(file_of("huge.png", png, sizeof png - 1)));
    assert_int_equal(wk_error_code(), WK_ERR_FORMAT);
    wk_clear_error();
    long bytes;
    char *jpeg = content_of(fixture("rgb.jpg"), &bytes);
    long frame = 0;
    while (frame + 1 < bytes && memcmp(jpeg + frame, "\xff\xc0", 2) != 0) frame++;
    memset(jpeg + frame + 5, 0xf0, 4); /* height and width */
    assert_null(wk_image_read(file_of("huge.jpg", jpeg, bytes)));
    expect_error("huge.jpg: the image has 61680 x 61680 pixels, more than the limit of 268435456", NULL);
    memset(jpeg + frame + 5, 0x3f, 4);
    assert_null(wk_image_read(file_of("large.jpg", jpeg, bytes)));
    expect_error("large.jpg: the JPEG data are truncated or damaged", NULL);
    free(jpeg);
}

/* ---- writing ----------------------------------------------------------------------------------------------------- */

static void round_trips_are_exact(void **state)
{
    (void)state;
    need_libraries();
    wk_seed(3);
    const int64_t sizes[][2] = {{1, 1}, {1, 9}, {9, 1}, {28, 28}, {61, 47}, {300, 200}};
    for (int64_t channels = 1; channels <= 4; channels++)
        for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
            WK_SCOPE;
            wk_tensor *x = random_bytes(channels, sizes[k][0], sizes[k][1]);
            if (wk_image_write(scratch("round.PNG"), x) != WK_OK) fail_msg("%s", wk_error());
            expect_equal(wk_image_read(scratch("round.PNG")), x);
        }
}

static void floats_are_rounded_and_clamped(void **state)
{
    (void)state;
    need_libraries();
    const float values[] = {-0.5f, 0, 0.5f / 255, 0.49f / 255, 0.5f, 1, 1.5f, INFINITY, -INFINITY, 100.4f / 255};
    const uint8_t expected[] = {0, 0, 1, 0, 128, 255, 255, 255, 0, 100};
    const wk_dtype dtypes[] = {WK_F32, WK_F64};
    for (int k = 0; k < 2; k++) {
        WK_SCOPE;
        wk_tensor *x = wk_to_dtype(wk_from(values, (2, 5)), dtypes[k]);
        assert_int_equal(wk_image_write(scratch("floats.png"), x), WK_OK);
        uint8_t *bytes = bytes_of(wk_image_read(scratch("floats.png")));
        assert_memory_equal(bytes, expected, sizeof expected);
        free(bytes);
    }
    WK_SCOPE;
    wk_tensor *half = wk_div(wk_to_dtype(random_bytes(3, 5, 6), WK_F16), 255);
    assert_int_equal(wk_image_write(scratch("half.png"), half), WK_OK);
    assert_int_equal(wk_image_write(scratch("single.png"), wk_to_dtype(half, WK_F32)), WK_OK);
    expect_equal(wk_image_read(scratch("half.png")), wk_image_read(scratch("single.png")));
}

static void views_and_leaves(void **state)
{
    (void)state;
    need_libraries();
    WK_SCOPE;
    wk_tensor *x = random_bytes(3, 8, 6);
    assert_int_equal(wk_image_write(scratch("view.png"), wk_transpose(wk_narrow(x, 1, 2, 5), 1, 2)), WK_OK);
    expect_equal(wk_image_read(scratch("view.png")), wk_contiguous(wk_transpose(wk_narrow(x, 1, 2, 5), 1, 2)));
    wk_tensor *leaf = wk_ones((4, 4), .requires_grad = true);
    assert_int_equal(wk_image_write(scratch("leaf.png"), leaf), WK_OK);
    expect_shape(wk_image_read(scratch("leaf.png")), 3, (const int64_t[]){1, 4, 4});
    expect_ok();
}

static void images_of_any_device(void **state)
{
    (void)state;
    need_libraries();
    EACH_DEVICE(device)
    {
        WK_SCOPE;
        WK_DEVICE(device);
        wk_tensor *x = random_bytes(3, 7, 5), *grid = wk_image_grid(wk_unsqueeze(x, 1), .columns = 2);
        assert_int_equal(wk_image_write(scratch("device.png"), grid), WK_OK);
        wk_tensor *again = wk_image_read(scratch("device.png"));
        assert_int_equal(wk_device_of(again).kind, wk_device_of(x).kind);
        expect_equal(again, grid);
    }
}

static void an_old_file_is_replaced_or_kept(void **state)
{
    (void)state;
    need_libraries();
    WK_SCOPE;
    wk_tensor *old = random_bytes(1, 3, 3), *new = random_bytes(3, 4, 5);
    assert_int_equal(wk_image_write(scratch("kept.png"), old), WK_OK);
    assert_int_equal(wk_image_write(scratch("kept.png"), wk_ones((2, 2, 2, 2))), WK_ERR_SHAPE);
    wk_clear_error();
    expect_equal(wk_image_read(scratch("kept.png")), old);
    assert_int_equal(wk_image_write(scratch("kept.png"), new), WK_OK);
    expect_equal(wk_image_read(scratch("kept.png")), new);
}

static void refused_tensors(void **state)
{
    (void)state;
    need_libraries();
    WK_SCOPE;
    assert_int_equal(wk_image_write(scratch("a.png"), wk_ones((2, 3, 4, 5))), WK_ERR_SHAPE);
    expect_error("image_write: expected an image (H, W) or (C, H, W) of 1 to 4 channels, got f32[2,3,4,5]",
                 "wk_image_grid", NULL);
    assert_int_equal(wk_image_write(scratch("a.png"), wk_ones((5, 3, 4))), WK_ERR_SHAPE);
    wk_clear_error();
    assert_int_equal(wk_image_write(scratch("a.png"), wk_ones((0, 4))), WK_ERR_SHAPE);
    wk_clear_error();
    assert_int_equal(wk_image_write(scratch("a.png"), wk_ones((4, 4), .dtype = WK_I64)), WK_ERR_DTYPE);
    expect_error("image_write: expected u8 or floats from 0 to 1, got i64[4,4]", NULL);
    assert_int_equal(wk_image_write(scratch("a.jpg"), wk_ones((4, 4))), WK_ERR_ARGUMENT);
    expect_error("image_write: ", "a.jpg: the file is written as PNG; choose a name that ends in .png", NULL);
    assert_int_equal(wk_image_write("", wk_ones((4, 4))), WK_ERR_ARGUMENT);
    wk_clear_error();
    assert_int_equal(wk_image_write("/no/such/folder/a.png", wk_ones((4, 4))), WK_ERR_IO);
    expect_error("image_write: /no/such/folder/a.png: cannot save: No such file or directory", NULL);
    assert_int_equal(wk_image_write(scratch("a.png"), NULL), WK_ERR_ARGUMENT);
    wk_clear_error();
    assert_int_not_equal(access(scratch("a.png"), F_OK), 0);
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

static void every_allocation_fails(void **state)
{
    (void)state;
    need_libraries();
    const char *const names[] = {"rgb.png", "rgb.jpg", "rgb.ppm"};
    WK_SCOPE;
    wk_tensor *x = random_bytes(3, 4, 5);
    assert_int_equal(wk_sync(), WK_OK);
    for (int k = 0; k <= 3; k++) {
        wk_code code = WK_ERR_MEMORY;
        int n = 0;
        for (; code != WK_OK && n < 1000; n++) {
            WK_SCOPE;
            wk__alloc_fail_at(n + 1);
            if (k < 3)
                wk_image_read(fixture(names[k]), .channels = 1);
            else
                wk_image_write(scratch("memory.png"), x);
            wk__alloc_fail_at(0);
            code = wk_error_code();
            if (code != WK_OK && code != WK_ERR_MEMORY) fail_msg("%s", wk_error());
            wk_clear_error();
        }
        assert_in_range(n, 4, 999);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_missing_library_is_named),
        cmocka_unit_test(values_are_those_of_torchvision),
        cmocka_unit_test(refused_files),
        cmocka_unit_test(truncated_and_damaged_files),
        cmocka_unit_test(enormous_images_are_refused),
        cmocka_unit_test(round_trips_are_exact),
        cmocka_unit_test(floats_are_rounded_and_clamped),
        cmocka_unit_test(views_and_leaves),
        cmocka_unit_test(images_of_any_device),
        cmocka_unit_test(an_old_file_is_replaced_or_kept),
        cmocka_unit_test(refused_tensors),
        cmocka_unit_test(every_allocation_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
