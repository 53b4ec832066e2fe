/* SPDX-License-Identifier: Apache-2.0 */
/* Tests exports through DLPack: contents, lifetime, refusals. */
#include "support/dlpack.h"

#include <pthread.h>

static other_versioned *out_of(wk_tensor *x)
{
    other_versioned *m = (other_versioned *)wk_to_dlpack(x);
    expect_ok();
    assert_non_null(m);
    assert_int_equal(m->major, 1);
    assert_int_equal(m->flags, 0);
    return m;
}

static void *first_of(const other_tensor *t)
{
    return (char *)t->data + t->byte_offset;
}

static void each_dtype_shares_its_memory(void **state)
{
    (void)state;
    for (int k = 0; k < DTYPE_ROWS; k++) {
        WK_SCOPE;
        const dtype_row *row = &dtype_rows[k];
        const size_t size = row->bits / 8;
        wk_tensor *x = wk_to_dtype(wk_reshape(wk_arange(6), (2, 3)), row->dtype);
        other_versioned *m = out_of(x);
        const other_tensor *t = &m->dl_tensor;
        assert_int_equal(t->code, row->code);
        assert_int_equal(t->bits, row->bits);
        assert_int_equal(t->lanes, 1);
        assert_int_equal(t->device_type, 1);
        assert_int_equal(t->device_id, 0);
        assert_int_equal(t->ndim, 2);
        assert_true(t->shape[0] == 2 && t->shape[1] == 3 && t->strides[0] == 3 && t->strides[1] == 1);
        assert_ptr_equal(first_of(t), wk_data(x));
        char bytes[48], *memory = first_of(t);
        assert_int_equal(wk_read(x, (void *)bytes, 6 * size), WK_OK);
        assert_memory_equal(memory, bytes, 6 * size);
        memcpy(memory, memory + size, size); /* the first element becomes 1, which the tensor shows */
        EXPECT_VALUES(wk_to_dtype(wk_select(wk_select(x, 0, 0), 0, 0), WK_F64), 0, 1);
        wk_zero_(x);
        wk_sync();
        for (size_t b = 0; b < 6 * size; b++) assert_int_equal(memory[b], 0);
        m->deleter(m);
    }
}

/* Each view is exported as it is: with its strides, from its first element. */
static void each_layout_is_shown(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_reshape(wk_arange(24, .dtype = WK_F32), (4, 6));
    wk_tensor *views[] = {x,
                          wk_transpose(x, 0, 1),
                          wk_slice(wk_slice(x, 1, 1, 6, 2), 0, 2, 4),
                          wk_expand(wk_slice(x, 1, 2, 3), (4, 5)),
                          wk_as_strided(x, (3, 4), (1, 1), 2), /* overlapping elements */
                          wk_select(wk_select(x, 0, 3), 0, 5),
                          wk_reshape(x, (1, 2, 2, 1, 3, 2, 1, 1))};
    for (size_t k = 0; k < sizeof views / sizeof *views; k++) {
        other_versioned *m = out_of(views[k]);
        const other_tensor *t = &m->dl_tensor;
        assert_int_equal(t->ndim, wk_ndim(views[k]));
        for (int d = 0; d < t->ndim; d++) {
            assert_int_equal(t->shape[d], wk_size(views[k], d));
            assert_int_equal(t->strides[d], wk_stride(views[k], d));
        }
        assert_ptr_equal(first_of(t), wk_data(views[k]));
        m->deleter(m);
    }
    other_versioned *m = out_of(wk_zeros((3, 0)));
    assert_true(m->dl_tensor.ndim == 2 && m->dl_tensor.shape[0] == 3 && m->dl_tensor.shape[1] == 0);
    m->deleter(m);
    expect_ok();
}

static void pending_work_runs_first(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *x = wk_add(wk_ones((4)), 1), *before = wk_mul(x, 10);
    other_versioned *m = out_of(wk_exp(wk_mul(x, 0)));
    assert_true(*(float *)first_of(&m->dl_tensor) == 1);
    m->deleter(m);
    m = out_of(x);
    float *numbers = first_of(&m->dl_tensor);
    numbers[1] = 7; /* earlier records do not read this value */
    wk_add_(x, 1);
    wk_sync();
    assert_true(numbers[0] == 3 && numbers[1] == 8);
    EXPECT_VALUES(before, 0, 20, 20, 20, 20);
    wk_mul_(x, 2);
    wk_free(x); /* recorded writes run nevertheless */
    wk_sync();
    assert_true(numbers[0] == 6 && numbers[1] == 16);
    m->deleter(m);
}

/* ---- lifetimes --------------------------------------------------------------------------------------------------- */

static void *delete_in_thread(void *managed)
{
    other_versioned *m = managed;
    m->deleter(m);
    return NULL;
}

static void the_memory_outlives_the_tensor(void **state)
{
    (void)state;
    const int64_t before = live_bytes();
    for (int way = 0; way < 4; way++) {
        other_versioned *m;
        {
            WK_SCOPE;
            wk_tensor *x = wk_ones((1000));
            m = out_of(way == 3 ? wk_slice(x, 0, 1, 4) : x);
            if (way == 1) wk_free(x);
        }
        assert_true(live_bytes() > before);
        assert_true(((float *)first_of(&m->dl_tensor))[2] == 1);
        if (way == 2) {
            pthread_t thread;
            assert_int_equal(pthread_create(&thread, NULL, delete_in_thread, m), 0);
            pthread_join(thread, NULL);
        } else {
            m->deleter(m);
        }
        assert_int_equal(live_bytes(), before);
    }
    expect_ok();
}

static void the_tensor_outlives_the_struct(void **state)
{
    (void)state;
    const int64_t before = live_bytes();
    {
        WK_SCOPE;
        wk_tensor *x = wk_ones((1000));
        other_versioned *one = out_of(x), *two = out_of(x);
        assert_ptr_equal(first_of(&one->dl_tensor), first_of(&two->dl_tensor));
        one->deleter(one);
        ((float *)first_of(&two->dl_tensor))[5] = 2;
        two->deleter(two);
        assert_true(wk_item(wk_sum(x)) == 1001);
    }
    assert_int_equal(live_bytes(), before);
    expect_ok();
}

/* The tensors of a network get new memory when it moves. */
static void a_moved_tensor_leaves_the_memory(void **state)
{
    (void)state;
    WK_SCOPE;
    static const wk_module_kind kind = {.size = sizeof kind, .name = "box"};
    wk_module *box = wk_module_new(&kind);
    wk_tensor *p = wk_module_add_parameter(box, "p", wk_full((500), 3.0));
    wk_tensor *b = wk_module_set_buffer(box, "b", wk_full((500), 4.0));
    other_versioned *of_p = out_of(wk_detach(p)), *of_b = out_of(b);
    assert_non_null(wk_module_to(box, test_null()));
    assert_true(((float *)first_of(&of_p->dl_tensor))[499] == 3);
    assert_true(((float *)first_of(&of_b->dl_tensor))[499] == 4);
    of_p->deleter(of_p);
    of_b->deleter(of_b);
    expect_ok();
}

static void the_unversioned_struct(void **state)
{
    (void)state;
    const int64_t before = live_bytes();
    other_unversioned *m;
    {
        WK_SCOPE;
        m = (other_unversioned *)wk_to_dlpack_unversioned(wk_transpose(wk_reshape(wk_arange(6), (2, 3)), 0, 1));
    }
    const other_tensor *t = &m->dl_tensor;
    assert_true(t->ndim == 2 && t->shape[0] == 3 && t->strides[1] == 3 && t->code == 0 && t->bits == 64);
    assert_int_equal(((int64_t *)first_of(t))[5], 5);
    m->deleter(m);
    assert_int_equal(live_bytes(), before);
}

/* ---- refusals ---------------------------------------------------------------------------------------------------- */

static void expect_refused(wk_tensor *x, wk_code code, const char *word, const char *remedy)
{
    wk_clear_error();
    assert_null(wk_to_dlpack(x));
    assert_int_equal(wk_error_code(), code);
    expect_error("to_dlpack: ", word, remedy, NULL);
    assert_null(wk_to_dlpack_unversioned(x));
    assert_int_equal(wk_error_code(), code);
    expect_error("to_dlpack_unversioned: ", word, remedy, NULL);
}

static void refusals_name_a_remedy(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_tensor *leaf = wk_ones((2, 2), .requires_grad = true), *base = wk_zeros((2, 2)), *view = wk_select(base, 0, 1);
    expect_refused(leaf, WK_ERR_STATE, "requires grad", "wk_detach(x)");
    expect_refused(wk_mul(leaf, 2), WK_ERR_STATE, "requires grad", "wk_detach(x)");
    wk_add_(base, leaf); /* through its base the view also has a history */
    expect_refused(view, WK_ERR_STATE, "requires grad", "wk_detach(x)");
    {
        WK_NO_GRAD;
        expect_refused(leaf, WK_ERR_STATE, "requires grad", "wk_detach(x)");
    }
    expect_refused(wk_ones((2), .device = test_null()), WK_ERR_DEVICE, "null", "wk_to(x, wk_cpu())");
    expect_refused(NULL, WK_ERR_ARGUMENT, "NULL", "to_dlpack");
    wk_tensor *x = wk_ones((2));
    wk_free(x);
    expect_refused(x, WK_ERR_STATE, "freed", "to_dlpack");
    wk_tensor *late = wk_index_select(wk_ones((2)), 0, wk_add(wk_of(int64_t, (1), 8), 1));
    assert_null(wk_to_dlpack(late));
    assert_int_equal(wk_error_code(), WK_ERR_INDEX);
    expect_error("index_select", "9", NULL);
    other_versioned *m = out_of(wk_detach(leaf));
    assert_ptr_equal(first_of(&m->dl_tensor), wk_data(leaf));
    m->deleter(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_dtype_shares_its_memory),   cmocka_unit_test(each_layout_is_shown),
        cmocka_unit_test(pending_work_runs_first),        cmocka_unit_test(the_memory_outlives_the_tensor),
        cmocka_unit_test(the_tensor_outlives_the_struct), cmocka_unit_test(a_moved_tensor_leaves_the_memory),
        cmocka_unit_test(the_unversioned_struct),         cmocka_unit_test_teardown(refusals_name_a_remedy, test_clean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
