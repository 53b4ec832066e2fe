/* SPDX-License-Identifier: Apache-2.0 */
/* A flush that contains every kind of record, and the same flush read back from a replay file. */
#ifndef TESTS_SUPPORT_FLUSH_H
#define TESTS_SUPPORT_FLUSH_H

#include "conv2d.h"
#include "corrupt.h"

#include "engine/replay/flush_file.h"
#include <unistd.h>

static inline const char *folder(void)
{
    return getenv("WICK_WORK") ? getenv("WICK_WORK") : "/tmp";
}

/* Copies the file name from the pending error into path, and clears the error. */
static inline void path_in_error(char path[], size_t size)
{
    const char *from = strstr(wk_error() ? wk_error() : "", "`wick replay ");
    if (!from) fail_msg("no file is named: %s", wk_error() ? wk_error() : "no error");
    from += strlen("`wick replay ");
    snprintf(path, size, "%.*s", (int)strcspn(from, "`"), from);
    wk_clear_error();
}

enum { RESULTS = 13 };

/* Records every kind in one flush. Fills result; the caller releases the tensors with let_go. */
static inline void record_every_kind(wk_device device, wk_tensor *result[RESULTS])
{
    WK_SCOPE;
    WK_DEVICE(device);
    wk_seed(7);
    wk_tensor *x = wk_to(wk_of(float, (3, 4), 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12), device);
    wk_tensor *index = wk_add(wk_to(wk_of(int64_t, (2), 2, 0), device), 0);
    wk_tensor *values, *places;
    assert_int_equal(wk_sort(wk_neg(x), 1, false, &values, &places), WK_OK);
    int k = 0;
    result[k++] = wk_retain(values);
    result[k++] = wk_retain(places);
    result[k++] = wk_retain(wk_add(wk_matmul(x, wk_t(x)), 0.5));
    result[k++] = wk_retain(wk_index_select(x, 0, index));
    result[k++] = wk_retain(wk_mul(wk_rand((3, 4)), x));
    result[k++] = wk_retain(wk_softmax(x, 1));
    result[k++] = wk_retain(wk_cumsum(x, 1));
    result[k++] = wk_retain(wk_cat((x, wk_mul(x, 2)), 0));
    wk_tensor *target = wk_mul(x, 3);
    wk_add_(wk_narrow(target, 1, 1, 2), wk_narrow(x, 1, 0, 2));
    wk_index_add_(target, 0, index, wk_ones((2, 4)));
    result[k++] = wk_retain(target);
    result[k++] = wk_retain(wk_to_dtype(wk_gt(x, 4), WK_I32));
    result[k++] = wk_retain(wk_to_dtype(wk_div(x, 3), WK_F16));
    result[k++] = wk_retain(wk_amax(x, (0)));
    wk_tensor *image = wk_reshape(x, (1, 1, 3, 4)), *kernel = wk_reshape(wk_narrow(x, 0, 0, 1), (1, 1, 2, 2));

    result[k++] = wk_retain(wk_add(record_conv2d(image, kernel, 2, 1), 1.0));
    assert_int_equal(k, RESULTS);
}

static inline void let_go(wk_tensor *result[RESULTS])
{
    for (int k = 0; k < RESULTS; k++) wk_free(result[k]);
}

/* Writes a replay file of this flush, whose last result was corrupted. */
static inline void make_file(wk_device device, char path[], size_t size)
{
    wk_tensor *result[RESULTS];
    record_every_kind(device, result);
    const int64_t records = wk__context()->op_queue->count;
    corrupt_install(device);
    corrupt_arm((corrupt_request){.n = records + 3, .how = CORRUPT_RESULT, .which = 0, .place = 0, .number = 1000});
    wk_sync();
    assert_true(corrupt_remove());
    path_in_error(path, size);
    let_go(result);
}

/* Writes such a file, reads it into flush and removes it. */
static inline void make_flush(wk__flush_data *flush)
{
    char path[512];
    wk__io_error error;
    make_file(wk_cpu(), path, sizeof path);
    assert_int_equal(wk__flush_read(path, flush, &error), WK_OK);
    assert_int_equal(unlink(path), 0);
}

#endif
