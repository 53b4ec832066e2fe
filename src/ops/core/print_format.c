/* SPDX-License-Identifier: Apache-2.0 */
/* Formats a tensor as text: style and width of the numbers, brackets and line breaks, and the suffixes. */
#include "print_format.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* PyTorch's default print options. */
enum { PRECISION = 4, THRESHOLD = 1000, EDGE = 3, LINE_WIDTH = 80 };

#define PREFIX "tensor("
enum { INDENT = sizeof PREFIX - 1, LONGEST_NUMBER = 400 };

typedef enum number_style { INTEGER, WHOLE, FIXED, SCIENTIFIC } number_style; /* 7   7.   7.0000   7.0000e+00 */

/* State of one formatting call. */
typedef struct printer {
    wk__text *out;
    const wk__print_job *job;
    wk__shown_range shown;
    int64_t step[WK__MAX_DIMS]; /* strides of data, in elements */
    int64_t at[WK__MAX_DIMS];   /* index of the current element among the shown ones */
    number_style style;
    int width;
} printer;

/* ---- selection of elements --------------------------------------------------------------------------------------- */

/* Returns the number of elements; above the threshold any number above it, so that nothing overflows. */
static int64_t elements_to_threshold(int ndim, const int64_t shape[])
{
    int64_t count = 1;
    for (int d = 0; d < ndim; d++) {
        if (shape[d] == 0) return 0;
        if (count <= THRESHOLD) count = shape[d] > THRESHOLD ? THRESHOLD + 1 : count * shape[d];
    }
    return count;
}

wk__shown_range wk__print_shown(int ndim, const int64_t shape[])
{
    const bool summarise = elements_to_threshold(ndim, shape) > THRESHOLD;
    wk__shown_range shown = {0};
    for (int d = 0; d < ndim; d++) {
        shown.gap[d] = summarise && shape[d] > 2 * EDGE;
        shown.count[d] = shown.gap[d] ? 2 * EDGE : shape[d];
    }
    return shown;
}

static const void *element(const printer *p)
{
    const wk__print_job *job = p->job;
    int64_t offset = 0;
    for (int d = 0; d < job->ndim; d++) {
        const int64_t k = p->at[d];
        offset += p->step[d] * (job->strides ? wk__shown_index(&p->shown, d, job->shape[d], k) : k);
    }
    return (const char *)job->data + offset * (int64_t)wk_dtype_size(job->dtype);
}

/* Advances to the next shown element. Returns the outermost dimension whose index increased; after the last element it
 * returns -1 and starts again at the first. */
static int advance(printer *p)
{
    int d = p->job->ndim - 1;
    while (d >= 0 && ++p->at[d] == p->shown.count[d]) p->at[d--] = 0;
    return d;
}

/* ---- one number -------------------------------------------------------------------------------------------------- */

static bool is_floating(wk_dtype dtype)
{
    return dtype == WK_F32 || dtype == WK_F64 || dtype == WK_F16 || dtype == WK_BF16;
}

static double half_value(uint16_t bits)
{
    const int exponent = bits >> 10 & 31, mantissa = bits & 1023;
    double value;
    if (exponent == 31) {
        value = mantissa ? (double)NAN : (double)INFINITY;
    } else if (exponent == 0) {
        value = ldexp(mantissa, -24);
    } else {
        value = ldexp(1024 + mantissa, exponent - 25);
    }
    return bits >> 15 ? -value : value;
}

static double floating_value(wk_dtype dtype, const void *at)
{
    uint16_t half;
    uint32_t bits;
    float single;
    double value;
    switch (dtype) {
    case WK_F64: memcpy(&value, at, sizeof value); return value;
    case WK_F16: memcpy(&half, at, sizeof half); return half_value(half);
    case WK_BF16:
        memcpy(&half, at, sizeof half);
        bits = (uint32_t)half << 16;
        memcpy(&single, &bits, sizeof single);
        return (double)single;
    default: memcpy(&single, at, sizeof single); return (double)single;
    }
}

static int64_t integer_value(wk_dtype dtype, const void *at)
{
    int16_t i16;
    int32_t i32;
    int64_t i64;
    switch (dtype) {
    case WK_I8: return *(const int8_t *)at;
    case WK_I16: memcpy(&i16, at, sizeof i16); return i16;
    case WK_I32: memcpy(&i32, at, sizeof i32); return i32;
    case WK_I64: memcpy(&i64, at, sizeof i64); return i64;
    default: return *(const uint8_t *)at;
    }
}

/* Writes the number without padding; returns its length. */
static int format_number(const printer *p, const void *at, char out[LONGEST_NUMBER])
{
    const wk_dtype dtype = p->job->dtype;
    if (dtype == WK_BOOL) return snprintf(out, LONGEST_NUMBER, "%s", integer_value(dtype, at) ? "True" : "False");
    if (p->style == INTEGER) return snprintf(out, LONGEST_NUMBER, "%lld", (long long)integer_value(dtype, at));

    const double value = floating_value(dtype, at);
    if (p->style == SCIENTIFIC) return wk__format_double(out, LONGEST_NUMBER, value, 'e', PRECISION);
    if (p->style == FIXED) return wk__format_double(out, LONGEST_NUMBER, value, 'f', PRECISION);
    int length = wk__format_double(out, LONGEST_NUMBER, value, 'f', 0);
    if (isfinite(value)) out[length++] = '.';
    return length;
}

/* Zeros, infinities and NaN do not affect style and width, so columns with them may be ragged, as in PyTorch. */
static bool affects_width(const printer *p, const void *at)
{
    if (!is_floating(p->job->dtype)) return true;
    const double value = floating_value(p->job->dtype, at);
    return isfinite(value) && value != 0;
}

static number_style floating_style(printer *p)
{
    double least = INFINITY, greatest = 0;
    bool whole = true;
    do {
        const void *at = element(p);
        if (!affects_width(p, at)) continue;
        const double size = fabs(floating_value(p->job->dtype, at));
        least = fmin(least, size);
        greatest = fmax(greatest, size);
        whole = whole && size == ceil(size);
    } while (advance(p) >= 0);

    if (greatest / least > 1000 || greatest > 1e8 || (!whole && least < 1e-4)) return SCIENTIFIC;
    return whole ? WHOLE : FIXED;
}

static void choose_style(printer *p)
{
    p->style = is_floating(p->job->dtype) ? floating_style(p) : INTEGER;
    p->width = 1;
    do {
        char number[LONGEST_NUMBER];
        const void *at = element(p);
        const int length = affects_width(p, at) ? format_number(p, at, number) : 0;
        if (length > p->width) p->width = length;
    } while (advance(p) >= 0);
}

/* ---- all numbers ------------------------------------------------------------------------------------------------- */

static void add_number(const printer *p)
{
    char number[LONGEST_NUMBER];
    const int length = format_number(p, element(p), number);
    wk__text_repeat(p->out, ' ', p->width - length);
    wk__text_add_n(p->out, number, length);
}

/* Writes the separator after the n-th item of a row. */
static void separate_items(const printer *p, int64_t n)
{
    const int ndim = p->job->ndim;
    const int64_t a_line = (LINE_WIDTH - (INDENT + ndim - 1)) / (p->width + 2);
    if (a_line > 1 && n % a_line != 0) {
        wk__text_add(p->out, ", ");
    } else {
        wk__text_add(p->out, ",\n");
        wk__text_repeat(p->out, ' ', INDENT + ndim);
    }
}

/* Writes the separator between two slices of dimension `dim`: one empty line per additional dimension. */
static void separate_slices(const printer *p, int dim)
{
    wk__text_repeat(p->out, ',', 1);
    wk__text_repeat(p->out, '\n', p->job->ndim - 1 - dim);
    wk__text_repeat(p->out, ' ', INDENT + dim + 1);
}

static void add_numbers(printer *p)
{
    const int ndim = p->job->ndim;
    int64_t items = 0; /* items of the row so far */
    int rose;
    wk__text_repeat(p->out, '[', ndim);
    for (;;) {
        add_number(p);
        items++;
        rose = advance(p);
        if (rose < 0) break;

        const bool gap = p->shown.gap[rose] && p->at[rose] == EDGE;
        if (rose == ndim - 1) {
            separate_items(p, items);
            if (gap) {
                wk__text_add(p->out, " ...");
                separate_items(p, ++items);
            }
            continue;
        }
        wk__text_repeat(p->out, ']', ndim - 1 - rose);
        separate_slices(p, rose);
        if (gap) {
            wk__text_add(p->out, "...");
            separate_slices(p, rose);
        }
        wk__text_repeat(p->out, '[', ndim - 1 - rose);
        items = 0;
    }
    wk__text_repeat(p->out, ']', ndim);
}

/* ---- suffixes ---------------------------------------------------------------------------------------------------- */

static int64_t last_line_length(const wk__text *text, int64_t begin)
{
    int64_t at = text->length;
    while (at > begin && text->data[at - 1] != '\n') at--;
    return text->length - at;
}

/* Appends ", suffix", on a new line if the present one is full. `line`: length of the last line. PyTorch starts
 * counting two too high and does not count the comma of a new line; this function does the same. */
__attribute__((format(printf, 3, 4))) static void add_suffix(wk__text *out, int64_t *line, const char *format, ...)
{
    wk__text suffix = {0};
    va_list args;
    va_start(args, format);
    wk__text_vformat(&suffix, format, args);
    va_end(args);

    if (*line + suffix.length + 2 > LINE_WIDTH) {
        wk__text_add(out, ",\n");
        wk__text_repeat(out, ' ', INDENT);
        *line = INDENT + suffix.length;
    } else {
        wk__text_add(out, ", ");
        *line += suffix.length + 2;
    }
    if (suffix.data) wk__text_add_n(out, suffix.data, suffix.length);
    out->failed = out->failed || suffix.failed;
    wk__text_free(&suffix);
}

static void add_size(wk__text *out, int64_t *line, int ndim, const int64_t shape[])
{
    wk__text size = {0};
    for (int d = 0; d < ndim; d++) wk__text_format(&size, d ? ", %lld" : "%lld", (long long)shape[d]);
    add_suffix(out, line, "size=(%s)", size.data ? size.data : "");
    out->failed = out->failed || size.failed;
    wk__text_free(&size);
}

static const char *long_name(wk_dtype dtype)
{
    static const char *const names[WK_DTYPE_COUNT] = {
        [WK_F32] = "float32", [WK_F64] = "float64", [WK_F16] = "float16", [WK_BF16] = "bfloat16", [WK_I8] = "int8",
        [WK_U8] = "uint8",    [WK_I16] = "int16",   [WK_I32] = "int32",   [WK_I64] = "int64",     [WK_BOOL] = "bool",
    };
    return names[dtype];
}

void wk__print_format(wk__text *out, const wk__print_job *job)
{
    const int64_t begin = out->length;
    const bool empty = elements_to_threshold(job->ndim, job->shape) == 0;
    wk__text_add(out, PREFIX);
    if (empty) {
        wk__text_add(out, "[]");
    } else {
        printer p = {.out = out, .job = job, .shown = wk__print_shown(job->ndim, job->shape)};
        int64_t dense = 1;
        for (int d = job->ndim - 1; d >= 0; d--) {
            p.step[d] = job->strides ? job->strides[d] : dense;
            dense *= p.shown.count[d];
        }
        choose_style(&p);
        add_numbers(&p);
    }

    int64_t line = last_line_length(out, begin) + 2;
    if (job->device) add_suffix(out, &line, "device='%s'", job->device);
    if (empty && job->ndim != 1) add_size(out, &line, job->ndim, job->shape);
    /* The values show that the dtype is i64 or bool, unless there are none. */
    const bool obvious = job->dtype == WK_F32 || (!empty && (job->dtype == WK_I64 || job->dtype == WK_BOOL));
    if (!obvious) add_suffix(out, &line, "dtype=torch.%s", long_name(job->dtype));
    if (job->grad_fn) {
        add_suffix(out, &line, "grad_fn=<%s>", job->grad_fn);
    } else if (job->requires_grad) {
        add_suffix(out, &line, "requires_grad=True");
    }
    wk__text_add(out, ")");
}

void wk__describe_format(wk__text *out, wk_dtype dtype, int ndim, const int64_t shape[], const char *device,
                         bool requires_grad)
{
    wk__text_format(out, "%s[", wk_dtype_str(dtype));
    for (int d = 0; d < ndim; d++) wk__text_format(out, d ? ",%lld" : "%lld", (long long)shape[d]);
    wk__text_add(out, "]");
    if (device) wk__text_format(out, " %s", device);
    if (requires_grad) wk__text_add(out, " requires_grad");
}
