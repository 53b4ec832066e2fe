/* The walk on both OpenCL devices. A cold kernel costs most of a second, so the device gathers first: everything runs once without
 * results, then all kernels that were asked for are built together, and everything runs for real.
 *
 * Fewer cases than on the CPU: f32 in all layouts but two, and the other types dense and transposed; a type that differs from
 * one that is here by its loads and stores alone (i8, i16, f16) is left to the CPU and to opencl_codes.
 *
 * WICK_WALK_ROWS="div,round" walks these rows alone: all of them take long. */
#include "walk.h"
#include "backend/device.h"

enum { DEVICES = 2 };

typedef struct place {
    const wk__op *op;
    int device;
} place;

static bool wanted(const wk__op *op)
{
    const char *rows = getenv("WICK_WALK_ROWS"), *found = rows ? strstr(rows, op->name) : NULL;
    size_t length = strlen(op->name);
    while (found && ((found > rows && found[-1] != ',') || (found[length] && found[length] != ',')))
        found = strstr(found + 1, op->name);
    return !rows || found;
}

static void walk_with(const wk__op *op, int device, bool gather)
{
    walk_row row = {.op = op,
                    .device = wk_opencl(device),
                    .gather = gather,
                    .dtypes = 1 << WK_F32,
                    .layouts = 1 << WALK_DENSE | 1 << WALK_TRANSPOSED | 1 << WALK_OFFSET | 1 << WALK_MIXED};
    walk_values(&row);
    row.dtypes = 1 << WK_F64 | 1 << WK_BF16 | 1 << WK_I64 | 1 << WK_U8 | 1 << WK_BOOL;
    row.layouts = 1 << WALK_DENSE | 1 << WALK_TRANSPOSED;
    walk_values(&row);
}

static void walk_device(void **state)
{
    const place *p = *state;
    walk_with(p->op, p->device, false);
    expect_fine();
}

static wk_code gather(int device, bool on)
{
    wk__fail fail = {.tag = -1};
    wk__device *opened = wk__device_get(wk_opencl(device), &fail);
    return opened ? opened->backend->gather(opened->state, on, &fail) : fail.code;
}

/* What is wrong with a row is told by its own test: here it must only not stop the others. */
static void all_kernels_in_one_go(void **state)
{
    (void)state;
    for (int device = 0; device < DEVICES; device++) {
        assert_int_equal(gather(device, true), WK_OK);
        for (int k = 0; k < wk_op_count(); k++)
            if (wanted(wk__ops[k])) walk_with(wk__ops[k], device, true);
        assert_int_equal(gather(device, false), WK_OK);
    }
}

int main(void)
{
    if (wk_device_count(WK_OPENCL) < DEVICES) {
        printf("skip walk_opencl: %d OpenCL devices, two are needed\n", wk_device_count(WK_OPENCL));
        return 0;
    }
    size_t most = (size_t)wk_op_count() * DEVICES + 1, count = 0;
    struct CMUnitTest *tests = calloc(most, sizeof *tests);
    char(*names)[80] = calloc(most, sizeof *names);
    place *places = calloc(most, sizeof *places);
    tests[count++] = (struct CMUnitTest){.name = "all kernels in one go", .test_func = all_kernels_in_one_go};
    for (int k = 0; k < wk_op_count(); k++)
        for (int device = 0; device < DEVICES && wanted(wk__ops[k]); device++) {
            snprintf(names[count], sizeof *names, "%s opencl:%d", wk__ops[k]->name, device);
            places[count] = (place){.op = wk__ops[k], .device = device};
            tests[count] = (struct CMUnitTest){.name = names[count],
                                               .test_func = walk_device,
                                               .setup_func = walk_reset,
                                               .initial_state = &places[count]};
            count++;
        }
    int failed = _cmocka_run_group_tests("walk_opencl", tests, count, NULL, NULL);
    free(tests);
    free(names);
    free(places);
    return failed;
}
