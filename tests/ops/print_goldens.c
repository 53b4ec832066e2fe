/* SPDX-License-Identifier: Apache-2.0 */
/* Tests printing against PyTorch's output: the cases of goldens/print.txt (from PyTorch 2; each has name, dtype, shape,
 * layout, gradient, values, lines of text), and additional cases that the file does not cover. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/alloc.h"
#include "ops/core/print_format.h"

enum { MOST_VALUES = 2048, LONGEST_LINE = 1 << 17 };

typedef struct golden {
    char name[64], grad[64];
    wk_dtype dtype;
    int ndim;
    int64_t shape[WK__MAX_DIMS], count;
    bool transposed;
    double values[MOST_VALUES]; /* in logical order */
    wk__text text;
} golden;

static golden *goldens;
static int golden_count;

/* ---- reading the file -------------------------------------------------------------------------------------------- */

static wk_dtype parse_dtype(const char *name)
{
    static const struct {
        const char *name;
        wk_dtype dtype;
    } names[] = {
        {"float32", WK_F32}, {"float64", WK_F64}, {"float16", WK_F16}, {"bfloat16", WK_BF16}, {"int8", WK_I8},
        {"uint8", WK_U8},    {"int16", WK_I16},   {"int32", WK_I32},   {"int64", WK_I64},     {"bool", WK_BOOL},
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(names[i].name, name) == 0) return names[i].dtype;
    }
    fail_msg("unknown dtype %s", name);
    return WK_F32;
}

/* Returns the rest of the line that begins with `word`, without newline. */
static char *read_line(FILE *file, const char *word)
{
    static char line[LONGEST_LINE];
    if (!fgets(line, sizeof line, file)) return NULL;
    line[strcspn(line, "\n")] = '\0';
    if (strncmp(line, word, strlen(word)) != 0) fail_msg("expected '%s', not '%s'", word, line);
    return line + strlen(word);
}

static bool read_golden(FILE *file, golden *g)
{
    const char *line = read_line(file, "case ");
    if (!line) return false;
    *g = (golden){0};
    snprintf(g->name, sizeof g->name, "%s", line);
    g->dtype = parse_dtype(read_line(file, "dtype "));
    char *rest = read_line(file, "shape");
    for (g->count = 1; *rest == ' ' && rest[1]; g->ndim++) {
        g->shape[g->ndim] = strtoll(rest, &rest, 10);
        g->count *= g->shape[g->ndim];
    }
    g->transposed = strcmp(read_line(file, "layout "), "transposed") == 0;
    snprintf(g->grad, sizeof g->grad, "%s", read_line(file, "grad "));
    rest = read_line(file, "data ");
    assert_true(g->count <= MOST_VALUES);
    for (int64_t i = 0; i < g->count; i++) g->values[i] = strtod(rest, &rest);
    const int lines = atoi(read_line(file, "text "));
    for (int i = 0; i < lines; i++) {
        if (i) wk__text_add(&g->text, "\n");
        wk__text_add(&g->text, read_line(file, ""));
    }
    return true;
}

static int read_goldens(void **state)
{
    (void)state;
    const char *root = getenv("WICK_SOURCE");
    char path[4096];
    snprintf(path, sizeof path, "%s/tests/goldens/print.txt", root ? root : ".");
    FILE *file = fopen(path, "r");
    if (!file) {
        print_error("no %s: set WICK_SOURCE to the root of the repository\n", path);
        return 1;
    }
    enum { ROOM = 256 };
    goldens = wk__alloc_zero(ROOM, sizeof *goldens);
    while (golden_count < ROOM && read_golden(file, &goldens[golden_count])) golden_count++;
    fclose(file);
    return 0;
}

static int free_goldens(void **state)
{
    (void)state;
    for (int i = 0; i < golden_count; i++) wk__text_free(&goldens[i].text);
    wk__free(goldens);
    return 0;
}

/* ---- values in memory -------------------------------------------------------------------------------------------- */

/* Exact: the dtype represents all values of the cases. */
static uint16_t to_half(double value)
{
    if (value == 0) return signbit(value) ? 0x8000 : 0;
    int exponent;
    const double fraction = frexp(fabs(value), &exponent); /* in [1/2, 1) */
    const uint16_t sign = value < 0 ? 0x8000 : 0;
    if (isinf(value)) return sign | 0x7C00;
    if (exponent < -13) return (uint16_t)(sign | (uint16_t)ldexp(fabs(value), 24));
    return (uint16_t)(sign | (exponent + 14) << 10 | ((uint16_t)ldexp(fraction, 11) & 1023));
}

static void put(wk_dtype dtype, void *at, double value)
{
    const float f32 = (float)value;
    uint32_t bits;
    memcpy(&bits, &f32, sizeof bits);
    const uint16_t bf16 = (uint16_t)(bits >> 16), f16 = dtype == WK_F16 ? to_half(value) : 0;
    const int64_t whole = isfinite(value) && fabs(value) < 0x1p62 ? (int64_t)value : 0;
    const void *from = &whole; /* little-endian: the low bytes are first */
    if (dtype == WK_F32) from = &f32;
    if (dtype == WK_F64) from = &value;
    if (dtype == WK_F16) from = &f16;
    if (dtype == WK_BF16) from = &bf16;
    memcpy(at, from, wk_dtype_size(dtype));
}

typedef struct block {
    char *memory;
    const void *data; /* the element with all indices 0 */
    int64_t strides[WK__MAX_DIMS];
} block;

/* Lays the values out with dimensions in the order of `order`, outermost first, with `gap` unused elements between
 * neighbours of each; if `mirrored`, the odd dimensions have negative strides. */
static block lay_out(const golden *g, const int order[], int gap, bool mirrored)
{
    const int64_t size = (int64_t)wk_dtype_size(g->dtype);
    block b = {0};
    int64_t elements = 1, first = 0;
    for (int i = g->ndim - 1; i >= 0; i--) {
        const int d = order[i];
        b.strides[d] = elements * (1 + gap);
        elements *= (1 + gap) * g->shape[d];
        if (mirrored && d % 2) {
            first += b.strides[d] * (g->shape[d] - 1);
            b.strides[d] = -b.strides[d];
        }
    }
    b.memory = wk__alloc_zero((size_t)(elements + 1), (size_t)size);
    assert_non_null(b.memory);
    b.data = b.memory + (elements ? first * size : 0);
    for (int64_t i = 0; i < g->count; i++) {
        int64_t rest = i, offset = 0;
        for (int d = g->ndim - 1; d >= 0; d--) {
            offset += rest % g->shape[d] * b.strides[d];
            rest /= g->shape[d];
        }
        put(g->dtype, b.memory + (first + offset) * size, g->values[i]);
    }
    return b;
}

/* Lays out only the shown elements, densely, as a device sends them. */
static block lay_out_shown(const golden *g)
{
    const wk__shown_range shown = wk__print_shown(g->ndim, g->shape);
    block b = {0};
    int64_t total = 1;
    for (int d = 0; d < g->ndim; d++) total *= shown.count[d];
    b.memory = wk__alloc_zero((size_t)total + 1, wk_dtype_size(g->dtype));
    b.data = b.memory;
    for (int64_t i = 0; i < total; i++) {
        int64_t rest = i, from = 0, stride = 1;
        for (int d = g->ndim - 1; d >= 0; d--) {
            from += stride * wk__shown_index(&shown, d, g->shape[d], rest % shown.count[d]);
            rest /= shown.count[d];
            stride *= g->shape[d];
        }
        put(g->dtype, b.memory + i * (int64_t)wk_dtype_size(g->dtype), g->values[from]);
    }
    return b;
}

/* ---- the goldens ------------------------------------------------------------------------------------------------- */

static void print_difference(const char *name, const char *expected, const char *got)
{
    size_t same = 0, line = 1, begin = 0;
    for (; expected[same] && expected[same] == got[same]; same++) {
        if (expected[same] != '\n') continue;
        line++;
        begin = same + 1;
    }
    print_error("%s: line %zu differs at column %zu\n", name, line, same - begin);
    print_error("  expected  %.*s\n", (int)strcspn(expected + begin, "\n"), expected + begin);
    print_error("  got       %.*s\n", (int)strcspn(got + begin, "\n"), got + begin);
}

static int mismatch(const golden *g, const block *b, bool dense)
{
    const bool leaf = strcmp(g->grad, "leaf") == 0, none = strcmp(g->grad, "none") == 0;
    const wk__print_job job = {.dtype = g->dtype,
                               .ndim = g->ndim,
                               .shape = g->shape,
                               .strides = dense ? NULL : b->strides,
                               .data = b->data,
                               .grad_fn = leaf || none ? NULL : g->grad,
                               .requires_grad = !none};
    wk__text got = {0};
    wk__print_format(&got, &job);
    assert_false(got.failed);
    const bool differs = strcmp(got.data, g->text.data) != 0;
    if (differs) print_difference(g->name, g->text.data, got.data);
    wk__text_free(&got);
    wk__free(b->memory);
    return differs;
}

static const int outer_first[] = {0, 1, 2, 3, 4, 5, 6, 7};

static int mismatches_as_stored(void)
{
    static const int swapped[] = {1, 0};
    int count = 0;
    for (int i = 0; i < golden_count; i++) {
        const block b = lay_out(&goldens[i], goldens[i].transposed ? swapped : outer_first, 0, false);
        count += mismatch(&goldens[i], &b, false);
    }
    return count;
}

static void test_goldens(void **state)
{
    (void)state;
    assert_int_equal(golden_count, 135);
    assert_int_equal(mismatches_as_stored(), 0);
}

static void test_any_strides(void **state)
{
    (void)state;
    int count = 0;
    for (int i = 0; i < golden_count; i++) {
        int inner_first[WK__MAX_DIMS];
        for (int d = 0; d < goldens[i].ndim; d++) inner_first[d] = goldens[i].ndim - 1 - d;
        const block spaced = lay_out(&goldens[i], outer_first, 2, true);
        const block reversed = lay_out(&goldens[i], inner_first, 1, true);
        count += mismatch(&goldens[i], &spaced, false) + mismatch(&goldens[i], &reversed, false);
    }
    assert_int_equal(count, 0);
}

static void test_shown_alone(void **state)
{
    (void)state;
    int count = 0;
    for (int i = 0; i < golden_count; i++) {
        const block b = lay_out_shown(&goldens[i]);
        count += mismatch(&goldens[i], &b, true);
    }
    assert_int_equal(count, 0);
}

/* A locale with a decimal comma; the test runner sets LOCPATH to a folder with the compiled locale. */
static void test_locale(void **state)
{
    (void)state;
    if (!setlocale(LC_ALL, "de_DE.UTF-8")) skip();
    char comma[8];
    snprintf(comma, sizeof comma, "%.1f", 1.5);
    const int count = mismatches_as_stored();
    setlocale(LC_ALL, "C");
    assert_string_equal(comma, "1,5");
    assert_int_equal(count, 0);
}

/* ---- additional cases -------------------------------------------------------------------------------------------- */

static void assert_prints(const wk__print_job *job, const char *expected)
{
    wk__text got = {0};
    wk__text_add(&got, "x = "); /* a preceding text must not count for the width of the line */
    wk__print_format(&got, job);
    assert_false(got.failed);
    if (strcmp(got.data + 4, expected) != 0) print_difference("own case", expected, got.data + 4);
    assert_string_equal(got.data + 4, expected);
    wk__text_free(&got);
}

static void test_device(void **state)
{
    (void)state;
    static const float values[12] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
    const int64_t shape[] = {2, 3};
    wk__print_job job = {.dtype = WK_F32, .ndim = 2, .shape = shape, .data = values, .device = "opencl:0"};
    assert_prints(&job, "tensor([[1., 2., 3.],\n        [4., 5., 6.]], device='opencl:0')");
    job.requires_grad = true;
    assert_prints(&job, "tensor([[1., 2., 3.],\n        [4., 5., 6.]], device='opencl:0', requires_grad=True)");
    job.grad_fn = "MulBackward0";
    assert_prints(&job, "tensor([[1., 2., 3.],\n        [4., 5., 6.]], device='opencl:0', grad_fn=<MulBackward0>)");

    static const double wide[2] = {1.5, 2.5};
    job = (wk__print_job){.dtype = WK_F64, .ndim = 1, .shape = shape, .data = wide, .device = "cuda:1"};
    assert_prints(&job, "tensor([1.5000, 2.5000], device='cuda:1', dtype=torch.float64)");
    job.requires_grad = true; /* 63 characters by PyTorch's count, and 20 more */
    assert_prints(&job, "tensor([1.5000, 2.5000], device='cuda:1', dtype=torch.float64,\n       requires_grad=True)");

    const int64_t empty[] = {0, 3};
    job = (wk__print_job){.dtype = WK_I64, .ndim = 2, .shape = empty, .device = "opencl:1"};
    assert_prints(&job, "tensor([], device='opencl:1', size=(0, 3), dtype=torch.int64)");
}

/* Rule: length of the last line + 2, plus length of the suffix + 2, must not exceed 80. */
static void test_suffix_wraps(void **state)
{
    (void)state;
    char name[64] = "";
    const int64_t shape[] = {1};
    const float one = 1;
    wk__print_job job = {.dtype = WK_F32, .ndim = 1, .shape = shape, .data = &one, .grad_fn = name};
    /* "tensor([1.]" 11 + 2, "grad_fn=<>" 10 + 2: 55 letters fill the line */
    memset(name, 'x', 55);
    char expected[128];
    snprintf(expected, sizeof expected, "tensor([1.], grad_fn=<%s>)", name);
    assert_prints(&job, expected);
    name[55] = 'x';
    snprintf(expected, sizeof expected, "tensor([1.],\n       grad_fn=<%s>)", name);
    assert_prints(&job, expected);
}

static void test_half_scalars(void **state)
{
    (void)state;
    static const struct {
        wk_dtype dtype;
        uint16_t bits;
        const char *text;
    } cases[] = {
        {WK_F16, 0x3C00, "tensor(1., dtype=torch.float16)"},
        {WK_F16, 0x8000, "tensor(-0., dtype=torch.float16)"},
        {WK_F16, 0x0001, "tensor(5.9605e-08, dtype=torch.float16)"},
        {WK_F16, 0x03FF, "tensor(6.0976e-05, dtype=torch.float16)"},
        {WK_F16, 0x0400, "tensor(6.1035e-05, dtype=torch.float16)"},
        {WK_F16, 0x7BFF, "tensor(65504., dtype=torch.float16)"},
        {WK_F16, 0xFC00, "tensor(-inf, dtype=torch.float16)"},
        {WK_F16, 0xFE00, "tensor(nan, dtype=torch.float16)"},
        {WK_F16, 0xB555, "tensor(-0.3333, dtype=torch.float16)"},
        {WK_BF16, 0x3F80, "tensor(1., dtype=torch.bfloat16)"},
        {WK_BF16, 0x3EAB, "tensor(0.3340, dtype=torch.bfloat16)"},
        {WK_BF16, 0x7F7F, "tensor(3.3895e+38, dtype=torch.bfloat16)"},
        {WK_BF16, 0x0001, "tensor(9.1835e-41, dtype=torch.bfloat16)"},
        {WK_BF16, 0x7F80, "tensor(inf, dtype=torch.bfloat16)"},
        {WK_BF16, 0xFFC0, "tensor(nan, dtype=torch.bfloat16)"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const wk__print_job job = {.dtype = cases[i].dtype, .data = &cases[i].bits};
        assert_prints(&job, cases[i].text);
    }
}

static void test_eight_dimensions(void **state)
{
    (void)state;
    static const int64_t values[2] = {3, -4};
    int64_t shape[WK__MAX_DIMS] = {1, 1, 1, 1, 1, 1, 1, 2};
    wk__print_job job = {.dtype = WK_I64, .ndim = WK__MAX_DIMS, .shape = shape, .data = values};
    assert_prints(&job, "tensor([[[[[[[[ 3, -4]]]]]]]])");
    shape[0] = 2;
    shape[7] = 1;
    assert_prints(&job, "tensor([[[[[[[[ 3]]]]]]],\n\n\n\n\n\n\n        [[[[[[[-4]]]]]]]])");
    shape[5] = 0;
    assert_prints(&job, "tensor([], size=(2, 1, 1, 1, 1, 0, 1, 1), dtype=torch.int64)");
}

static void test_integer_ends(void **state)
{
    (void)state;
    static const int64_t ends[] = {INT64_MIN, INT64_MAX};
    const int64_t shape[] = {2};
    wk__print_job job = {.dtype = WK_I64, .ndim = 1, .shape = shape, .data = ends};
    assert_prints(&job, "tensor([-9223372036854775808,  9223372036854775807])");
    static const uint8_t bytes[] = {255, 0};
    job.data = bytes;
    job.dtype = WK_U8;
    assert_prints(&job, "tensor([255,   0], dtype=torch.uint8)");
    job.dtype = WK_I8;
    assert_prints(&job, "tensor([-1,  0], dtype=torch.int8)");
    job.dtype = WK_BOOL;
    assert_prints(&job, "tensor([ True, False])");
}

/* One element expanded to a shape whose element count overflows; six by six elements are read. */
static void test_expanded(void **state)
{
    (void)state;
    const int64_t shape[] = {INT64_MAX, INT64_MAX}, strides[] = {0, 0};
    const float value = 0.5F;
    const wk__print_job job = {.dtype = WK_F32, .ndim = 2, .shape = shape, .strides = strides, .data = &value};
    const char *row = "[0.5000, 0.5000, 0.5000,  ..., 0.5000, 0.5000, 0.5000]";
    char expected[512];
    snprintf(expected, sizeof expected,
             "tensor([%s,\n        %s,\n        %s,\n        ...,\n        %s,\n        %s,\n        %s])", row, row,
             row, row, row, row);
    assert_prints(&job, expected);
}

/* Each style, and the values at its limits. */
static void test_styles(void **state)
{
    (void)state;
    static const struct {
        double values[2];
        const char *text;
    } cases[] = {
        {{1, 1000}, "tensor([   1., 1000.])"},
        {{1, 1001}, "tensor([1.0000e+00, 1.0010e+03])"},
        {{1e8, 1e8}, "tensor([100000000., 100000000.])"},
        {{100000001, 1e8}, "tensor([1.0000e+08, 1.0000e+08])"},
        {{0.5, 500}, "tensor([  0.5000, 500.0000])"},
        {{0.5, 500.5}, "tensor([5.0000e-01, 5.0050e+02])"},
        {{0.0001, 0.0001}, "tensor([0.0001, 0.0001])"},
        {{0.00009, 0.00009}, "tensor([9.0000e-05, 9.0000e-05])"},
        {{1e-300, (double)NAN}, "tensor([1.0000e-300,         nan])"},
        {{0.25, (double)-INFINITY}, "tensor([0.2500,   -inf])"},
        {{0, (double)INFINITY}, "tensor([0., inf])"},
        {{0.03125, 2.03125}, "tensor([0.0312, 2.0312])"}, /* ties round to the even digit */
    };
    const int64_t shape[] = {2};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const wk__print_job job = {.dtype = WK_F64, .ndim = 1, .shape = shape, .data = cases[i].values};
        char expected[128];
        const int length = (int)strlen(cases[i].text) - 1;
        snprintf(expected, sizeof expected, "%.*s, dtype=torch.float64)", length, cases[i].text);
        assert_prints(&job, expected);
    }
}

static void test_describe(void **state)
{
    (void)state;
    const int64_t shape[] = {1, 32};
    wk__text text = {0};
    wk__describe_format(&text, WK_F32, 2, shape, "cpu", true);
    wk__text_add(&text, "; ");
    wk__describe_format(&text, WK_BF16, 2, shape, NULL, false);
    wk__text_add(&text, "; ");
    wk__describe_format(&text, WK_I64, 0, NULL, "opencl:0", false);
    assert_string_equal(text.data, "f32[1,32] cpu requires_grad; bf16[1,32]; i64[] opencl:0");
    wk__text_free(&text);
}

/* With each allocation failing in turn the text is marked as incomplete, and nothing leaks. */
static void test_memory_short(void **state)
{
    (void)state;
    static const double values[40] = {0.5};
    const int64_t shape[] = {40}, empty[] = {2, 0};
    const wk__print_job jobs[] = {
        {.dtype = WK_F64, .ndim = 1, .shape = shape, .data = values, .device = "opencl:0", .requires_grad = true},
        {.dtype = WK_F64, .ndim = 2, .shape = empty},
    };
    for (size_t i = 0; i < sizeof jobs / sizeof *jobs; i++) {
        const int64_t before = wk__alloc_count();
        wk__text text = {0};
        wk__print_format(&text, &jobs[i]);
        wk__text_free(&text);
        const int64_t requests = wk__alloc_count() - before;
        assert_true(requests > 0);
        for (int64_t n = 1; n <= requests; n++) {
            wk__alloc_fail_at(n);
            wk__print_format(&text, &jobs[i]);
            wk__alloc_fail_at(0);
            assert_true(text.failed);
            wk__text_free(&text);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_goldens),      cmocka_unit_test(test_any_strides),
        cmocka_unit_test(test_shown_alone),  cmocka_unit_test(test_locale),
        cmocka_unit_test(test_device),       cmocka_unit_test(test_suffix_wraps),
        cmocka_unit_test(test_half_scalars), cmocka_unit_test(test_eight_dimensions),
        cmocka_unit_test(test_integer_ends), cmocka_unit_test(test_expanded),
        cmocka_unit_test(test_styles),       cmocka_unit_test(test_describe),
        cmocka_unit_test(test_memory_short),
    };
    return cmocka_run_group_tests_name("ops_print_goldens", tests, read_goldens, free_goldens);
}
