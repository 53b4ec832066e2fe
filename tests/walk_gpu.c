/* SPDX-License-Identifier: Apache-2.0 */
/* The walk on the GPU that WICK_WALK_DEVICE names, or on both OpenCL devices. A kernel alone costs a driver most of a
 * second, so each row is planned first on a device that gathers kernels and runs none; then they are built together,
 * sixty-four to a function, and each row runs for real. What planning overlooks is built when it runs.
 *
 * Every dtype and layout, as on the CPU; with WICK_WALK_SHORT f32 alone, dense and mixed. */
#include "walk.h"
#include "backend/device.h"

enum { MOST_DEVICES = 2 };

typedef struct step {
    const wk__op *op;
    wk_device device;
    char name[80];
} step;

static walk_row row_of(const step *s)
{
    walk_row row = {.op = s->op, .device = s->device, .dtypes = WK__ANY, .layouts = (1 << WALK_LAYOUTS) - 1};
    if (!getenv("WICK_WALK_SHORT")) return row;
    row.dtypes = 1 << WK_F32;
    row.layouts = 1 << WALK_DENSE | 1 << WALK_MIXED;
    return row;
}

static void gather(wk_device device, bool on)
{
    wk__fail fail = {.tag = -1};
    wk__device *opened = wk__device_get(device, &fail);
    if (!opened || opened->backend->gather(opened->state, on, &fail) != WK_OK) fail_msg("%s", fail.text);
}

static void plan(void **state)
{
    walk_row row = row_of(*state);
    row.plan = true;
    gather(row.device, true);
    walk_values(&row);
}

static void build(void **state)
{
    const step *s = *state;
    gather(s->device, false);
}

/* Random numbers have the same bits on all devices. */
static void run(void **state)
{
    walk_row row = row_of(*state);
    walk_values(&row);
    expect_fine();
    if (strcmp(row.op->group, "random") != 0) return;
    walk_row cpu = row;
    cpu.device = wk_cpu();
    walk_values(&cpu);
    assert_int_equal(row.bits, cpu.bits);
}

/* Appends the tests of one device. */
static size_t add_device(wk_device device, struct CMUnitTest *tests, step *steps, size_t count)
{
    static const struct {
        const char *format;
        CMUnitTestFunction function;
        bool rows; /* for each row, or once */
    } kinds[] = {{"%s planned on %s", plan, true}, {"%s kernels of %s built", build, false}, {"%s %s", run, true}};
    char on[32];
    snprintf(on, sizeof on, "%s", wk_device_str(device));
    for (size_t kind = 0; kind < sizeof kinds / sizeof *kinds; kind++)
        for (int k = 0; k < (kinds[kind].rows ? wk_op_count() : 1); k++) {
            if (kinds[kind].rows && !walk_has_samples(wk__ops[k])) continue;
            step *s = &steps[count];
            *s = (step){.op = wk__ops[k], .device = device};
            snprintf(s->name, sizeof s->name, kinds[kind].format, kinds[kind].rows ? s->op->name : "all", on);
            tests[count] = (struct CMUnitTest){
                .name = s->name, .test_func = kinds[kind].function, .setup_func = walk_reset, .initial_state = s};
            count++;
        }
    return count;
}

/* Those that there are of the ones that are asked for. */
static int find_devices(wk_device device[MOST_DEVICES])
{
    const char *one = getenv("WICK_WALK_DEVICE");
    const wk_device both[MOST_DEVICES] = {wk_opencl(0), wk_opencl(1)};
    int count = 0;
    if (one) device[count++] = wk_device_parse(one);
    for (int k = 0; k < MOST_DEVICES && !one; k++) device[count++] = both[k];
    for (int k = 0; k < count; k++)
        if (wk_device_count(device[k].kind) <= device[k].index) return 0;
    return count;
}

int main(void)
{
    wk_device device[MOST_DEVICES];
    const int devices = find_devices(device);
    if (devices == 0) {
        printf("skip walk_gpu: the device is not there\n");
        return 0;
    }
    size_t most = (size_t)devices * (2 * (size_t)wk_op_count() + 1), count = 0;
    struct CMUnitTest *tests = calloc(most, sizeof *tests);
    step *steps = calloc(most, sizeof *steps);
    for (int k = 0; k < devices; k++) count = add_device(device[k], tests, steps, count);
    int failed = _cmocka_run_group_tests("walk_gpu", tests, count, NULL, NULL);
    free(tests);
    free(steps);
    return failed;
}
