/* SPDX-License-Identifier: Apache-2.0 */
/* Tests memory statistics of a device: large tensors are listed with the call that created them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include <wick.h>

enum { MIB = 1 << 20 };

static void the_largest_come_first(void **state)
{
    (void)state;
    int64_t bytes[3];
    wk_site sites[3];
    assert_int_equal(wk_memory_largest(wk_cpu(), bytes, sites, 3), 0);
    wk_tensor *small = wk_ones((MIB)), *large = wk_ones((4, MIB));
    int line = __LINE__ - 1;
    wk_sync();
    assert_int_equal(wk_memory_largest(wk_cpu(), bytes, sites, 3), 2);
    assert_int_equal(bytes[0], 16 * MIB);
    assert_int_equal(bytes[1], 4 * MIB);
    assert_int_equal(sites[0].line, line);
    assert_non_null(strstr(sites[0].file, "tensor/memory.c"));
    assert_int_equal(wk_memory_largest(wk_cpu(), bytes, sites, 1), 1);
    assert_int_equal(bytes[0], 16 * MIB);
    wk_add_(large, 1); /* in place: the same memory, now listed with the call that wrote it last */
    wk_free(small);
    wk_sync();
    assert_int_equal(wk_memory_largest(wk_cpu(), bytes, sites, 3), 1);
    wk_free(large);
    assert_int_equal(wk_memory_largest(wk_cpu(), bytes, sites, 3), 0);
    assert_null(wk_error());
}

/* They may be freed in any order. */
static void the_list_omits_freed_tensors(void **state)
{
    (void)state;
    static const int order[] = {1, 4, 0, 3, 2};
    wk_tensor *x[5];
    bool live[5] = {true, true, true, true, true};
    for (int k = 0; k < 5; k++) x[k] = wk_ones((1 << k, MIB / 4));
    wk_sync();
    for (int n = 0; n < 5; n++) {
        int64_t bytes[5];
        wk_site sites[5];
        wk_free(x[order[n]]);
        live[order[n]] = false;
        assert_int_equal(wk_memory_largest(wk_cpu(), bytes, sites, 5), 4 - n);
        for (int k = 5, place = 0; k-- > 0;)
            if (live[k]) assert_int_equal(bytes[place++], MIB << k);
    }
}

/* Tensors that the library creates within a call are listed with the program's call. */
static void calls_of_the_library_are_not_named(void **state)
{
    (void)state;
    WK_SCOPE;
    enum { N = 300 };
    wk_module *net = wk_nn_sequential(wk_nn_linear(N, N), wk_nn_relu(), wk_nn_lazy_linear(N));
    wk_tensor *kept[] = {wk_forward(net, wk_ones((N, N))), wk_repeat(wk_ones((N, N)), (2, 2)),
                         wk_outer(wk_ones((N)), wk_ones((N))),
                         wk_scatter(wk_ones((N, N)), 0, wk_zeros((2, N), .dtype = WK_I64), 2)};
    wk_backward(wk_sum(kept[0]));
    wk_optim *adam = wk_optim_adam(wk_parameters(net), .lr = 1);
    wk_optim_step(adam);
    wk_clip_grad_norm_(wk_parameters(net), 1e-3);
    wk_sync();
    int64_t bytes[100];
    wk_site sites[100];
    const int count = wk_memory_largest(wk_cpu(), bytes, sites, 100);
    assert_true(count > 10);
    for (int k = 0; k < count; k++)
        if (!sites[k].file || strcmp(sites[k].file, __FILE__) != 0)
            fail_msg("%lld bytes are listed at %s:%d", (long long)bytes[k], sites[k].file ? sites[k].file : "?",
                     (int)sites[k].line);
    assert_null(wk_error());
}

static void invalid_arguments(void **state)
{
    (void)state;
    int64_t bytes;
    wk_site site;
    assert_int_equal(wk_memory_largest(wk_cpu(), NULL, &site, 1), 0);
    assert_non_null(strstr(wk_error(), "memory_largest: bytes is NULL"));
    wk_clear_error();
    assert_int_equal(wk_memory_largest(wk_device_parse("tpu:0"), &bytes, &site, 1), 0);
    assert_non_null(wk_error());
    wk_clear_error();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_largest_come_first),
        cmocka_unit_test(the_list_omits_freed_tensors),
        cmocka_unit_test(calls_of_the_library_are_not_named),
        cmocka_unit_test(invalid_arguments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
