/* SPDX-License-Identifier: Apache-2.0 */
/* Implements wick.h. */
#include "wick.h"

#include "backend/null/null.h"
#include "engine/op_queue.h"
#include <math.h>

wk_device test_null(void)
{
    return (wk_device){.kind = WK_NULL};
}

static wk__engine_config mode_before;

int test_default_mode(void **state)
{
    (void)state;
    mode_before = *wk__engine_config_get();
    wk__engine_config_set(false, false);
    return 0;
}

int test_restore_mode(void **state)
{
    (void)state;
    wk__engine_config_set(mode_before.sync, mode_before.nofuse);
    return 0;
}

int test_clean(void **state)
{
    (void)state;
    wk__null_clear_faults();
    for (int k = 0; k < 2; k++) wk_clear_error(), wk_sync();
    wk_clear_error();
    return 0;
}

void expect_ok(void)
{
    if (wk_error()) fail_msg("unexpected error: %s", wk_error());
}

void expect_error(const char *word, ...)
{
    va_list args;
    if (!wk_error()) fail_msg("expected an error with \"%s\", got none", word);
    va_start(args, word);
    for (const char *next = word; next; next = va_arg(args, const char *))
        if (!strstr(wk_error(), next)) fail_msg("\"%s\" is missing in: %s", next, wk_error());
    va_end(args);
    if (strstr(wk_error(), "(null)")) fail_msg("the message has a NULL name: %s", wk_error());
    wk_clear_error();
}

void expect_failure(bool result, const char *text)
{
    if (result) fail_msg("expected an error with \"%s\", got a result", text);
    expect_error(text, NULL);
}

wk_tensor *test_matrix(int rows, int columns)
{
    return wk_reshape(wk_arange(rows * columns, .dtype = WK_F32), (rows, columns));
}

void expect_values(wk_tensor *x, int count, const double *values, double tolerance)
{
    WK_SCOPE;
    expect_ok();
    assert_non_null(x);
    assert_int_equal(wk_numel(x), count);
    double *have = calloc((size_t)count + 1, sizeof *have);
    assert_int_equal(wk_read(wk_to_dtype(wk_to(x, wk_cpu()), WK_F64), have, (size_t)count * sizeof *have), WK_OK);
    for (int k = 0; k < count; k++) {
        bool same =
            have[k] == values[k] || (isnan(have[k]) && isnan(values[k])) || fabs(have[k] - values[k]) <= tolerance;
        if (have[k] == 0 && values[k] == 0) same = signbit(have[k]) == signbit(values[k]);
        if (!same) fail_msg("element %d is %.17g, not %.17g", k, have[k], values[k]);
    }
    free(have);
}

void expect_shape(wk_tensor *x, int ndim, const int64_t *shape)
{
    expect_ok();
    assert_non_null(x);
    assert_int_equal(wk_ndim(x), ndim);
    for (int d = 0; d < ndim; d++) assert_int_equal(wk_size(x, d), shape[d]);
}
