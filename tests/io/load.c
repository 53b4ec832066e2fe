/* SPDX-License-Identifier: Apache-2.0 */
/* Tests loading of files that differ from the network, of single tensors, and of the contents of a file. */
#include "support/wick.h"

#include "hostile/scratch.h"

/* Writes a file in the form of safetensors.torch.save_file: the length of the header, the header with blanks up to a
 * multiple of 8, the data. Returns its path. */
static const char *write_file(const char *name, const char *header, const void *data, size_t bytes)
{
    static char path[256];
    snprintf(path, sizeof path, "%s", scratch(name));
    const uint64_t length = (strlen(header) + 7) / 8 * 8;
    unsigned char prefix[8];
    for (int k = 0; k < 8; k++) prefix[k] = (unsigned char)(length >> 8 * k);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(prefix, 1, 8, file), 8);
    assert_int_equal(fprintf(file, "%-*s", (int)length, header), (int)length);
    assert_int_equal(fwrite(data, 1, bytes, file), bytes);
    assert_int_equal(fclose(file), 0);
    return path;
}

/* The layer 0 of a network, in another dtype, and a head of another network. */
static const char *a_backbone(void)
{
    static const double data[] = {1, 2, 3, 4, 5, 6, 7};
    return write_file("backbone.safetensors",
                      "{\"__metadata__\":{\"format\":\"pt\"},"
                      "\"0.bias\":{\"dtype\":\"F64\",\"shape\":[2],\"data_offsets\":[0,16]},"
                      "\"0.weight\":{\"dtype\":\"F64\",\"shape\":[2,2],\"data_offsets\":[16,48]},"
                      "\"head.weight\":{\"dtype\":\"F64\",\"shape\":[1],\"data_offsets\":[48,56]}}",
                      data, sizeof data);
}

static wk_module *new_net(wk_dtype dtype)
{
    wk_module *net =
        wk_nn_sequential(wk_nn_linear(2, 2, .dtype = dtype), wk_nn_relu(), wk_nn_linear(2, 1, .dtype = dtype));
    WK_NO_GRAD;
    wk_tensors *list = wk_parameters(net);
    for (int k = 0; k < wk_tensors_count(list); k++) wk_fill_(wk_tensors_get(list, k), 9);
    return net;
}

static void expect_names(const char *const *names, const char *first, const char *second)
{
    assert_non_null(names);
    if (first) assert_string_equal(*names++, first);
    if (second) assert_string_equal(*names++, second);
    assert_null(*names);
}

static void names_may_differ(void **state)
{
    (void)state;
    WK_SCOPE;
    const char *const *missing, *const *unexpected;
    wk_module *net = new_net(WK_F64);
    wk_tensor *weight = wk_module_parameter(net, "0.weight");
    assert_int_equal(wk_load(net, a_backbone(), .strict = false, .missing = &missing, .unexpected = &unexpected),
                     WK_OK);
    expect_ok();
    EXPECT_VALUES(weight, 0, 3, 4, 5, 6);
    EXPECT_VALUES(wk_module_parameter(net, "0.bias"), 0, 1, 2);
    EXPECT_VALUES(wk_module_parameter(net, "2.bias"), 0, 9);
    assert_true(wk_module_parameter(net, "0.weight") == weight && wk_requires_grad(weight));
    expect_names(missing, "2.weight", "2.bias");
    expect_names(unexpected, "head.weight", NULL);
}

static void names_must_agree_by_default(void **state)
{
    (void)state;
    WK_SCOPE;
    const char *const *missing = NULL, *const *unexpected = NULL;
    wk_module *net = new_net(WK_F64);
    const char *path = a_backbone();
    assert_int_equal(wk_load(net, path), WK_ERR_SHAPE);
    expect_error("load: ", "missing tensor \"2.weight\"", NULL);
    assert_int_equal(wk_load(net, path, .strict = true, .missing = &missing, .unexpected = &unexpected), WK_ERR_SHAPE);
    expect_error("missing tensor \"2.weight\"", NULL);
    expect_names(missing, "2.weight", "2.bias");
    expect_names(unexpected, "head.weight", NULL);
    EXPECT_VALUES(wk_module_parameter(net, "0.bias"), 0, 9, 9);
    const wk_load_options loose = {.size = sizeof loose, .strict = WK_EXPLICIT_ZERO}, zero = {.size = sizeof zero};
    assert_int_equal(wk_load_at(WK_HERE, net, path, &zero), WK_ERR_SHAPE);
    expect_error("missing tensor", NULL);
    assert_int_equal(wk_load_at(WK_HERE, net, path, &loose), WK_OK);
    EXPECT_VALUES(wk_module_parameter(net, "0.bias"), 0, 1, 2);
}

static void dtypes_are_converted_on_request(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_module *net = new_net(WK_BF16);
    const char *path = a_backbone();
    assert_int_equal(wk_load(net, path, .strict = false), WK_ERR_DTYPE);
    expect_error("\"0.weight\" is bf16[2,2] in the network and f64[2,2] in the file", ".convert = true", NULL);
    assert_int_equal(wk_load(net, path, .strict = false, .convert = true), WK_OK);
    EXPECT_VALUES(wk_module_parameter(net, "0.weight"), 0, 3, 4, 5, 6);
    assert_int_equal(wk_dtype_of(wk_module_parameter(net, "0.weight")), WK_BF16);
    expect_ok();
}

/* Also with both options, shapes must agree; then nothing changes. */
static void shapes_must_agree(void **state)
{
    (void)state;
    WK_SCOPE;
    static const float data[] = {1, 2, 3, 4, 5};
    wk_module *net = new_net(WK_F32);
    const char *path = write_file("shape.safetensors",
                                  "{\"0.bias\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]},"
                                  "\"2.weight\":{\"dtype\":\"F32\",\"shape\":[3],\"data_offsets\":[8,20]}}",
                                  data, sizeof data);
    assert_int_equal(wk_load(net, path, .strict = false, .convert = true), WK_ERR_SHAPE);
    expect_error("\"2.weight\" is f32[1,2] in the network and f32[3] in the file", NULL);
    EXPECT_VALUES(wk_module_parameter(net, "0.bias"), 0, 9, 9);
}

static void names_outside_a_scope(void **state)
{
    (void)state;
    const char *path = a_backbone();
    const char *const *missing, *const *unexpected;
    wk_module *layer = wk_nn_relu();
    assert_int_equal(wk_load(layer, path, .strict = false, .missing = &missing, .unexpected = &unexpected), WK_OK);
    expect_names(missing, NULL, NULL);
    assert_string_equal(unexpected[2], "head.weight");
    assert_int_equal(wk_load(layer, "/no/such/file", .missing = &missing), WK_ERR_IO);
    expect_error("load", NULL);
    assert_null(missing);
    wk_free(layer);
    expect_ok();
}

/* ---- a single tensor, and the contents --------------------------------------------------------------------------- */

static void a_single_tensor(void **state)
{
    (void)state;
    WK_SCOPE;
    const char *path = a_backbone();
    wk_tensor *weight = wk_load_tensor(path, "0.weight");
    EXPECT_SHAPE(weight, 2, 2);
    EXPECT_VALUES(weight, 0, 3, 4, 5, 6);
    assert_int_equal(wk_dtype_of(weight), WK_F64);
    assert_null(wk_load_tensor(path, "1.weight"));
    expect_error("load_tensor: ", "unknown tensor \"1.weight\"; the file has \"0.bias\", \"0.weight\"", NULL);
    assert_null(wk_load_tensor(path, NULL));
    expect_error("load_tensor: the name is NULL", NULL);
    assert_null(wk_load_tensor("", "a"));
    expect_error("load_tensor: the path is empty", NULL);
}

static void the_contents_of_a_file(void **state)
{
    (void)state;
    WK_SCOPE;
    static const char data[11];
    const wk_file_info *info =
        wk_load_info(write_file("info.safetensors",
                                "{\"__metadata__\":{\"format\":\"pt\",\"epoch\":\"7\"},"
                                "\"w\":{\"dtype\":\"F16\",\"shape\":[2,2],\"data_offsets\":[0,8]},"
                                "\"a\":{\"dtype\":\"F8_E4M3\",\"shape\":[],\"data_offsets\":[8,9]},"
                                "\"b\":{\"dtype\":\"BOOL\",\"shape\":[2],\"data_offsets\":[9,11]}}",
                                data, sizeof data));
    expect_ok();
    assert_int_equal(info->count, 3);
    assert_int_equal(info->pairs, 2);
    assert_string_equal(info->metadata[0]->key, "epoch");
    assert_string_equal(info->metadata[0]->value, "7");
    assert_string_equal(info->metadata[1]->value, "pt");
    assert_null(info->metadata[2]);
    const wk_file_tensor *small = info->tensors[0], *w = info->tensors[2];
    assert_string_equal(small->name, "a");
    assert_string_equal(small->dtype_name, "F8_E4M3");
    assert_int_equal(small->ndim, 0);
    assert_string_equal(w->name, "w");
    assert_int_equal(w->dtype, WK_F16);
    assert_int_equal(w->ndim, 2);
    assert_int_equal(w->shape[1], 2);
    assert_int_equal(w->bytes, 8);
    assert_null(info->tensors[3]);
    info = wk_load_info(write_file("empty.safetensors", "{}", data, 0));
    assert_non_null(info);
    assert_int_equal(info->count, 0);
    assert_null(*info->tensors);
    assert_null(*info->metadata);
}

static void metadata_is_saved(void **state)
{
    (void)state;
    WK_SCOPE;
    const wk_file_pair pairs[] = {{"classes", "a\nb \"c\""}, {"about", ""}};
    wk_module *net = wk_nn_linear(2, 1), *again = wk_nn_linear(2, 1);
    const char *path = scratch("metadata.safetensors");
    assert_int_equal(wk_save(net, path, .metadata = pairs, .pairs = 2), WK_OK);
    const wk_file_info *info = wk_load_info(path);
    assert_int_equal(info->count, 2);
    assert_int_equal(info->pairs, 2);
    assert_string_equal(info->metadata[0]->key, "about");
    assert_string_equal(info->metadata[0]->value, "");
    assert_string_equal(info->metadata[1]->value, "a\nb \"c\"");
    assert_int_equal(wk_load(again, path), WK_OK);
    assert_int_equal(wk_save(net, path), WK_OK);
    assert_int_equal(wk_load_info(path)->pairs, 0);
}

static void metadata_is_refused(void **state)
{
    (void)state;
    WK_SCOPE;
    const wk_file_pair half = {"a", NULL}, twice[] = {{"a", "1"}, {"a", "2"}}, bytes = {"a", "\xff"};
    wk_module *net = wk_nn_linear(2, 1);
    const char *path = scratch("refused.safetensors");
    assert_int_equal(wk_save(net, path, .metadata = &half, .pairs = 1), WK_ERR_ARGUMENT);
    expect_error("save: a key or value of .metadata is NULL", NULL);
    assert_int_equal(wk_save(net, path, .metadata = twice, .pairs = 2), WK_ERR_ARGUMENT);
    expect_error("save: metadata: duplicate key", NULL);
    assert_int_equal(wk_save(net, path, .metadata = &bytes, .pairs = 1), WK_ERR_ARGUMENT);
    expect_error("save: metadata: a string is not UTF-8", NULL);
    assert_int_equal(wk_save(net, path, .pairs = 1), WK_ERR_ARGUMENT);
    expect_error("save: .pairs is 1, but .metadata is NULL", NULL);
    assert_int_equal(wk_save(net, path, .metadata = twice, .pairs = -1), WK_ERR_ARGUMENT);
    expect_error("save: .pairs is -1", NULL);
    assert_null(wk_load_info(path));
    expect_error("cannot open", NULL);
}

static void contents_are_refused(void **state)
{
    (void)state;
    const char *path =
        write_file("hole.safetensors", "{\"a\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[1,3]}}", "abc", 3);
    assert_null(wk_load_info(path)); /* no scope owns the result */
    assert_int_equal(wk_error_code(), WK_ERR_STATE);
    expect_error("load_info: no scope is open", "WK_SCOPE", NULL);
    WK_SCOPE;
    assert_null(wk_load_info(path));
    expect_error("load_info", "hole.safetensors", NULL);
    assert_null(wk_load_tensor(path, "a"));
    expect_error("load_tensor", "hole.safetensors", NULL);
    assert_null(wk_load_info(NULL));
    expect_error("load_info: the path is NULL", NULL);
}

/* A dtype that the library does not have is an error only if the network needs the tensor. */
static void unsupported_dtypes(void **state)
{
    (void)state;
    WK_SCOPE;
    static const unsigned char data[2];
    wk_module *net = new_net(WK_F32);
    const char *path = write_file("small.safetensors",
                                  "{\"0.bias\":{\"dtype\":\"F8_E4M3\",\"shape\":[2],\"data_offsets\":[0,2]}}", data, 2);
    assert_int_equal(wk_load(net, path, .strict = false, .convert = true), WK_ERR_UNSUPPORTED);
    expect_error("load", "0.bias", "F8_E4M3", NULL);
    assert_int_equal(wk_load(wk_nn_relu(), path, .strict = false), WK_OK);
    assert_null(wk_load_tensor(path, "0.bias"));
    expect_error("load_tensor", "F8_E4M3", NULL);
}

/* Each file that is cut off is refused by all calls, and changes nothing. */
static void truncated_files(void **state)
{
    (void)state;
    WK_SCOPE;
    char path[256];
    snprintf(path, sizeof path, "%s", a_backbone());
    wk_module *net = new_net(WK_F64);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    const long bytes = ftell(file);
    fclose(file);
    for (long count = bytes - 1; count >= 0; count--) {
        assert_int_equal(truncate(path, count), 0);
        assert_null(wk_load_info(path));
        expect_error("load_info", NULL);
        assert_null(wk_load_tensor(path, "0.bias"));
        expect_error("load_tensor", NULL);
        assert_int_equal(wk_load(net, path, .strict = false, .convert = true), WK_ERR_FORMAT);
        expect_error("load", NULL);
    }
    EXPECT_VALUES(wk_module_parameter(net, "0.bias"), 0, 9, 9);
}

/* Mapped tensors have the values of the file, also those that are not aligned for their dtype, and change no file. */
static void tensors_are_mapped(void **state)
{
    (void)state;
    WK_SCOPE;
    WK_NO_GRAD;
    static const unsigned char data[] = {7, 8, 9, 0, 0, 0x80, 0x3f, 0, 0, 0, 0x40, 0, 0, 0, 0};
    const char *path = write_file("odd.safetensors",
                                  "{\"a\":{\"dtype\":\"U8\",\"shape\":[3],\"data_offsets\":[0,3]},"
                                  "\"b\":{\"dtype\":\"F32\",\"shape\":[3],\"data_offsets\":[3,15]}}",
                                  data, sizeof data);
    wk_module *net = wk_nn_relu();
    wk_tensor *a = wk_module_set_buffer(net, "a", wk_zeros((3), .dtype = WK_U8));
    wk_tensor *b = wk_module_set_buffer(net, "b", wk_zeros((3)));
    for (int k = 0; k < 2; k++) {
        assert_int_equal(wk_load(net, path, .mmap = true), WK_OK);
        EXPECT_VALUES(a, 0, 7, 8, 9);
        EXPECT_VALUES(b, 0, 1, 2, 0);
        wk_add_(a, 1);
        wk_add_(b, 1);
        EXPECT_VALUES(a, 0, 8, 9, 10);
    }
    assert_int_equal(wk_load(wk_nn_relu(), path, .strict = false, .mmap = true), WK_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_may_differ),
        cmocka_unit_test(names_must_agree_by_default),
        cmocka_unit_test(dtypes_are_converted_on_request),
        cmocka_unit_test(shapes_must_agree),
        cmocka_unit_test(names_outside_a_scope),
        cmocka_unit_test(a_single_tensor),
        cmocka_unit_test(the_contents_of_a_file),
        cmocka_unit_test(metadata_is_saved),
        cmocka_unit_test(metadata_is_refused),
        cmocka_unit_test(contents_are_refused),
        cmocka_unit_test(unsupported_dtypes),
        cmocka_unit_test(truncated_files),
        cmocka_unit_test(tensors_are_mapped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
