/* SPDX-License-Identifier: Apache-2.0 */
/* Tests DLPack structs that are refused: the message states the reason, and the struct is unchanged. */
#include "support/dlpack.h"

static float lent[16] __attribute__((aligned(16)));

/* An invalid struct: up to three of its members have these values. */
typedef struct refusal {
    wk_code code;
    const char *word;
    struct {
        size_t at, size;
        int64_t number;
    } wrong[3];
} refusal;
#define MEMBER(name) offsetof(foreign, name), sizeof(((foreign *)NULL)->name)
#define TENSOR(name) MEMBER(m.dl_tensor.name)

static const refusal refusals[] = {
    {WK_ERR_UNSUPPORTED, "DLPack version 2.9", {{MEMBER(m.major), 2}, {TENSOR(ndim), -5}}},
    {WK_ERR_UNSUPPORTED, "DLPack version 0.9", {{MEMBER(m.major), 0}}},
    {WK_ERR_DEVICE, "device type 2, id 3", {{TENSOR(device_type), 2}, {TENSOR(device_id), 3}}},
    {WK_ERR_DTYPE, "complex64", {{TENSOR(code), 5}, {TENSOR(bits), 64}}},
    {WK_ERR_DTYPE, "type 10 of 8 bits", {{TENSOR(code), 10}, {TENSOR(bits), 8}}}, /* a float of 8 bits */
    {WK_ERR_DTYPE, "uint16", {{TENSOR(code), 1}, {TENSOR(bits), 16}}},
    {WK_ERR_DTYPE, "bool1", {{TENSOR(code), 6}, {TENSOR(bits), 1}}},
    {WK_ERR_DTYPE, "handle64", {{TENSOR(code), 3}, {TENSOR(bits), 64}}},
    {WK_ERR_DTYPE, "int0", {{TENSOR(code), 0}, {TENSOR(bits), 0}}},
    {WK_ERR_DTYPE, "type 255 of 255 bits", {{TENSOR(code), 255}, {TENSOR(bits), 255}}},
    {WK_ERR_DTYPE, "float32 in vectors of 4", {{TENSOR(lanes), 4}}},
    {WK_ERR_DTYPE, "float32 in vectors of 0", {{TENSOR(lanes), 0}}},
    {WK_ERR_SHAPE, "-1 dimensions", {{TENSOR(ndim), -1}}},
    {WK_ERR_SHAPE, "9 dimensions", {{TENSOR(ndim), 9}}},
    {WK_ERR_SHAPE, "2147483647 dimensions", {{TENSOR(ndim), INT32_MAX}}},
    {WK_ERR_ARGUMENT, "shape is NULL", {{TENSOR(shape), 0}}},
    {WK_ERR_SHAPE, "negative size", {{MEMBER(shape[1]), -3}}},
    {WK_ERR_SHAPE, "negative size", {{MEMBER(shape[0]), 0}, {MEMBER(shape[1]), INT64_MIN}}},
    {WK_ERR_SHAPE, "2^63 bytes", {{MEMBER(shape[0]), INT64_C(1) << 62}, {MEMBER(stride[0]), 0}}},
    {WK_ERR_SHAPE, "address space", {{MEMBER(stride[0]), INT64_MAX}}},
    {WK_ERR_SHAPE, "address space", {{MEMBER(stride[0]), INT64_MAX - 1}, {MEMBER(stride[1]), 1}}},
    {WK_ERR_SHAPE, "address space", {{MEMBER(stride[0]), INT64_MAX - 2}}}, /* this many elements, and one more */
    {WK_ERR_SHAPE, "address space", {{TENSOR(code), 0}, {TENSOR(bits), 8}, {MEMBER(stride[0]), INT64_MAX - 2}}},
    {WK_ERR_SHAPE, "address space", {{MEMBER(stride[0]), INT64_C(1) << 61}}},
    {WK_ERR_SHAPE, "address space", {{TENSOR(byte_offset), -8}}},
    {WK_ERR_SHAPE, "address space", {{TENSOR(data), -16}}}, /* the first element is below address 0 */
    {WK_ERR_ARGUMENT, "stride -3", {{MEMBER(stride[0]), -3}}},
    {WK_ERR_ARGUMENT, "data is NULL", {{TENSOR(data), 0}}},
    {WK_ERR_ARGUMENT, "data is NULL", {{TENSOR(data), 0}, {TENSOR(byte_offset), 64}}},
    {WK_ERR_ARGUMENT, "not aligned for f32", {{TENSOR(byte_offset), 2}}},
};

static void refusals_do_not_change_the_struct(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof refusals / sizeof *refusals; k++) {
        WK_SCOPE;
        const refusal *r = &refusals[k];
        foreign f;
        foreign_begin(&f, lent);
        for (int w = 0; w < 3; w++) memcpy((char *)&f + r->wrong[w].at, &r->wrong[w].number, r->wrong[w].size);
        const foreign before = f;
        assert_null(in_of(&f));
        if (wk_error_code() != r->code) fail_msg("%s: %s", r->word, wk_error());
        expect_error("from_dlpack: ", r->word, NULL);
        assert_memory_equal(&f, &before, sizeof f);
    }
    assert_null(wk_from_dlpack(NULL));
    expect_error("from_dlpack: ", "NULL", NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(refusals_do_not_change_the_struct)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
