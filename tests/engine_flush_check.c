/* SPDX-License-Identifier: Apache-2.0 */
/* What a file of a flush may say of a record is what the row of its family promises: a number that is changed in a good
 * flush makes it a bad one. */
#include "support_flush.h"

#include "engine/flush_check.h"

static wk__flush_data flush;

static int set_up(void **state)
{
    if (spoil_checked(state)) return -1;
    make_flush(&flush);
    return 0;
}

static int tear_down(void **state)
{
    wk__flush_end(&flush);
    return spoil_unchecked(state);
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
    if (wk__flush_check(&flush, &error) != WK_OK) fail_msg("%s", error.text);
}

static const char *const no_kind = "has a kind of work that there is not";

static void expect_bad(const char *why)
{
    wk__io_error error = {0};
    assert_int_equal(wk__flush_check(&flush, &error), WK_ERR_FORMAT);
    if (!strstr(error.text, why)) fail_msg("%s", error.text);
}

static const int kernels[] = {WK__CONTRACTION, WK__SCATTER_ADD, WK__SCAN, WK__SORT};
enum { KERNELS = sizeof kernels / sizeof *kernels };

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

/* One more is one too many, and the last is as good as the first. */
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
        r->bound = -1;
        expect_bad(no_kind);
        r->bound = was.bound;
    }
    expect_good();
}

/* i32 for f32, f64 for i64: as many bytes, so that nothing else is wrong with it. */
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

/* The result of a contraction has any dtype. Its factors lie as far as its sum reaches. */
static void sums(void **state)
{
    (void)state;
    const wk__flush_record *f = first_of(WK__CONTRACTION);
    wk__record *r = f->record;
    wk__sum *sum = wk__record_sum(r);
    r->ref[0].dtype = WK_I32;
    expect_good();
    r->ref[0].dtype = WK_F32;
    sum->dtype = WK_F16;
    expect_bad(no_kind);
    sum->dtype = WK_F32;
    const int64_t stride = sum->stride[0][0];
    sum->stride[0][0] = flush.value[f->value[1]].bytes;
    expect_bad("reaches outside of its value");
    sum->stride[0][0] = stride;
    expect_good();
}

/* Nobody records work of a team yet, so that no file holds any. */
static void no_teams(void **state)
{
    (void)state;
    wk__record *r = first_of(WK__SCAN)->record;
    r->family = WK__COLLECTIVE;
    expect_bad(no_kind);
    r->family = WK__SCAN;
    expect_good();
}

/* A scan, as a copy from another device: that is a good one, of as many bytes in one dtype, and a scan is none. */
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
    r->dim = (int8_t)r->ndim; /* means nothing */
    expect_good();
    r->mode = r->dim = 0;
    r->ref[1].dtype = WK_I32;
    expect_bad(no_kind);
    r->ref[1].dtype = WK_F32;
    out->bytes *= 2;
    expect_bad("a copy of more than there is");
    out->bytes /= 2;
    out->device = test_null();
    expect_good();
    r->family = WK__SCAN;
    expect_bad("operands of several devices");
    out->device = here;
    expect_good();
}

#define ONE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        ONE(counts_of_operands), ONE(modes_and_dimensions),   ONE(dtypes_of_operands), ONE(sums),
        ONE(no_teams),           ONE(copies_between_devices),
    };
    setenv("WICK_CHECK_DIR", folder(), 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
