/* SPDX-License-Identifier: Apache-2.0 */
/* Tests imports through DLPack: tensors share the memory of the other library, and release it once. */
#include "support/dlpack.h"

#include <pthread.h>

static void each_dtype_shares_its_memory(void **state)
{
    (void)state;
    for (int k = 0; k < DTYPE_ROWS; k++) {
        const dtype_row *row = &dtype_rows[k];
        const size_t size = row->bits / 8;
        int64_t memory[6] = {0};
        foreign f;
        foreign_begin(&f, memory);
        f.m.dl_tensor.code = row->code;
        f.m.dl_tensor.bits = row->bits;
        {
            WK_SCOPE;
            wk_tensor *x = in_of(&f), *one = wk_ones((), .dtype = row->dtype);
            expect_ok();
            assert_int_equal(wk_dtype_of(x), row->dtype);
            EXPECT_SHAPE(x, 2, 3);
            assert_true(wk_is_contiguous(x) && wk_data(x) == memory);
            assert_int_equal(wk_read(one, (void *)((char *)memory + 4 * size), size), WK_OK);
            EXPECT_VALUES(wk_to_dtype(x, WK_F64), 0, 0, 0, 0, 0, 1, 0);
            wk_copy_(wk_select(wk_select(x, 0, 0), 0, 2), one); /* done when the call returns */
            assert_memory_equal((char *)memory + 2 * size, (char *)memory + 4 * size, size);
            assert_int_equal(f.deleted, 0);
        }
        assert_int_equal(f.deleted, 1);
    }
}

/* A layout: the struct's fields, and the elements of the tensor for memory that contains 0, 1, 2, ... */
typedef struct layout {
    int ndim;
    int64_t shape[8], stride[8];
    bool dense; /* no strides are given */
    uint64_t byte_offset;
    int count;
    double values[12];
} layout;

static const layout layouts[] = {
    {.ndim = 2, .shape = {2, 3}, .dense = true, .count = 6, .values = {0, 1, 2, 3, 4, 5}},
    {.ndim = 2, .shape = {3, 2}, .stride = {1, 3}, .count = 6, .values = {0, 3, 1, 4, 2, 5}},
    {.ndim = 2, .shape = {2, 2}, .stride = {8, 2}, .byte_offset = 4, .count = 4, .values = {1, 3, 9, 11}},
    {.ndim = 2, .shape = {2, 3}, .stride = {0, 1}, .byte_offset = 8, .count = 6, .values = {2, 3, 4, 2, 3, 4}},
    {.ndim = 2, .shape = {3, 3}, .stride = {1, 1}, .count = 9, .values = {0, 1, 2, 1, 2, 3, 2, 3, 4}},
    {.ndim = 0, .byte_offset = 28, .count = 1, .values = {7}},
    {.ndim = 0, .dense = true, .count = 1, .values = {0}},
    {.ndim = 3, .shape = {1, 2, 1}, .stride = {INT64_MIN, 5, -7}, .count = 2, .values = {0, 5}},
    {.ndim = 8,
     .shape = {1, 2, 1, 1, 3, 1, 1, 2},
     .dense = true,
     .count = 12,
     .values = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}},
};

static void set_layout(foreign *f, const layout *l)
{
    other_tensor *t = &f->m.dl_tensor;
    t->ndim = l->ndim;
    memcpy(f->shape, l->shape, sizeof f->shape);
    memcpy(f->stride, l->stride, sizeof f->stride);
    t->byte_offset = l->byte_offset;
    if (l->dense) t->strides = NULL;
    if (!l->ndim) t->shape = NULL;
}

static void each_layout_shares_its_memory(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof layouts / sizeof *layouts; k++)
        for (int read_only = 0; read_only < 2; read_only++) {
            WK_SCOPE;
            const layout *l = &layouts[k];
            float memory[12];
            foreign f;
            for (int i = 0; i < 12; i++) memory[i] = (float)i;
            foreign_begin(&f, memory);
            set_layout(&f, l);
            f.m.flags = read_only ? WK_DL_READ_ONLY : WK_DL_IS_COPIED;
            wk_tensor *x = in_of(&f);
            expect_ok();
            assert_int_equal(f.deleted, read_only); /* a copy releases it immediately */
            expect_shape(x, l->ndim, l->shape);
            expect_values(x, l->count, l->values, 0);
            wk_tensor *ramp = wk_from(memory, WK_ARRAY(l->shape, l->ndim)); /* a dense tensor beside a strided one */
            expect_values(wk_sub(wk_add(x, ramp), ramp), l->count, l->values, 0);
            assert_true((wk_data(x) == (char *)memory + l->byte_offset) == !read_only);
            memory[l->byte_offset / 4] = -1;
            double changed[12];
            memcpy(changed, l->values, sizeof changed);
            for (int i = 0; i < l->count && !read_only; i++)
                if (l->values[i] == l->values[0]) changed[i] = -1;
            expect_values(x, l->count, changed, 0);
            wk_free(x);
            assert_int_equal(f.deleted, 1);
        }
}

static void no_elements_need_no_memory(void **state)
{
    (void)state;
    WK_SCOPE;
    foreign f;
    foreign_begin(&f, NULL);
    f.shape[1] = 0;
    f.stride[0] = INT64_MAX;
    wk_tensor *x = in_of(&f);
    EXPECT_SHAPE(x, 2, 0);
    assert_int_equal(f.deleted, 1);
    expect_ok();
}

/* ---- lifetimes --------------------------------------------------------------------------------------------------- */

static void *free_in_thread(void *x)
{
    wk_free(x);
    return NULL;
}

static void the_last_user_releases_the_memory(void **state)
{
    (void)state;
    float memory[6] = {0, 1, 2, 3, 4, 5};
    for (int way = 0; way < 4; way++) {
        foreign f;
        foreign_begin(&f, memory);
        if (way == 3) f.m.deleter = NULL;
        wk_tensor *x = in_of(&f), *view = wk_select(x, 0, 1);
        wk_free(x);
        assert_int_equal(f.deleted, 0);
        EXPECT_VALUES(view, 0, 3, 4, 5);
        if (way == 1) {
            WK_SCOPE;
            wk_tensor *inner = wk_reshape(view, (3, 1));
            wk_free(view);
            assert_int_equal(f.deleted, 0);
            EXPECT_VALUES(inner, 0, 3, 4, 5);
        } else if (way == 2) {
            pthread_t thread;
            assert_int_equal(pthread_create(&thread, NULL, free_in_thread, view), 0);
            pthread_join(thread, NULL);
        } else {
            wk_free(view);
        }
        assert_int_equal(f.deleted, way != 3);
    }
    expect_ok();
}

static void delete_older(other_unversioned *self)
{
    ++*(int *)self->manager_ctx;
}

static void the_unversioned_struct(void **state)
{
    (void)state;
    int deleted = 0;
    float memory[6] = {0, 1, 2, 3, 4, 5};
    int64_t shape[] = {3, 2}, stride[] = {1, 3};
    other_unversioned m = {
        .dl_tensor = {memory, 1, 0, 2, 2, 32, 1, shape, stride, 0}, .manager_ctx = &deleted, .deleter = delete_older};
    m.dl_tensor.code = 5;
    assert_null(wk_from_dlpack_unversioned((wk_dl_managed_unversioned *)&m));
    expect_error("from_dlpack_unversioned: ", "complex32", NULL);
    m.dl_tensor.code = 2;
    wk_tensor *x = wk_from_dlpack_unversioned((wk_dl_managed_unversioned *)&m);
    EXPECT_VALUES(x, 0, 0, 3, 1, 4, 2, 5);
    assert_int_equal(deleted, 0);
    wk_free(x);
    assert_int_equal(deleted, 1);
    assert_null(wk_from_dlpack_unversioned(NULL));
    expect_error("from_dlpack_unversioned: ", "NULL", NULL);
}

/* Export and reimport: each side keeps the memory alive as long as it needs it. */
static void a_round_trip_shares_the_memory(void **state)
{
    (void)state;
    const int64_t before = live_bytes();
    wk_tensor *again;
    {
        WK_SCOPE;
        wk_tensor *x = wk_transpose(wk_reshape(wk_arange(6, .dtype = WK_F32), (2, 3)), 0, 1);
        again = wk_retain(wk_from_dlpack(wk_to_dlpack(x)));
        assert_ptr_equal(wk_data(again), wk_data(x));
        assert_int_equal(wk_stride(again, 0), 1);
        wk_tensor *third = wk_from_dlpack_unversioned(wk_to_dlpack_unversioned(again));
        wk_mul_(third, 10);
        EXPECT_VALUES(x, 0, 0, 30, 10, 40, 20, 50);
    }
    EXPECT_VALUES(again, 0, 0, 30, 10, 40, 20, 50);
    assert_true(live_bytes() > before);
    wk_free(again);
    assert_int_equal(live_bytes(), before);
    expect_ok();
}

/* A strided leaf, and a write through a view of it. */
static void gradients_flow_through_any_layout(void **state)
{
    (void)state;
    WK_SCOPE;
    float memory[] = {1, 2, 3, 4, 5, 6};
    foreign f, g;
    foreign_begin(&f, memory);
    set_layout(&f, &layouts[1]);
    wk_tensor *x = wk_requires_grad_(in_of(&f), true);
    wk_backward(wk_sum(wk_mul(x, x)));
    EXPECT_VALUES(wk_grad_of(x), 0, 2, 8, 4, 10, 6, 12);
    float target[6] = {0};
    foreign_begin(&g, target);
    set_layout(&g, &layouts[1]);
    wk_tensor *y = in_of(&g);
    wk_copy_(wk_select(y, 1, 1), wk_select(x, 1, 0));
    assert_true(target[3] == 1 && target[4] == 2 && target[5] == 3 && target[0] == 0);
    wk_set_grad(x, NULL);
    wk_backward(wk_sum(wk_mul(y, 3)));
    EXPECT_VALUES(wk_grad_of(x), 0, 3, 0, 3, 0, 3, 0);
}

static float lent[16] __attribute__((aligned(16)));

static void pinned_memory_is_shared_and_misaligned_memory_copied(void **state)
{
    (void)state;
    static const int32_t host[] = {1, 3, 11};
    WK_SCOPE;
    for (int k = 0; k < 3; k++) {
        foreign f;
        foreign_begin(&f, lent);
        f.m.dl_tensor.device_type = host[k];
        wk_tensor *x = in_of(&f);
        assert_ptr_equal(wk_data(x), lent);
        wk_free(x);
    }
    const float one = 1;
    unsigned char bytes[32] = {0};
    memcpy(bytes + 1, &one, sizeof one);
    foreign f;
    foreign_begin(&f, bytes);
    f.m.dl_tensor.byte_offset = 1;
    f.m.flags = WK_DL_READ_ONLY;
    EXPECT_VALUES(in_of(&f), 0, 1, 0, 0, 0, 0, 0);
    assert_int_equal(f.deleted, 1);
}

static void any_byte_but_0_is_true(void **state)
{
    (void)state;
    unsigned char bytes[6] = {0, 1, 2, 128, 255, 0};
    for (int is_copied = 0; is_copied < 2; is_copied++) {
        WK_SCOPE;
        foreign f;
        foreign_begin(&f, bytes);
        f.m.dl_tensor.code = 6;
        f.m.dl_tensor.bits = 8;
        f.m.flags = is_copied ? WK_DL_READ_ONLY : 0;
        wk_tensor *x = in_of(&f);
        EXPECT_VALUES(x, 0, 0, 1, 1, 1, 1, 0);
        EXPECT_VALUES(wk_sum(x), 0, 4);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_dtype_shares_its_memory),
        cmocka_unit_test(each_layout_shares_its_memory),
        cmocka_unit_test(no_elements_need_no_memory),
        cmocka_unit_test(the_last_user_releases_the_memory),
        cmocka_unit_test(the_unversioned_struct),
        cmocka_unit_test(a_round_trip_shares_the_memory),
        cmocka_unit_test(gradients_flow_through_any_layout),
        cmocka_unit_test(pinned_memory_is_shared_and_misaligned_memory_copied),
        cmocka_unit_test(any_byte_but_0_is_true),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
