/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the public table of ops: order, lookup, schemas, and wk_call with valid and invalid arguments, in separate
 * contexts. */
#include "support/wick.h"
#include "ops/core/entries.h"
#include "support/sweep/sweep.h"
#include <wick/call.h>

static void rows_are_complete_and_in_order(void **state)
{
    (void)state;
    const char *before = "";
    assert_true(wk_op_count() >= 110);
    for (int k = 0; k < wk_op_count(); k++) {
        wk_op op = {.size = sizeof op};
        assert_int_equal(wk_op_info(k, &op), WK_OK);
        if (strcmp(before, op.name) >= 0) fail_msg("%s comes after %s", op.name, before);
        before = op.name;
        size_t length = strlen(op.name);
        if (strncmp(op.schema, op.name, length) != 0 || op.schema[length] != '(' || !strstr(op.schema, ") -> "))
            fail_msg("%s: the schema is %s", op.name, op.schema);
        assert_true(op.category && *op.category && op.doc && *op.doc);
        assert_int_equal(wk_op_find(op.name), k);
        const bool has_dtype = strcmp(op.category, "reduction") == 0 && strstr(op.schema, "dtype? dtype");
        if (wk__ops[k]->takes_dtype != has_dtype) fail_msg("%s: the schema and takes_dtype differ", op.name);
    }
    assert_int_equal(wk_op_find("no_such_op"), -1);
    assert_int_equal(wk_op_find(NULL), -1);
    expect_ok();
}

static void info_is_checked(void **state)
{
    (void)state;
    wk_op op = {.size = sizeof op}, none = {0};
    assert_int_equal(wk_op_info(wk_op_count(), &op), WK_ERR_ARGUMENT);
    expect_error("is out of range", NULL);
    assert_int_equal(wk_op_info(-1, &op), WK_ERR_ARGUMENT);
    expect_error("is out of range", NULL);
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
    expect_ok();
}

static void expect_refused(const char *name, const wk_value *arguments, int given, const char *word)
{
    char message[200];
    wk_value out;
    assert_int_not_equal(call(NULL, name, arguments, given, &out, message), WK_OK);
    if (!strstr(message, word)) fail_msg("\"%s\" is missing in: %s", word, message);
    expect_ok(); /* the thread's own error is unchanged */
}

static void wrong_calls_are_explained(void **state)
{
    (void)state;
    WK_SCOPE;
    wk_value x = {.kind = WK_VALUE_TENSOR, .tensor = wk_ones((3))}, many[20] = {{0}};
    expect_refused("no_such_op", &x, 1, "no_such_op");
    expect_refused(NULL, &x, 1, "the name of the op is NULL");
    expect_refused("sofmax", &x, 1, "call: unknown op \"sofmax\"; did you mean softmax?");
    expect_refused("wk_add", &x, 1, "; did you mean add?");
    expect_refused("Add", &x, 1, "; did you mean add?");
    expect_refused("add", &x, 1, "add: argument 1 (other) is missing; expected Tensor");
    expect_refused("softmax", &x, 1, "softmax: argument 1 (dim) is missing; expected int; schema: softmax(");
    expect_refused("softmax", (const wk_value[]){x, {.kind = WK_VALUE_NONE}}, 2, "argument 1 (dim) must be int");
    expect_refused("add", &x, 1, "argument 1 (other)");
    expect_refused("add", (const wk_value[]){x, {.kind = WK_VALUE_INTS}}, 2, "must be Tensor");
    expect_refused("exp", (const wk_value[]){x, x}, 2, "expected 1");
    many[0] = x;
    expect_refused("exp", many, 20, "got 20");
    expect_refused("add", (const wk_value[]){x, {.kind = WK_VALUE_TENSOR, .tensor = wk_ones((4))}}, 2, "broadcast");
    const int64_t sizes[] = {2};
    expect_refused("zeros", &(wk_value){.kind = WK_VALUE_INTS, .count = -1, .ints = sizes}, 1, "negative length -1");
    char message[8];
    wk_value out;
    int count = 1;
    assert_int_not_equal(wk_call(NULL, "no_such_op", &x, 1, &out, &count, NULL, message, sizeof message), WK_OK);
    assert_int_equal(strlen(message), sizeof message - 1);
    char words[200];
    assert_int_not_equal(wk_call(NULL, "far_from_any_op", &x, 1, &out, &count, NULL, words, sizeof words), WK_OK);
    assert_string_equal(words, "call: unknown op \"far_from_any_op\"");
    count = 0;
    assert_int_equal(wk_call(NULL, "exp", &x, 1, &out, &count, NULL, words, sizeof words), WK_ERR_ARGUMENT);
    assert_string_equal(words, "exp: returns 1 result, but the array holds 0; pass a larger array");
}

/* Returns true if one of the sample's calls, in any dtype that the row accepts, waited. */
static bool has_waited(const wk__op *op, const char *text)
{
    bool waited = false;
    const char *why;
    sweep_sample sample;
    if (!sweep_parse(text, &sample, &why)) fail_msg("%s: sample \"%s\": %s", op->name, text, why);
    for (wk_dtype dtype = WK_F32; dtype < WK_DTYPE_COUNT; dtype++) {
        WK_SCOPE;
        wk_tensor *tensor[SWEEP_TENSORS];
        wk_value out[SWEEP_RESULTS];
        int count = SWEEP_RESULTS;
        char message[8];
        wk_transfer_counters before = {.size = sizeof before}, after = before;
        for (int k = 0; k < sample.operands; k++) {
            const sweep_operand *o = &sample.operand[k];
            tensor[k] =
                wk_zeros(WK_ARRAY(o->shape, o->ndim), .dtype = o->fixed ? o->fixed : dtype, .device = test_null());
        }
        sweep_bind(&sample, tensor);
        wk_transfer_stats(&before);
        if (wk_call(NULL, op->name, sample.argument, sample.arguments, out, &count, NULL, message, sizeof message))
            count = 0;
        wk_transfer_stats(&after);
        waited = waited || after.waits > before.waits;
        for (int r = 0; r < count; r++) wk_free(out[r].tensor);
    }
    return waited;
}

/* Rows marked as waiting are those that the counters see. If each call runs at once, a copy to the host also waits. */
static void waiting_is_marked_and_counted(void **state)
{
    (void)state;
    int marked = 0;
    for (int k = 0; k < wk__op_total; k++) {
        const wk__op *op = wk__ops[k];
        bool waited = false;
        if (!sweep_has_samples(op)) continue;
        for (const char *const *text = op_reference_of(op)->samples; *text; text++)
            waited = has_waited(op, *text) || waited;
        const bool copied = waited && strcmp(op->name, "to") == 0 && getenv("WICK_EAGER") != NULL;
        if (waited != op->data_dependent_shape && !copied)
            fail_msg("%s: data_dependent_shape is %d", op->name, op->data_dependent_shape);
        marked += waited;
    }
    assert_true(marked > 0);
}

/* ---- parameters -------------------------------------------------------------------------------------------------- */

static wk_parameter parameter_of(const char *op, int k)
{
    wk_parameter p = {.size = sizeof p};
    assert_int_equal(wk_op_parameter(wk_op_find(op), k, &p), WK_OK);
    return p;
}

/* Each parameter has a name and one kind, as in its schema. Optional parameters follow the required ones, because a
 * call may omit trailing arguments. */
static void parameters_are_those_of_the_schema(void **state)
{
    (void)state;
    for (int i = 0; i < wk_op_count(); i++) {
        wk_op op = {.size = sizeof op};
        wk_op_info(i, &op);
        const char *at = strchr(op.schema, '(');
        for (int k = 0; k < op.parameters; k++) {
            wk_parameter p = {.size = sizeof p};
            assert_int_equal(wk_op_parameter(i, k, &p), WK_OK);
            const size_t length = strlen(p.name);
            do at = strstr(at + 1, p.name);
            while (at && (at[-1] != ' ' || !strchr("=,)", at[length])));
            if (!at) fail_msg("%s: %s is not in %s", op.name, p.name, op.schema);
            at += length;
            if (p.optional != (*at == '=')) fail_msg("%s: %s, optional", op.name, p.name);
            assert_true(p.kind > WK_VALUE_NONE && p.kind <= WK_VALUE_TEXT);
            assert_true(p.default_value.kind == WK_VALUE_NONE || (p.optional && p.default_value.kind == p.kind));
            assert_true(!p.choices || p.kind == WK_VALUE_TEXT || p.kind == WK_VALUE_INTS);
            if (p.mutated) assert_true(k == 0 && p.kind == WK_VALUE_TENSOR);
        }
        assert_int_equal(wk_op_parameter(i, op.parameters, &(wk_parameter){.size = sizeof(wk_parameter)}),
                         WK_ERR_ARGUMENT);
        expect_error("op_parameter", op.name, NULL);
        assert_true(op.results == -1 || (op.results < 2) == !op.result_names);
        for (int k = 0; k < op.results && op.result_names; k++) assert_true(*op.result_names[k] != 0);
    }
    expect_ok();
}

static void parameters_describe_defaults_and_choices(void **state)
{
    (void)state;
    wk_parameter p = parameter_of("mse_loss", 2);
    assert_string_equal(p.name, "reduction");
    assert_string_equal(p.default_value.text, "mean");
    assert_string_equal(p.choices[1], "sum");
    assert_string_equal(p.choices[2], "none");
    assert_null(p.choices[3]);
    p = parameter_of("div", 2);
    assert_true(p.keyword_only && p.optional && p.default_value.kind == WK_VALUE_NONE);
    p = parameter_of("add", 1);
    assert_true(p.accepts_scalar && !p.optional);
    p = parameter_of("softplus", 2);
    assert_true(p.default_value.f == 20);
    p = parameter_of("topk", 3);
    assert_true(p.kind == WK_VALUE_BOOL && p.default_value.i == 1);
    p = parameter_of("roll", 2);
    assert_true(p.default_value.kind == WK_VALUE_INTS && p.default_value.count == 0);
    assert_true(parameter_of("copy_", 0).mutated);
    wk_op op = {.size = sizeof op};
    wk_op_info(wk_op_find("sort"), &op);
    assert_int_equal(op.results, 2);
    assert_string_equal(op.result_names[1], "indices");
    wk_op_info(wk_op_find("transpose"), &op);
    assert_true(op.view && !op.in_place);
    wk_op_info(wk_op_find("relu"), &op);
    assert_true(!op.view && op.in_place);
    expect_ok();
}

/* ---- forms of arguments and results ------------------------------------------------------------------------------ */

static void in_place_names_are_found(void **state)
{
    (void)state;
    assert_int_equal(wk_op_find("log_"), wk_op_find("log"));
    assert_int_equal(wk_op_find("add_"), wk_op_find("add"));
    assert_int_equal(wk_op_find("softmax_"), -1);
    assert_int_equal(wk_op_find("copy__"), -1);
    assert_int_equal(wk_op_find("_"), -1);
    assert_int_equal(wk_op_find(""), -1);
}

/* The target is passed and its reference count rises: both target and result are freed. */
static void calls_in_place(void **state)
{
    (void)state;
    static const char *const names[] = {"add_", "copy_", "fill_"};
    for (int k = 0; k < 3; k++) {
        char message[200];
        wk_tensor *x = wk_full((3), 2.0f);
        wk_value out, args[2] = {{.kind = WK_VALUE_TENSOR, .tensor = x}, {.kind = WK_VALUE_INT, .i = 3}};
        wk_tensor *three = wk_full((), 3.0f);
        if (k == 1) args[1] = (wk_value){.kind = WK_VALUE_TENSOR, .tensor = three};
        if (call(NULL, names[k], args, 2, &out, message) != WK_OK) fail_msg("%s", message);
        assert_ptr_equal(out.tensor, x);
        wk_free(out.tensor);
        assert_true(wk_item(wk_select(x, 0, 1)) == (k == 0 ? 5 : 3));
        wk_free(x);
        wk_free(three);
    }
    expect_ok();
}

/* The target of an in-place call must be a tensor, even if NAME accepts a number. */
static void numbers_are_not_targets(void **state)
{
    (void)state;
    WK_SCOPE;
    const wk_value args[2] = {{.kind = WK_VALUE_INT, .i = 5}, {.kind = WK_VALUE_TENSOR, .tensor = wk_ones((2))}};
    expect_refused("sub_", args, 2, "argument 0 (self) must be Tensor");
    assert_true(wk_item(wk_sum(args[1].tensor)) == 2);
    char message[200];
    wk_value out;
    assert_int_equal(call(NULL, "sub", args, 2, &out, message), WK_OK);
    wk_free(out.tensor);
}

/* A number is accepted as a list of one element, a bool as a number. */
static void arguments_are_converted(void **state)
{
    (void)state;
    WK_SCOPE;
    char message[200];
    wk_value out, args[3] = {{.kind = WK_VALUE_TENSOR, .tensor = wk_ones((2, 3))}, {.kind = WK_VALUE_INT, .i = 1}};
    assert_int_equal(call(NULL, "sum", args, 2, &out, message), WK_OK);
    assert_int_equal(wk_size(out.tensor, 0), 2);
    assert_int_equal(wk_ndim(out.tensor), 1);
    wk_free(out.tensor);
    args[1] = (wk_value){.kind = WK_VALUE_BOOL, .i = 1};
    assert_int_equal(call(NULL, "add", args, 2, &out, message), WK_OK);
    assert_true(wk_item(wk_select(wk_select(out.tensor, 0, 0), 0, 0)) == 2);
    wk_free(out.tensor);
    args[1] = args[0];
    args[2] = (wk_value){.kind = WK_VALUE_TEXT, .text = "sum"};
    assert_int_equal(call(NULL, "l1_loss", args, 3, &out, message), WK_OK);
    assert_true(wk_item(out.tensor) == 0);
    wk_free(out.tensor);
    args[2].text = "total";
    expect_refused("l1_loss", args, 3, "\"mean\" or \"sum\" or \"none\"");
    expect_ok();
}

/* A bool has its own class in type promotion, as in PyTorch. */
static void bools_do_not_promote(void **state)
{
    (void)state;
    static const wk_dtype dtypes[] = {WK_BOOL, WK_U8, WK_I64, WK_F16};
    WK_SCOPE;
    for (size_t k = 0; k < sizeof dtypes / sizeof *dtypes; k++) {
        char message[200];
        wk_value out, args[2] = {{.kind = WK_VALUE_TENSOR, .tensor = wk_zeros((2), .dtype = dtypes[k])},
                                 {.kind = WK_VALUE_BOOL, .i = 1}};
        if (call(NULL, "maximum", args, 2, &out, message) != WK_OK) fail_msg("%s", message);
        assert_int_equal(wk_dtype_of(out.tensor), dtypes[k]);
        assert_true(wk_item(wk_select(out.tensor, 0, 1)) == 1);
        wk_free(out.tensor);
    }
    char message[200];
    wk_value out, args[2] = {{.kind = WK_VALUE_INT, .i = 2}, {.kind = WK_VALUE_BOOL, .i = 1}};
    assert_int_equal(call(NULL, "full", args, 2, &out, message), WK_OK);
    assert_int_equal(wk_dtype_of(out.tensor), WK_BOOL);
    wk_free(out.tensor);
    expect_ok();
}

/* Integers remain integers; an omitted argument selects another function; unrequested results are not created. */
static void entries_follow_the_row(void **state)
{
    (void)state;
    WK_SCOPE;
    char message[200];
    const int64_t sizes[] = {2, 1}, large = ((int64_t)1 << 60) + 1;
    wk_value out[3], x = {.kind = WK_VALUE_TENSOR, .tensor = wk_of(int64_t, (3), 7, 5, 7)};
    assert_int_equal(call(NULL, "full_like", (const wk_value[]){x, wk_value_of_int(large)}, 2, out, message), WK_OK);
    assert_true(wk_item_i64(wk_select(out[0].tensor, 0, 2)) == large);
    wk_free(out[0].tensor);
    assert_int_equal(call(NULL, "arange", (const wk_value[]){wk_value_of_int(4)}, 1, out, message), WK_OK);
    EXPECT_VALUES(out[0].tensor, 0, 0, 1, 2, 3);
    assert_int_equal(wk_dtype_of(out[0].tensor), WK_I64);
    wk_free(out[0].tensor);
    for (int fraction = 0; fraction < 3; fraction++) { /* one of the three is a fraction, so the result is of floats */
        wk_value numbers[] = {wk_value_of_int(1), wk_value_of_int(3), wk_value_of_int(1)};
        numbers[fraction] = wk_value_of_float((double)numbers[fraction].i);
        assert_int_equal(call(NULL, "arange", numbers, 3, out, message), WK_OK);
        EXPECT_VALUES(out[0].tensor, 0, 1, 2);
        assert_int_equal(wk_dtype_of(out[0].tensor), WK_F32);
        wk_free(out[0].tensor);
    }
    assert_int_equal(call(NULL, "roll", (const wk_value[]){x, wk_value_of_int(1)}, 2, out, message), WK_OK);
    EXPECT_VALUES(out[0].tensor, 0, 7, 7, 5);
    wk_free(out[0].tensor);
    const wk_value strided[] = {
        x, {.kind = WK_VALUE_INTS, .count = 2, .ints = sizes}, {.kind = WK_VALUE_INTS, .count = 1, .ints = sizes}};
    expect_refused("as_strided", strided, 3, "as_strided: size and stride have different lengths");
    expect_refused("median", (const wk_value[]){x, wk_value_of_int(4)}, 2, "median: ");
    int count = 3;
    const wk_value with_counts[] = {x, {0}, {0}, {.kind = WK_VALUE_BOOL, .i = 1}};
    assert_int_equal(wk_call(NULL, "unique", with_counts, 4, out, &count, NULL, message, sizeof message), WK_OK);
    assert_int_equal(count, 2);
    EXPECT_VALUES(out[0].tensor, 0, 5, 7);
    EXPECT_VALUES(out[1].tensor, 0, 1, 2);
    wk_free(out[0].tensor);
    wk_free(out[1].tensor);
    expect_ok();
}

static void any_number_of_results(void **state)
{
    (void)state;
    enum { MANY = 1000 };
    WK_SCOPE;
    static wk_value out[MANY];
    wk_value args[2] = {{.kind = WK_VALUE_TENSOR, .tensor = wk_arange(MANY)}};
    wk_call_error error = {.size = sizeof error};
    const wk_call_options options = {.size = sizeof options, .error = &error, .site = {.file = "here.py", .line = 7}};
    int count = MANY - 1;
    assert_int_equal(wk_call(NULL, "unbind", args, 1, out, &count, &options, NULL, 0), WK_ERR_ARGUMENT);
    assert_int_equal(count, 0);
    assert_int_equal(error.results, MANY);
    assert_int_equal(error.code, WK_ERR_ARGUMENT);
    assert_int_equal(error.line, 7);
    assert_string_equal(error.file, "here.py");
    assert_string_equal(error.message, "unbind: returns 1000 results, but the array holds 999; pass a larger array");
    count = MANY;
    assert_int_equal(wk_call(NULL, "unbind", args, 1, out, &count, &options, NULL, 0), WK_OK);
    assert_int_equal(count, MANY);
    assert_int_equal(error.code, WK_OK);
    assert_string_equal(error.message, "");
    assert_int_equal(error.results, 0);
    for (int k = 0; k < MANY; k++) {
        if (k % 99 == 0) assert_true(wk_item(out[k].tensor) == k);
        wk_free(out[k].tensor);
    }
    assert_int_equal(wk_call(NULL, "exp", args, 1, NULL, &(int){1}, &options, NULL, 0), WK_ERR_ARGUMENT);
    assert_string_equal(error.message, "call: the array for the results is NULL");
    assert_int_equal(error.line, 0);
    const wk_call_options bad = {.size = 3, .error = &error};
    assert_int_equal(wk_call(NULL, "exp", args, 1, out, &(int){1}, &bad, NULL, 0), WK_ERR_ARGUMENT);
    char message[200];
    error.size = 0;
    assert_int_equal(wk_call(NULL, "exp", args, 1, out, &(int){1}, &options, message, sizeof message), WK_ERR_ARGUMENT);
    assert_non_null(strstr(message, "here.py:7: call: set .size = sizeof(wk_call_error) first"));
    error.size = sizeof error;
    args[1] = (wk_value){.kind = WK_VALUE_INT, .i = MANY * 2}; /* more pieces than array elements: as many as fit */
    count = MANY;
    assert_int_equal(wk_call(NULL, "chunk", args, 2, out, &count, &options, NULL, 0), WK_OK);
    assert_int_equal(count, MANY);
    for (int k = 0; k < MANY; k++) wk_free(out[k].tensor);
    expect_ok();
}

/* Calls in a user's context: an error that a read has reported is not reported again by the next call; an unreported
 * one is. */
static void deferred_errors_are_reported_once(void **state)
{
    (void)state;
    WK_SCOPE;
    char message[400];
    wk_tensor *x = wk_ones((3));
    wk_context *own = wk_context_new();
    for (int is_read = 0; is_read < 2; is_read++) {
        wk_value args[] = {wk_value_of_tensor(x), wk_value_of_int(0),
                           wk_value_of_tensor(wk_add(wk_randint(5, 9, (2)), 0))};
        wk_value good = args[0], out[2];
        int count = 1;
        if (wk__engine_config_get()->sync) skip();
        assert_int_equal(wk_call(own, "index_select", args, 3, out, &count, NULL, message, sizeof message), WK_OK);
        if (is_read) {
            wk_item(wk_sum(out[0].tensor));
            expect_error("index_select", "out of range", NULL);
        } else {
            wk_context *before = wk__context_enter(own);
            wk__flush(own);
            wk__context_enter(before);
        }
        for (int k = 0; k < 2; k++) {
            count = 1;
            const wk_code code = wk_call(own, "exp", &good, 1, &out[1], &count, NULL, message, sizeof message);
            assert_int_equal(code, k == 0 && !is_read ? WK_ERR_INDEX : WK_OK);
            if (code == WK_OK) wk_free(out[1].tensor);
        }
        wk_free(out[0].tensor);
    }
    wk_context_free(own);
    expect_ok();
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(rows_are_complete_and_in_order),
                                       cmocka_unit_test(parameters_are_those_of_the_schema),
                                       cmocka_unit_test(parameters_describe_defaults_and_choices),
                                       cmocka_unit_test(in_place_names_are_found),
                                       cmocka_unit_test(calls_in_place),
                                       cmocka_unit_test(numbers_are_not_targets),
                                       cmocka_unit_test(arguments_are_converted),
                                       cmocka_unit_test(bools_do_not_promote),
                                       cmocka_unit_test(entries_follow_the_row),
                                       cmocka_unit_test(any_number_of_results),
                                       cmocka_unit_test(info_is_checked),
                                       cmocka_unit_test(calls_by_name),
                                       cmocka_unit_test(wrong_calls_are_explained),
                                       cmocka_unit_test(waiting_is_marked_and_counted),
                                       cmocka_unit_test(deferred_errors_are_reported_once)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
