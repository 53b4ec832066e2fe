/* SPDX-License-Identifier: Apache-2.0 */
/* Tests files of networks and lists: round trips, strict loading, the state after a failure. */
#include "support/devices.h"

#include <fcntl.h>
#include <unistd.h>

#include "hostile/scratch.h"
#include <backend/null/null.h>
#include <base/alloc.h>

static wk_module *new_net(int64_t width)
{
    static const wk_module_kind kind = {.size = sizeof kind, .name = "box"};
    wk_module *box = wk_module_new(&kind);
    wk_module_set_buffer(box, "steps", wk_full((), 0));
    wk_module_add(box, "net",
                  wk_nn_sequential(wk_nn_linear(3, width), wk_nn_relu(), wk_nn_linear(width, 2, .no_bias = true)));
    return box;
}

static bool equal(wk_tensor *a, wk_tensor *b)
{
    return wk_item(wk_all(wk_eq(a, b))) == 1;
}

static void a_network_is_restored(void **state)
{
    (void)state;
    WK_SCOPE;
    char path[256];
    snprintf(path, sizeof path, "%s", scratch("net.safetensors"));
    wk_module *net = new_net(4), *again = new_net(4);
    wk_module_set_buffer(net, "steps", wk_full((), 77));
    assert_int_equal(wk_save(net, path), WK_OK);
    wk_tensor *weight = wk_module_parameter(again, "net.0.weight"), *old = wk_sum(wk_mul(weight, weight));
    assert_false(equal(weight, wk_module_parameter(net, "net.0.weight")));
    assert_int_equal(wk_load(again, path), WK_OK);
    assert_true(wk_module_parameter(again, "net.0.weight") == weight);
    assert_true(wk_is_leaf(weight) && wk_requires_grad(weight));
    wk_tensors *a = wk_parameters(net), *b = wk_parameters(again);
    assert_int_equal(wk_tensors_count(a), 3);
    for (int k = 0; k < 3; k++) assert_true(equal(wk_tensors_get(a, k), wk_tensors_get(b, k)));
    EXPECT_VALUES(wk_module_buffer(again, "steps"), 0, 77);
    wk_backward(old); /* the weight has changed since */
    expect_error("mul", NULL);
    wk_tensor *x = wk_ones((1, 3));
    assert_true(equal(wk_forward(wk_module_child(net, "net"), x), wk_forward(wk_module_child(again, "net"), x)));
}

static void every_dtype_is_restored(void **state)
{
    (void)state;
    WK_SCOPE;
    char path[256];
    snprintf(path, sizeof path, "%s", scratch("dtypes.safetensors"));
    wk_tensors *list = wk_tensors_new();
    for (int dtype = WK_F32; dtype < WK_DTYPE_COUNT; dtype++)
        wk_tensors_add(list, wk_dtype_str((wk_dtype)dtype),
                       wk_to_dtype(wk_of(double, (2, 2), 0, 1, 2, 100), (wk_dtype)dtype));
    wk_tensors_add(list, "a view", wk_transpose(wk_reshape(wk_arange(6), (2, 3)), 0, 1));
    wk_tensors_add(list, "expanded", wk_expand(wk_of(float, (1), 5), (3)));
    wk_tensors_add(list, "empty", wk_zeros((0, 3)));
    wk_tensors_add(list, "scalar", wk_full((), 2.5));
    assert_int_equal(wk_save_tensors(list, path), WK_OK);
    wk_tensors *again = wk_load_tensors(path);
    expect_ok();
    assert_int_equal(wk_tensors_count(again), wk_tensors_count(list));
    for (int k = 0; k < wk_tensors_count(list); k++) {
        wk_tensor *was = wk_tensors_get(list, k), *is = wk_tensors_find(again, wk_tensors_name(list, k));
        assert_non_null(is);
        assert_int_equal(wk_dtype_of(is), wk_dtype_of(was));
        assert_int_equal(wk_ndim(is), wk_ndim(was));
        if (!equal(is, was))
            fail_msg("%s: %s, not %s", wk_tensors_name(list, k), wk_tensor_str(is), wk_tensor_str(was));
    }
    EXPECT_SHAPE(wk_tensors_find(again, "empty"), 0, 3);
    EXPECT_VALUES(wk_tensors_find(again, "a view"), 0, 0, 3, 1, 4, 2, 5);
}

static void devices(void **state)
{
    (void)state;
    WK_SCOPE;
    char path[256];
    snprintf(path, sizeof path, "%s", scratch("device.safetensors"));
    wk_module *net = new_net(2), *far = new_net(2);
    assert_int_equal(wk_save(net, path), WK_OK);
    wk_module_to(far, test_null());
    assert_int_equal(wk_load(far, path), WK_OK);
    assert_int_equal(wk_device_of(wk_module_parameter(far, "net.2.weight")).kind, WK_NULL);
    assert_int_equal(wk_save(far, path), WK_OK); /* the null device reads as zeros */
    assert_int_equal(wk_load(net, path), WK_OK);
    EXPECT_VALUES(wk_module_parameter(net, "net.0.bias"), 0, 0, 0);
    {
        WK_DEVICE(test_null());
        assert_int_equal(wk_device_of(wk_tensors_get(wk_load_tensors(path), 0)).kind, WK_NULL);
    }
    if (wk_device_count(test_gpu_kind()) == 0) return;
    wk_device card = test_gpu(0);
    wk_module *there = new_net(2), *back = new_net(2);
    wk_module_to(there, card);
    assert_int_equal(wk_save(there, path), WK_OK);
    assert_int_equal(wk_load(back, path), WK_OK);
    assert_true(
        equal(wk_to(wk_module_parameter(there, "net.0.weight"), wk_cpu()), wk_module_parameter(back, "net.0.weight")));
}

/* ---- strict ------------------------------------------------------------------------------------------------------ */

static void expect_refusal(wk_module *net, const char *path, wk_code code, const char *first, const char *second)
{
    wk_tensor *weight = wk_module_parameter(net, "net.0.weight"), *before = wk_clone(weight);
    wk_sync();
    expect_ok();
    assert_int_equal(wk_load(net, path), code);
    expect_error("io/tensors.c:", "load: ", first, second, NULL);
    assert_true(equal(weight, before));
}

static void everything_must_match(void **state)
{
    (void)state;
    WK_SCOPE;
    char path[256];
    snprintf(path, sizeof path, "%s", scratch("strict.safetensors"));
    wk_module *net = new_net(4), *wide = new_net(5);
    assert_int_equal(wk_save(wide, path), WK_OK);
    expect_refusal(net, path, WK_ERR_SHAPE, "\"net.0.weight\" is f32[4,3] in the network", "f32[5,3] in the file");
    wk_tensors *list = wk_tensors_new();
    wk_tensors_add(list, "steps", wk_full((), 1));
    wk_tensors_add(list, "net.0.weight", wk_ones((4, 3)));
    wk_tensors_add(list, "net.0.bias", wk_ones((4), .dtype = WK_F64));
    assert_int_equal(wk_save_tensors(list, path), WK_OK);
    expect_refusal(net, path, WK_ERR_DTYPE, "\"net.0.bias\" is f32[4]", "f64[4] in the file; add .convert = true");
    list = wk_tensors_new();
    wk_tensors_add(list, "net.0.weight", wk_ones((4, 3)));
    assert_int_equal(wk_save_tensors(list, path), WK_OK);
    expect_refusal(net, path, WK_ERR_SHAPE, "missing tensor \"steps\"", "i64[] in the network");
    wk_module *more = new_net(4);
    wk_module_add_parameter(more, "extra", wk_ones((1)));
    assert_int_equal(wk_save(more, path), WK_OK);
    expect_refusal(net, path, WK_ERR_SHAPE, "\"extra\"", "the network has none");
    expect_refusal(net, scratch("missing"), WK_ERR_IO, "missing", "No such file");
    expect_refusal(net, source_file("README.md"), WK_ERR_FORMAT, "README.md", "");
    assert_int_not_equal(wk_load(net, NULL), WK_OK);
    expect_error("load", "NULL", NULL);
    assert_int_not_equal(wk_load(NULL, path), WK_OK);
    expect_error("load", "NULL", NULL);
    assert_null(wk_load_tensors("no/such/file.safetensors"));
    expect_error("load_tensors", "no/such/file.safetensors", "No such file", NULL);
}

static void write_bytes(const char *path, const void *bytes, size_t count)
{
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_true(file >= 0);
    assert_int_equal(write(file, bytes, count), count);
    close(file);
}

/* A bool in a file that is neither 0 nor 1 is true. */
static void bools_other_than_0_and_1(void **state)
{
    (void)state;
    WK_SCOPE;
    static const char head[] = "{\"b\":{\"dtype\":\"BOOL\",\"shape\":[3],\"data_offsets\":[0,3]}}";
    char bytes[8 + sizeof head - 1 + 3] = {(char)(sizeof head - 1)};
    memcpy(bytes + 8, head, sizeof head - 1);
    memcpy(bytes + sizeof bytes - 3, "\0\1\7", 3);
    write_bytes(scratch("bool.safetensors"), bytes, sizeof bytes);
    wk_tensors *list = wk_load_tensors(scratch("bool.safetensors"));
    expect_ok();
    EXPECT_VALUES(wk_sum(wk_tensors_get(list, 0)), 0, 2);
    unsigned char raw[3];
    assert_int_equal(wk_read(wk_tensors_get(list, 0), raw, 3), WK_OK);
    assert_int_equal(raw[2], 1);
}

static void an_unsupported_dtype(void **state)
{
    (void)state;
    WK_SCOPE;
    static const char head[] = "{\"c\":{\"dtype\":\"U16\",\"shape\":[1],\"data_offsets\":[0,2]}}";
    char bytes[8 + sizeof head - 1 + 2] = {(char)(sizeof head - 1)};
    memcpy(bytes + 8, head, sizeof head - 1);
    write_bytes(scratch("u16.safetensors"), bytes, sizeof bytes);
    assert_null(wk_load_tensors(scratch("u16.safetensors")));
    expect_error("load_tensors", "\"c\"", "U16", NULL);
}

/* ---- saving ------------------------------------------------------------------------------------------------------ */

static void a_save_refuses_while_an_error_is_pending(void **state)
{
    (void)state;
    WK_SCOPE;
    char path[256];
    snprintf(path, sizeof path, "%s", scratch("kept.safetensors"));
    wk_module *net = new_net(2), *other = new_net(2), *back = new_net(2);
    assert_int_equal(wk_save(net, path), WK_OK);
    wk_reshape(wk_ones((2)), (3));
    assert_int_equal(wk_save(other, path), WK_ERR_SHAPE);
    assert_int_equal(wk_save_tensors(wk_parameters(other), path), WK_ERR_SHAPE);
    expect_error("reshape", NULL);
    assert_int_equal(wk_load(back, path), WK_OK);
    assert_true(equal(wk_module_parameter(back, "net.0.weight"), wk_module_parameter(net, "net.0.weight")));
    assert_int_not_equal(wk_save(net, "/no/such/folder/net"), WK_OK);
    expect_error("save", "/no/such/folder/net", NULL);
    assert_int_not_equal(wk_save(net, NULL), WK_OK);
    expect_error("save", "NULL", NULL);
}

/* A device that fails while its values are fetched leaves the older file and no other. */
static void a_failing_device_leaves_the_older_file(void **state)
{
    (void)state;
    WK_SCOPE;
    char path[256], beside[300];
    snprintf(path, sizeof path, "%s", scratch("lost.safetensors"));
    snprintf(beside, sizeof beside, "%s.wick-saving", path);
    wk_module *net = new_net(2), *far = new_net(2);
    assert_int_equal(wk_save(net, path), WK_OK);
    wk_module_to(far, test_null());
    wk_sync();
    wk__null_lose_device(0);
    assert_int_not_equal(wk_save(far, path), WK_OK);
    wk__null_clear_faults();
    assert_non_null(wk_error());
    wk_clear_error();
    assert_int_equal(access(beside, F_OK), -1);
    assert_int_equal(wk_load(net, path), WK_OK);
}

static void lazy_layers_are_not_saved_before_they_exist(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_module *net = wk_nn_sequential(wk_nn_lazy_linear(2));
    assert_int_not_equal(wk_save(net, scratch("lazy.safetensors")), WK_OK);
    expect_error("save", "lazy_linear \"0\"", "wk_forward", NULL);
}

/* Each allocation fails in turn: an error or success, and the network is completely old or new. */
static void without_memory(void **state)
{
    (void)state;
    char path[256];
    snprintf(path, sizeof path, "%s", scratch("memory.safetensors"));
    WK_SCOPE;
    wk_module *net = new_net(2);
    assert_int_equal(wk_save(net, path), WK_OK);
    for (int64_t n = 1; n < 80; n++) {
        WK_SCOPE;
        wk_module *other = new_net(2);
        wk_tensor *first = wk_module_parameter(other, "net.0.weight"),
                  *last = wk_module_parameter(other, "net.2.weight");
        wk_sync();
        expect_ok();
        wk__alloc_fail_at(n);
        wk_code saved = wk_save(net, path);
        wk_code loaded = wk_load(other, path);
        wk__alloc_fail_at(0);
        if (saved != WK_OK || loaded != WK_OK) assert_non_null(wk_error());
        wk_clear_error();
        bool new_first = equal(first, wk_module_parameter(net, "net.0.weight")),
             new_last = equal(last, wk_module_parameter(net, "net.2.weight"));
        assert_true(new_first == new_last && new_first == (loaded == WK_OK));
        assert_int_equal(wk_load(other, path), WK_OK); /* the file is complete in any case */
    }
}

/* The same if the program has the addresses of some parameters: their values remain there. */
static void without_memory_at_known_addresses(void **state)
{
    (void)state;
    char path[256];
    snprintf(path, sizeof path, "%s", scratch("known.safetensors"));
    WK_SCOPE;
    wk_module *net = new_net(2);
    assert_int_equal(wk_save(net, path), WK_OK);
    bool failed = true;
    for (int64_t n = 1; failed; n++) {
        WK_SCOPE;
        wk_module *other = new_net(2);
        static const char *const names[] = {"net.0.weight", "net.0.bias", "net.2.weight"};
        float *address[2], first;
        for (int k = 0; k < 2; k++) address[k] = wk_data(wk_module_parameter(other, names[2 * k]));
        first = *address[0];
        wk__alloc_fail_at(n);
        const wk_code loaded = wk_load(other, path);
        failed = wk_error() != NULL;
        wk__alloc_fail_at(0);
        assert_true(failed == (loaded != WK_OK));
        wk_clear_error();
        for (int k = 0; k < 3; k++)
            assert_true(equal(wk_module_parameter(other, names[k]), wk_module_parameter(net, names[k])) == !failed);
        assert_true((*address[0] == first) == failed);
        for (int k = 0; k < 2; k++) assert_true(address[k] == wk_data(wk_module_parameter(other, names[2 * k])));
        assert_true(n < 500);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_network_is_restored),
        cmocka_unit_test(every_dtype_is_restored),
        cmocka_unit_test(devices),
        cmocka_unit_test(everything_must_match),
        cmocka_unit_test(bools_other_than_0_and_1),
        cmocka_unit_test(an_unsupported_dtype),
        cmocka_unit_test(a_save_refuses_while_an_error_is_pending),
        cmocka_unit_test(a_failing_device_leaves_the_older_file),
        cmocka_unit_test(lazy_layers_are_not_saved_before_they_exist),
        cmocka_unit_test(without_memory),
        cmocka_unit_test(without_memory_at_known_addresses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
