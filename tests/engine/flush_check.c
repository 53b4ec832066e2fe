/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the validation of a flush read from a file: each value of a record must satisfy the row of its family, so
 * changing one value of a valid flush makes it invalid. */
#include "support/flush.h"

#include "engine/replay/flush_validate.h"

static wk__flush_data flush;

static int set_up(void **state)
{
    if (corrupt_setup(state)) return -1;
    make_flush(&flush);
    return 0;
}

static int tear_down(void **state)
{
    wk__flush_free(&flush);
    return corrupt_teardown(state);
}

static wk__flush_record *first_of(int family)
{
    for (int64_t k = 0; k < flush.records; k++)
        if (flush.record[k].record->family == family) return &flush.record[k];
    fail_msg("no record of %s", wk__work_name(family));
    return NULL;
}

static void expect_good(void)
{
    wk__io_error error = {0};
    if (wk__flush_validate(&flush, &error) != WK_OK) fail_msg("%s", error.text);
}

static const char *const no_kind = "has an unknown kind of work";

static void expect_bad(const char *why)
{
    wk__io_error error = {0};
    assert_int_equal(wk__flush_validate(&flush, &error), WK_ERR_FORMAT);
    if (!strstr(error.text, why)) fail_msg("%s", error.text);
}

static const int kernels[] = {WK__CONTRACTION, WK__SCATTER_ADD, WK__SCAN, WK__SORT};
enum { KERNELS = sizeof kernels / sizeof *kernels, KERNELS_AND_PROGRAMS };

/* Replaces a value by an invalid one, expects a refusal, and restores it. */
#define EXPECT_BAD(number, other, why)                                                                                 \
    do {                                                                                                               \
        const int64_t was_ = (int64_t)(number);                                                                        \
        (number) = (__typeof__(number))(other);                                                                        \
        expect_bad(why);                                                                                               \
        (number) = (__typeof__(number))was_;                                                                           \
    } while (0)

static const int64_t most = (int64_t)1 << 56; /* largest number of elements */
static const char *const no_space = "a space that is too large", *const no_operand = "an operand that is missing",
                         *const no_result = "a result that existed before", *const no_prior = "an overwritten value";

/* Returns an element-wise program over two dimensions with these properties. */
static wk__flush_record *program_with(bool reduces, bool partial, bool indirect)
{
    for (int64_t k = 0; k < flush.records; k++) {
        const wk__record *r = flush.record[k].record;
        if (r->family == WK__PROGRAM && wk__record_reduces(r) == reduces && r->partial == partial &&
            r->has_indirect_read == indirect && r->ndim == 2 && flush.record[k].value[r->nout] >= 0)
            return &flush.record[k];
    }
    fail_msg("no such program");
    return NULL;
}

static void programs(void **state)
{
    (void)state;
    wk__record *r = program_with(false, false, false)->record;
    EXPECT_BAD(r->compute, 0, no_kind);
    EXPECT_BAD(r->compute, WK_DTYPE_COUNT, no_kind);
    EXPECT_BAD(r->nout, 2, no_kind);
    EXPECT_BAD(r->reduce_mask, 1 << r->ndim, no_kind);
    char call[32];
    snprintf(call, sizeof call, "call %d has", (int)(program_with(false, false, false) - flush.record) + 1);
    EXPECT_BAD(r->compute, 0, call);
    const wk__flush_record *f = program_with(true, false, false);
    EXPECT_BAD(f->op->op.reduction, WK__RSUM - 1, no_kind);
    EXPECT_BAD(f->op->op.reduction, WK__OPCODE_COUNT, no_kind);
    EXPECT_BAD(f->record->nin, 0, no_kind);
    expect_good();
}

static void spaces(void **state)
{
    (void)state;
    for (int k = 0; k < KERNELS_AND_PROGRAMS; k++) {
        const wk__flush_record *f = k < KERNELS ? first_of(kernels[k]) : program_with(false, false, false);
        int64_t *shape = wk__record_shape(f->record);
        EXPECT_BAD(shape[0], -1, "has a");
        EXPECT_BAD(shape[0], most + 1, "has a");
        EXPECT_BAD(shape[0], INT64_MAX, "has a");
        EXPECT_BAD(shape[0], most / 2, "has a");
    }
    wk__record *r = program_with(false, false, false)->record;
    EXPECT_BAD(wk__record_shape(r)[1], -1, no_space);
    EXPECT_BAD(wk__record_shape(r)[1], most, no_space);
    wk__record_shape(r)[0] = 0; /* an empty space: offsets do not matter */
    EXPECT_BAD(wk__record_shape(r)[1], most + 1, no_space);
    wk__record_shape(r)[0] = 3;
    expect_good();
}

/* One element beyond the limit at each end; far beyond; so far that the sum overflows. */
static void reaches(void **state)
{
    (void)state;
    wk__flush_record *f = program_with(false, false, false);
    wk__record *r = f->record;
    int64_t *stride = wk__record_stride(r, r->nout), *offset = &r->ref[r->nout].offset;
    EXPECT_BAD(*offset, *offset - 1, no_operand);
    EXPECT_BAD(*offset, *offset + 1, no_operand);
    EXPECT_BAD(*offset, INT64_MAX, no_operand);
    EXPECT_BAD(*offset, INT64_MIN, no_operand);
    EXPECT_BAD(stride[0], stride[0] + 1, no_operand);
    EXPECT_BAD(stride[0], -1, no_operand);
    EXPECT_BAD(stride[0], INT64_MAX, no_operand);
    EXPECT_BAD(stride[0], most, no_operand);
    EXPECT_BAD(stride[0], -most, no_operand);
    wk__record_shape(r)[1] = 0; /* an empty space: offsets do not matter */
    *offset += 1000;
    expect_good();
    *offset -= 1000;
    wk__record_shape(r)[1] = 4;
    EXPECT_BAD(r->ref[0].offset, 1, no_result);
    EXPECT_BAD(wk__record_stride(r, 0)[0], most, no_result);
    expect_good();
    const wk__contraction *sum = wk__record_sum(first_of(WK__CONTRACTION)->record);
    wk__contraction *changed = wk__record_sum(first_of(WK__CONTRACTION)->record);
    EXPECT_BAD(changed->stride[1][0], sum->stride[1][0] + 1, no_operand);
    EXPECT_BAD(changed->extent[0], most, "has a");
    EXPECT_BAD(changed->extent[0], INT64_MAX, "has a");
    expect_good();
}

/* The use of a value, and the values used. */
static void operands_and_results(void **state)
{
    (void)state;
    wk__flush_record *f = program_with(false, false, false);
    wk__record *r = f->record;
    int32_t *in = &f->value[r->nout], *out = &f->value[0];
    EXPECT_BAD(r->ref[0].dtype, 0, no_result);
    EXPECT_BAD(r->ref[0].dtype, WK_DTYPE_COUNT, no_result);
    EXPECT_BAD(*in, flush.values, no_operand);
    EXPECT_BAD(*in, -1, no_operand);
    EXPECT_BAD(*in, *out, no_operand);
    EXPECT_BAD(*out, -1, no_result);
    EXPECT_BAD(*out, *in, no_result);
    EXPECT_BAD(r->ref[0].flags, WK__REF_OWN_CLASS, no_result);
    EXPECT_BAD(r->ref[r->nout].flags, WK__REF_IMM, no_operand);
    EXPECT_BAD(r->ref[r->nout].flags, WK__REF_IMM_INDEX, no_operand);
    for (int k = 0; k < KERNELS; k++) {
        wk__flush_record *kernel = first_of(kernels[k]);
        EXPECT_BAD(kernel->record->ref[kernel->record->nout].flags, WK__REF_OWN_CLASS, no_operand);
        EXPECT_BAD(kernel->value[kernel->record->nout], -1, no_operand);
    }
    f = first_of(WK__SORT); /* the larger of the two is large enough for both */
    EXPECT_BAD(f->value[0], f->value[1], "two results in one value");
    expect_good();
}

static void overwritten_values(void **state)
{
    (void)state;
    wk__flush_record *f = program_with(false, true, false);
    const int32_t prior = f->prior, out = f->value[0];
    EXPECT_BAD(f->prior, -1, no_prior);
    EXPECT_BAD(f->prior, flush.values, no_prior);
    EXPECT_BAD(f->prior, out, no_prior);
    EXPECT_BAD(flush.value[out].bytes, flush.value[prior].bytes + 64, no_prior);
    EXPECT_BAD(flush.value[out].device.kind, WK_NULL, no_prior);
    EXPECT_BAD(flush.value[out].device.index, 1, no_prior);
    expect_good();
}

/* Indices of an indirect read are values of integers within the flush. */
static void computed_indices(void **state)
{
    (void)state;
    wk__record *r = program_with(false, false, true)->record;
    int raw = r->nout;
    while (!(r->ref[raw].flags & WK__REF_IMM_INDEX)) raw++;
    int64_t *bound = &r->ref[raw].imm.i, *stride = &r->ref[raw + 1].imm.i;
    const char *const none = "an unsorted axis of a program";
    assert_int_equal(*bound, 3);
    EXPECT_BAD(*bound, 4, "an operand that ends after its memory");
    EXPECT_BAD(*stride, -*stride, "an operand that starts before its memory");
    EXPECT_BAD(*bound, most + 1, none);
    EXPECT_BAD(*bound, -most - 1, none);
    EXPECT_BAD(*stride, most, none);
    EXPECT_BAD(*stride, -most, none);
    EXPECT_BAD(*stride, INT64_MAX, none);
    expect_good();
}

static void counts_of_operands(void **state)
{
    (void)state;
    expect_good();
    for (int k = 0; k < KERNELS; k++) {
        wk__record *r = first_of(kernels[k])->record;
        r->nin--;
        expect_bad(no_kind);
        r->nin++;
        r->nout--;
        expect_bad(no_kind);
        r->nout++;
        r->partial = !r->partial;
        expect_bad(no_kind);
        r->partial = !r->partial;
        r->reduce_mask = 1;
        expect_bad(no_kind);
        r->reduce_mask = 0;
    }
    expect_good();
}

/* One more is too many; the last valid value is accepted. */
static void modes_and_dimensions(void **state)
{
    (void)state;
    static const int modes[] = {0, 1, 2, 2};
    for (int k = 1; k < KERNELS; k++) {
        wk__record *r = first_of(kernels[k])->record;
        const wk__record was = *r;
        r->mode = (int8_t)(modes[k] - 1);
        expect_good();
        r->mode = (int8_t)modes[k];
        expect_bad(no_kind);
        r->mode = was.mode;
        r->dim = (int8_t)r->ndim;
        expect_bad(no_kind);
        r->dim = was.dim;
        EXPECT_BAD(r->mode, -1, no_kind);
        EXPECT_BAD(r->dim, -1, no_kind);
        EXPECT_BAD(r->bound, -1, no_kind);
        EXPECT_BAD(r->bound, most + 1, no_kind);
    }
    expect_good();
}

/* i32 for f32, f64 for i64: the same size, so nothing else is invalid. */
static void dtypes_of_operands(void **state)
{
    (void)state;
    static const int like[] = {0, 2, 1, 2}, places[] = {-1, 1, -1, 1};
    for (int k = 1; k < KERNELS; k++) {
        wk__record *r = first_of(kernels[k])->record;
        assert_int_equal(r->ref[like[k]].dtype, WK_F32);
        r->ref[like[k]].dtype = WK_I32;
        expect_bad(no_kind);
        r->ref[like[k]].dtype = WK_F32;
        if (places[k] < 0) continue;
        assert_int_equal(r->ref[places[k]].dtype, WK_I64);
        r->ref[places[k]].dtype = WK_F64;
        expect_bad(no_kind);
        r->ref[places[k]].dtype = WK_I64;
    }
    expect_good();
}

/* The result of a contraction may have any dtype. Its factors extend as far as its sum. */
static void contraction_sums(void **state)
{
    (void)state;
    const wk__flush_record *f = first_of(WK__CONTRACTION);
    wk__record *r = f->record;
    wk__contraction *sum = wk__record_sum(r);
    r->ref[0].dtype = WK_I32;
    expect_good();
    r->ref[0].dtype = WK_F32;
    sum->dtype = WK_F16;
    expect_bad(no_kind);
    sum->dtype = WK_F32;
    const int64_t stride = sum->stride[0][0];
    sum->stride[0][0] = flush.value[f->value[1]].bytes;
    expect_bad("extends past its value");
    sum->stride[0][0] = stride;
    expect_good();
}

/* A scan record changed into a copy between devices is valid as long as sizes and dtypes agree. */
static void copies_between_devices(void **state)
{
    (void)state;
    const wk__flush_record *f = first_of(WK__SCAN);
    wk__flush_value *out = &flush.value[f->value[0]];
    wk__record *r = f->record;
    const wk_device here = out->device;
    r->family = WK__TRANSFER;
    expect_good();
    r->nin--;
    expect_bad(no_kind);
    r->nin++;
    r->nout--;
    expect_bad(no_kind);
    r->nout++;
    r->partial = true;
    expect_bad(no_kind);
    r->partial = false;
    r->mode = 7;
    r->dim = (int8_t)r->ndim; /* has no meaning */
    expect_good();
    r->mode = r->dim = 0;
    r->ref[1].dtype = WK_I32;
    expect_bad(no_kind);
    r->ref[1].dtype = WK_F32;
    out->bytes *= 2;
    expect_bad("a copy past the end of its source");
    out->bytes /= 2;
    out->device = test_null();
    expect_good();
    r->family = WK__SCAN;
    expect_bad("operands on several devices");
    out->device = here;
    expect_good();
}

#define ONE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        ONE(counts_of_operands),
        ONE(modes_and_dimensions),
        ONE(dtypes_of_operands),
        ONE(contraction_sums),
        ONE(copies_between_devices),
        ONE(programs),
        ONE(spaces),
        ONE(reaches),
        ONE(operands_and_results),
        ONE(overwritten_values),
        ONE(computed_indices),
    };
    setenv("WICK_CHECK_DIR", folder(), 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
