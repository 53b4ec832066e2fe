/* SPDX-License-Identifier: Apache-2.0 */
/* The public table of ops: order, lookup, schemas, and wk_call with right and wrong arguments, in contexts of
 * its own. */
#include "support_wick.h"
#include "ops/forms.h"
#include <wick/call.h>

static void rows_are_complete_and_in_order(void **state)
{
    (void)state;
    const char *before = "";
    assert_true(wk_op_count() >= 110);
    for (int k = 0; k < wk_op_count(); k++) {
        wk_op op = {.size = sizeof op};
        assert_int_equal(wk_op_info(k, &op), WK_OK);
        if (strcmp(before, op.name) >= 0) fail_msg("%s stands after %s", op.name, before);
        before = op.name;
        size_t length = strlen(op.name);
        if (strncmp(op.schema, op.name, length) != 0 || op.schema[length] != '(' || !strstr(op.schema, ") -> "))
            fail_msg("%s: the schema is %s", op.name, op.schema);
        assert_true(op.group && *op.group && op.doc && *op.doc);
        assert_int_equal(wk_op_find(op.name), k);
        const bool has_dtype = strcmp(op.group, "reduction") == 0 && strstr(op.schema, "dtype? dtype");
        if (wk__ops[k]->takes_dtype != has_dtype) fail_msg("%s: the schema and takes_dtype differ", op.name);
    }
    assert_int_equal(wk_op_find("no_such_op"), -1);
    assert_int_equal(wk_op_find(NULL), -1);
    expect_fine();
}

static void info_is_checked(void **state)
{
    (void)state;
    wk_op op = {.size = sizeof op}, none = {0};
    assert_int_equal(wk_op_info(wk_op_count(), &op), WK_ERR_ARGUMENT);
    expect_error("range", NULL);
    assert_int_equal(wk_op_info(-1, &op), WK_ERR_ARGUMENT);
    expect_error("range", NULL);
    assert_int_equal(wk_op_info(0, &none), WK_ERR_ARGUMENT);
    expect_error("size", NULL);
}

static wk_code call(wk_context *context, const char *name, const wk_value *arguments, int given, wk_value *out,
                    char *message)
{
    int count = 1;
    wk_code code = wk_call(context, name, arguments, given, out, &count, NULL, message, 200);
    assert_int_equal(count, code == WK_OK ? 1 : 0);
    return code;
}

static void calls_by_name(void **state)
{
    (void)state;
    wk_context *own = wk_context_new();
    for (int shared = 0; shared < 2; shared++) {
        char message[200];
        wk_value out, sum,
            args[3] = {{.kind = WK_VALUE_INTS, .count = 1, .ints = (const int64_t[]){4}},
                       {.kind = WK_VALUE_FLOAT, .f = 2.5}};
        wk_context *context = shared ? NULL : own;
        assert_int_equal(call(context, "full", args, 2, &out, message), WK_OK);
        assert_string_equal(message, "");
        args[0] = out;
        args[1] = (wk_value){.kind = WK_VALUE_INT, .i = 2};
        assert_int_equal(call(context, "mul", args, 2, &sum, message), WK_OK);
        float values[4];
        assert_int_equal(wk_read(sum.tensor, values, sizeof values), WK_OK);
        for (int k = 0; k < 4; k++) assert_true(values[k] == 5);
        wk_free(sum.tensor);
        wk_free(out.tensor);
    }
    wk_context_free(own);
    expect_fine();
}

static void expect_refused(const char *name, const wk_value *arguments, int given, const char *word)
{
    char message[200];
    wk_value out;
    assert_int_not_equal(call(NULL, name, arguments, given, &out, message), WK_OK);
    if (!strstr(message, word)) fail_msg("\"%s\" is missing in: %s", word, message);
    expect_fine(); /* the thread's own error is not touched */
}

static void wrong_calls_say_why(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_value x = {.kind = WK_VALUE_TENSOR, .tensor = wk_ones((3))}, many[20] = {{0}};
    expect_refused("no_such_op", &x, 1, "no_such_op");
    expect_refused(NULL, &x, 1, "the name of the op is NULL");
    expect_refused("add", &x, 1, "argument 1 (other)");
    expect_refused("add", (const wk_value[]){x, {.kind = WK_VALUE_INTS}}, 2, "must be Tensor");
    expect_refused("exp", (const wk_value[]){x, x}, 2, "takes 1");
    many[0] = x;
    expect_refused("exp", many, 20, "20 were given");
    expect_refused("add", (const wk_value[]){x, {.kind = WK_VALUE_TENSOR, .tensor = wk_ones((4))}}, 2, "broadcast");
    const int64_t sizes[] = {2};
    expect_refused("zeros", &(wk_value){.kind = WK_VALUE_INTS, .count = -1, .ints = sizes}, 1, "-1 places");
    char message[8];
    wk_value out;
    int count = 1;
    assert_int_not_equal(wk_call(NULL, "no_such_op", &x, 1, &out, &count, NULL, message, sizeof message), WK_OK);
    assert_int_equal(strlen(message), sizeof message - 1);
    count = 0;
    assert_int_equal(wk_call(NULL, "exp", &x, 1, &out, &count, NULL, NULL, 0), WK_ERR_ARGUMENT);
}

/* What the table says of rows that wait is what the counters see. */
static void waiting_is_marked_and_counted(void **state)
{
    (void)state;
    WK_SCOPE;
    static const char *const names[] = {"masked_select", "nonzero", "nonzero_numpy", "unique", "exp", "sort", "isin"};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        wk_transfer_counters before = {.size = sizeof before}, after = before;
        wk_op op = {.size = sizeof op};
        const wk_dtype dtype = strcmp(names[k], "exp") == 0 ? WK_F32 : WK_BOOL;
        wk_value x = {.kind = WK_VALUE_TENSOR, .tensor = wk_zeros((3), .dtype = dtype, .device = test_null())};
        wk_value out[2], args[2] = {x, x};
        int count = 2, given = strcmp(names[k], "masked_select") == 0 || strcmp(names[k], "isin") == 0 ? 2 : 1;
        char message[200];
        assert_int_equal(wk_op_info(wk_op_find(names[k]), &op), WK_OK);
        wk_transfers(&before);
        if (wk_call(NULL, names[k], args, given, out, &count, NULL, message, sizeof message) != WK_OK)
            fail_msg("%s", message);
        wk_transfers(&after);
        if ((after.waits > before.waits) != op.waits) fail_msg("%s: %d", names[k], op.waits);
        for (int r = 0; r < count; r++) wk_free(out[r].tensor);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(rows_are_complete_and_in_order),
                                       cmocka_unit_test(info_is_checked), cmocka_unit_test(calls_by_name),
                                       cmocka_unit_test(wrong_calls_say_why),
                                       cmocka_unit_test(waiting_is_marked_and_counted)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
