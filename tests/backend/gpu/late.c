/* SPDX-License-Identifier: Apache-2.0 */
/* Work that a device fails to do after it was recorded: its driver rejects a kernel, a launch, a copy, an allocation.
 * Each driver call fails in turn, once, in a program that uses much of the device. Each value of the program must be
 * correct, or fail with the first cause for every reader, at every read; targets of in-place writes have their former
 * or new values. Afterwards the program runs again without failures. */
#include "support/threads.h"

#include <math.h>

#include "support/devices.h"
#include "support/driver_faults.h"

static int take_over(void **state)
{
    (void)state;
    assert_true(wk_device_count(test_gpu_kind()) > 0);
    driver_install_hooks(test_gpu_kind());
    return 0;
}

/* ---- the program ------------------------------------------------------------------------------------------------- */

enum { SIZE = 6, MOST = 24 };

typedef struct result {
    wk_tensor *tensor;
    double want[SIZE], old[SIZE]; /* old: also valid, for a target of an in-place write */
    bool kept;
} result;

typedef struct program {
    result result[MOST];
    int count;
} program;

static void add(program *p, wk_tensor *tensor, bool kept, const double *old)
{
    result *r = &p->result[p->count++];
    *r = (result){.tensor = tensor, .kept = kept};
    if (old) memcpy(r->old, old, sizeof r->old);
}

static wk_tensor *on(wk_device device, double first)
{
    float data[SIZE];
    for (int k = 0; k < SIZE; k++) data[k] = (float)(first + k);
    return wk_to(wk_from(data, (SIZE)), device);
}

/* Computes retained tensors of SIZE elements. odd changes the structure of some kernels, so that they are compiled
 * again. */
static void run(program *p, wk_device device, wk_device other, int odd)
{
    const double ones[SIZE] = {1, 2, 3, 4, 5, 6};
    p->count = 0;
    wk_tensor *x = wk_retain(on(device, 1)), *apart = wk_retain(on(device, 10)), *y = wk_retain(wk_mul(x, 2));
    for (int k = 0; k < odd; k++) {
        wk_tensor *more = wk_retain(wk_add(wk_abs(y), k & 1 ? x : apart));
        wk_free(y);
        y = more;
    }
    wk_tensor *in_place = wk_retain(wk_clone(x)), *snapshot, *part = wk_retain(wk_clone(x));
    wk_tensor *holder = wk_retain(wk_module_set_buffer(wk_nn_relu(), "old", part)); /* it has the same values so far */
    wk_flush();
    wk_tensor *product =
        wk_retain(wk_reshape(wk_add(wk_matmul(wk_reshape(y, (6, 1)), wk_ones((1, 1), .device = device)), 1), (6)));
    wk_add_(in_place, y);
    wk_flush();
    snapshot = wk_retain(wk_mul(in_place, 1));
    wk_mul_(in_place, 3);
    wk_copy_(wk_narrow(part, 0, 1, 2), wk_narrow(y, 0, 0, 2));
    wk_flush();
    wk_tensor *sorted, *places;
    wk_sort(wk_neg(y), 0, false, &sorted, &places);
    sorted = wk_retain(sorted);
    wk_tensor *added = wk_retain(wk_index_add(x, 0, wk_to(wk_of(int64_t, (2), 0, 0), device), wk_narrow(y, 0, 0, 2)));
    wk_tensor *joined = wk_retain(wk_cat((wk_narrow(y, 0, 0, 3), wk_narrow(apart, 0, 0, 3)), 0));
    wk_tensor *there = wk_retain(wk_to(y, other)), *sum = wk_retain(wk_expand(wk_sum(there), (6)));
    wk_tensor *fine = wk_retain(wk_add(apart, 1));
    add(p, x, false, NULL), add(p, y, false, NULL), add(p, apart, false, NULL), add(p, product, false, NULL);
    add(p, in_place, true, ones), add(p, snapshot, true, ones), add(p, part, true, ones), add(p, sorted, false, NULL);
    add(p, added, false, NULL), add(p, joined, false, NULL), add(p, there, false, NULL), add(p, sum, false, NULL);
    add(p, fine, false, NULL), add(p, holder, false, NULL);
}

static bool read_one(const result *r, double numbers[SIZE])
{
    float data[SIZE];
    if (!r->tensor || wk_read(r->tensor, data, sizeof data) != WK_OK) return false;
    for (int k = 0; k < SIZE; k++) numbers[k] = data[k];
    return true;
}

static bool same(const double *a, const double *b)
{
    return memcmp(a, b, SIZE * sizeof *a) == 0;
}

/* Checks all values and returns the number of failed ones. A target may have been written by either of two calls, so it
 * may have its former, new, or intermediate values. */
static int count_failures(program *p, const program *want, const char *what, int n)
{
    int failed = 0;
    for (int k = 0; k < p->count; k++) {
        double numbers[SIZE];
        char first[600] = "";
        for (int again = 0; again < 3; again++) {
            bool fine = read_one(&p->result[k], numbers);
            for (int once_more = 0; !fine && once_more < 4 && !wk_error() && p->result[k].tensor; once_more++)
                fine = read_one(&p->result[k], numbers);
            if (!fine && p->result[k].tensor && (!wk_error() || strlen(wk_error()) < 10))
                fail_msg("%s %d: value %d fails without a message", what, n, k);
            const char *said = wk_error() ? wk_error() : "";
            bool late = fine && *said; /* reports another value's failure, detected during this read */
            bool same_words =
                strcmp(first, said) == 0 || strstr(said, "copying from the device"); /* fails only this read */
            if (!fine && again > 0 && p->result[k].tensor && !same_words)
                fail_msg("%s %d: value %d reports \"%s\", then \"%s\"", what, n, k, first, said);
            if (!fine) snprintf(first, sizeof first, "%s", said);
            if (fine && !same(numbers, want->result[k].want) && !p->result[k].kept)
                fail_msg("%s %d: value %d is %g %g .. and no error (%s)", what, n, k, numbers[0], numbers[1],
                         late ? said : "");
            failed += !fine && again == 0;
            wk_clear_error();
        }
        wk_free(p->result[k].tensor);
    }
    return failed;
}

static void expected(program *p, int odd)
{
    WK_SCOPE;
    run(p, wk_cpu(), wk_cpu(), odd);
    for (int k = 0; k < p->count; k++) {
        assert_true(read_one(&p->result[k], p->result[k].want));
        wk_free(p->result[k].tensor);
    }
    expect_ok();
}

static int failures_of(const program *want, wk_device device, driver_call which, int n, driver_error error, int odd)
{
    WK_SCOPE;
    program p;
    wk_device other = test_gpu(wk_device_count(test_gpu_kind()) > 1 ? 1 - (int)device.index : 0);
    driver_inject(which, n, error);
    run(&p, device, other, odd);
    int failed = count_failures(&p, want, driver_names[which], n);
    bool was_met = driver_fault_fired();
    driver_clear();
    return was_met || failed ? failed : -1;
}

static void each_call_of_the_driver_fails(void **state)
{
    (void)state;
    program want;
    expected(&want, 0);
    for (int d = 0; d < wk_device_count(test_gpu_kind()); d++) {
        assert_int_equal(failures_of(&want, test_gpu(d), DRIVER_LAUNCH, 0, 0, 0), -1);
        for (driver_call which = DRIVER_ARGUMENT; which < DRIVER_CALLS; which++) {
            int failed = 0, n = 1;
            for (int of = 0; of >= 0 && n < 400; n++) {
                if (which == DRIVER_BUFFER || which == DRIVER_WRITE) wk_memory_trim(test_gpu(d));
                of = failures_of(&want, test_gpu(d), which, n, DRIVER_NO_MEMORY, 0);
                failed += of > 0;
                wk_clear_error();
                int after = failures_of(&want, test_gpu(d), which, 0, 0, 0);
                if (after != -1) fail_msg("%s %d: %d values fail afterwards", driver_names[which], n, after);
                expect_ok();
            }
            print_message("%s: %s failed %d times, %d with values that fail\n", wk_device_str(test_gpu(d)),
                          driver_names[which], n - 2, failed);
        }
    }
}

/* Each round has kernels that were not compiled before. A compiler that ran out of memory is called again; rejected
 * kernels stay rejected. */
static void kernels_that_fail_to_build(void **state)
{
    (void)state;
    const driver_error errors[] = {DRIVER_NO_MEMORY, DRIVER_NO_MEMORY, DRIVER_INVALID_VALUE};
    const driver_call calls[] = {DRIVER_BUILD, DRIVER_KERNEL, DRIVER_BUILD};
    for (int k = 0; k < 3; k++) {
        program want;
        expected(&want, k + 1);
        wk_device device = test_gpu(0);
        assert_true(failures_of(&want, device, calls[k], -1, errors[k], k + 1) > 3);
        int after = failures_of(&want, device, calls[k], 0, 0, k + 1);
        if (errors[k] != DRIVER_INVALID_VALUE && after != -1)
            fail_msg("%s: %d values fail afterwards", driver_names[calls[k]], after);
        expect_ok();
    }
}

/* ---- other threads ----------------------------------------------------------------------------------------------- */

static void write_in_place(test_thread *t)
{
    WK_SCOPE;
    wk_tensor *const *of = t->user;
    float have[SIZE] = {0};
    wk_add_(of[0], of[1]);
    THREAD_CHECK(t, wk_read(of[0], have, sizeof have) == WK_OK);
    THREAD_CHECK(t, have[0] == 1 && have[5] == 6); /* the write failed, so this thread must be informed */
    THREAD_CHECK_ERROR(t, "sqrt", driver_error_text(DRIVER_NO_MEMORY), NULL);
    THREAD_CHECK(t, wk_read(of[0], have, sizeof have) == WK_OK);
    THREAD_CHECK(t, !wk_error());
}

static void failure_is_reported_to_threads_with_skipped_writes(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_retain(on(test_gpu(0), 1)), *four = wk_retain(wk_mul(on(test_gpu(0), 4), 1));
    wk_sync();
    wk_tensor *bad = wk_retain(wk_sqrt(four));
    driver_inject(DRIVER_ARGUMENT, 1, DRIVER_NO_MEMORY);
    wk_flush();
    test_in_thread(write_in_place, (wk_tensor *[]){x, bad});
    wk_add(four, 1);
    expect_error("sqrt", "gpu/late.c", NULL);
    wk_sync();
    expect_ok(); /* reported once */
    assert_true(isnan(wk_item(wk_sum(bad))));
    expect_error("sqrt", "gpu/late.c", NULL);
    wk_free(x), wk_free(four), wk_free(bad);
}

/* Tensors without elements may have the memory of lost values, because they are never written. */
static void empty_tensors_depend_on_nothing(void **state)
{
    (void)state;
    WK_SCOPE;
    enum { COUNT = 20 };
    wk_device device = test_gpu(0);
    wk_tensor *lost[COUNT];
    wk_tensor *x = wk_clone(on(device, 1)), *kept = NULL;
    /* computed now, because a failure of the call fails all its views */
    if (device.kind == WK_CUDA) kept = wk_retain(x);
    wk_sync();
    driver_inject(DRIVER_LAUNCH, 1, DRIVER_NO_MEMORY);
    wk_tensor *bad = wk_retain(wk_sqrt(x));
    wk_flush();
    for (int k = 0; k < COUNT; k++) lost[k] = wk_retain(wk_add(bad, k));
    wk_sync();
    wk_clear_error();
    for (int k = 0; k < COUNT; k++) wk_free(lost[k]);
    wk_free(bad);
    wk_tensor *numbers = on(device, 1);
    for (int k = 0; k < COUNT; k++) {
        wk_tensor *empty = wk_mul(wk_narrow(x, 0, 0, 0), 2);
        wk_sync();
        EXPECT_VALUES(wk_sum(empty), 0, 0);
        wk_tensor *place = wk_to_dtype(empty, WK_I64);
        wk_sync();
        EXPECT_VALUES(wk_index_add(wk_narrow(numbers, 0, 0, 2), 0, place, empty), 0, 1, 2);
        EXPECT_VALUES(wk_matmul(wk_reshape(empty, (1, 0)), wk_reshape(wk_exp(empty), (0, 1))), 0, 0);
    }
    wk_free(kept);
    expect_ok();
}

/* The first step of an optimiser replaces the rule's state, whose former values are not yet validated by the device,
 * and the parameter in one kernel: if a bad index causes it to be skipped, both keep their former values. */
static void skipped_first_step(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_device device = test_gpu(0);
    wk_tensor *a = wk_requires_grad_(wk_ones((2), .device = device), true),
              *b = wk_requires_grad_(wk_ones((64), .device = device), true);
    wk_optim *sgd = wk_optim_sgd(wk_list((a, b)), .lr = 1, .momentum = 0.5);
    wk_tensor *first = wk_to(wk_of(int64_t, (2), 1, 9), device), *x = wk_ones((4), .device = device);
    wk_tensor *seven = wk_full((64), 7.0, .device = device);
    wk_sync();
    wk_set_grad(a, wk_index_select(x, 0, wk_add(first, 0)));
    wk_set_grad(b, seven);
    wk_optim_step(sgd);
    wk_sync();
    assert_int_equal(wk_error_code(), WK_ERR_INDEX);
    wk_clear_error();
    WK_NO_GRAD;
    EXPECT_VALUES(a, 0, 1, 1);
    const double least = wk_item(wk_amin(b)), most = wk_item(wk_amax(b));
    assert_true(least == most && (least == 1 || least == -6)); /* skipped as well, or completed before */
}

/* Last, because the device stays lost. */
static void lost_device(void **state)
{
    (void)state;
    WK_SCOPE;
    int devices = wk_device_count(test_gpu_kind());
    wk_tensor *there = wk_retain(on(test_gpu(devices - 1), 1)), *here = wk_retain(on(test_gpu(0), 1)),
              *in_place = there;
    wk_tensor *more = wk_retain(wk_mul(there, 2));
    wk_sync();
    driver_inject(DRIVER_ARGUMENT, 1, DRIVER_LOST);
    wk_add_(in_place, 1);
    wk_flush();
    for (int again = 0; again < 2; again++) {
        assert_true(isnan(wk_item(wk_sum(in_place))));
        /* after the loss was reported, CUDA no longer knows the call */
        expect_error(again && test_gpu_kind() == WK_CUDA ? "cuda" : "add_", driver_error_text(DRIVER_LOST), NULL);
        assert_true(isnan(wk_item(wk_sum(more))));
        expect_error(driver_error_text(DRIVER_LOST), NULL);
        assert_null(wk_tensor_str(wk_ones((2), .device = test_gpu(devices - 1))));
        expect_error(driver_error_text(DRIVER_LOST), NULL);
    }
    if (devices > 1) EXPECT_VALUES(here, 0, 1, 2, 3, 4, 5, 6);
    EXPECT_VALUES(wk_add(wk_ones((2)), 1), 0, 2, 2);
    expect_ok();
    wk_free(there), wk_free(here), wk_free(more);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_call_of_the_driver_fails),
        cmocka_unit_test(kernels_that_fail_to_build),
        cmocka_unit_test(failure_is_reported_to_threads_with_skipped_writes),
        cmocka_unit_test(empty_tensors_depend_on_nothing),
        cmocka_unit_test(skipped_first_step),
        cmocka_unit_test(lost_device),
    };
    return cmocka_run_group_tests(tests, take_over, NULL);
}
