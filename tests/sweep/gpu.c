/* SPDX-License-Identifier: Apache-2.0 */
/* Sweep on the GPU that WICK_WALK_DEVICE names, or on both OpenCL devices. Building a single kernel costs a driver most
 * of a second, so each row is planned first on a device that collects kernels and runs none; then they are built
 * together, sixty-four per function, and each row runs. Kernels missed by planning are built when they run. On CUDA a
 * few rows are planned, built and run at a time, because its compiler's time grows faster than the program.
 *
 * All dtypes and layouts, as on the CPU; with WICK_WALK_SHORT=1 each row runs in one dtype and two layouts drawn from
 * WICK_TEST_SEED, so that each commit tests others. */
#include "support/turns.h"
#include "support/gpu/gpu.h"
#include "support/sweep/sweep.h"
#include "backend/device.h"

enum { MOST_DEVICES = 2 };

typedef struct step {
    const wk__op *op;
    wk_device device;
    char name[80];
} step;

/* The k-th set bit, cyclically. */
static unsigned some_bit(unsigned bits, uint64_t k)
{
    for (k %= (uint64_t)__builtin_popcount(bits); k > 0; k--) bits &= bits - 1;
    return bits & ~(bits - 1);
}

static bool is_short(void)
{
    const char *text = getenv("WICK_WALK_SHORT");
    return text && strcmp(text, "0") != 0;
}

static sweep_op row_of(const step *s)
{
    sweep_op row = {.op = s->op, .device = s->device, .dtypes = WK__ANY, .layouts = (1 << SWEEP_LAYOUTS) - 1};
    if (!is_short()) return row;
    uint64_t drawn = test_seed() * 0x9e3779b97f4a7c15u;
    for (const char *c = s->op->name; *c; c++) drawn = (drawn ^ (uint8_t)*c) * 0x100000001b3u;
    drawn ^= drawn >> 32;
    row.dtypes = (uint16_t)some_bit(s->op->dtypes ? s->op->dtypes : WK__ANY, drawn % 1000);
    row.layouts = (uint8_t)(1 << SWEEP_DENSE | some_bit((1 << SWEEP_LAYOUTS) - 2, drawn / 1000 % 1000));
    return row;
}

static void gather(wk_device device, bool on)
{
    wk__fail fail = {.tag = -1};
    wk__device *opened = wk__device_get(device, &fail);
    if (!opened || opened->backend->compile_only(opened->state, on, &fail) != WK_OK) fail_msg("%s", fail.text);
}

static void plan(void **state)
{
    sweep_op row = row_of(*state);
    row.plan = true;
    gather(row.device, true);
    sweep_values(&row);
}

static void build(void **state)
{
    const step *s = *state;
    gather(s->device, false);
}

/* Random numbers have the same bits on all devices. */
static void run(void **state)
{
    sweep_op row = row_of(*state);
    sweep_values(&row);
    expect_ok();
    if (strcmp(row.op->category, "random") != 0) return;
    sweep_op cpu = row;
    cpu.device = wk_cpu();
    sweep_values(&cpu);
    assert_int_equal(row.bits, cpu.bits);
}

typedef struct kind {
    const char *format;
    CMUnitTestFunction function;
    bool rows; /* for each row, or once */
} kind;

static size_t add_test(const kind *kind, const wk__op *op, wk_device device, struct CMUnitTest *test, step *s)
{
    *s = (step){.op = op, .device = device};
    snprintf(s->name, sizeof s->name, kind->format, op->name, wk_device_str(device));
    *test = (struct CMUnitTest){
        .name = s->name, .test_func = kind->function, .setup_func = sweep_reset, .initial_state = s};
    return 1;
}

/* Without WICK_WALK_DEVICE a run takes a quarter of the pairs (row, device); the short one takes all rows on one
 * device. */
static bool has_turn(int row, int index)
{
    if (getenv("WICK_WALK_DEVICE")) return true;
    if (is_short()) return test_has_turn(index, MOST_DEVICES);
    return test_has_turn(MOST_DEVICES * (row % 2) + index, 2 * MOST_DEVICES);
}

/* Appends the tests of one device: some rows planned, their kernels built, the rows run, then the next. */
static size_t add_device(wk_device device, struct CMUnitTest *tests, step *steps, size_t count)
{
    static const kind kinds[] = {
        {"%s planned on %s", plan, true}, {"kernels from %s on built for %s", build, false}, {"%s %s", run, true}};
    const int at_once = device.kind == WK_CUDA ? 8 : wk_op_count();
    for (int first = 0; first < wk_op_count(); first += at_once)
        for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
            for (int row = first; row < first + (kinds[k].rows ? at_once : 1) && row < wk_op_count(); row++)
                if (!kinds[k].rows || (sweep_has_samples(wk__ops[row]) && has_turn(row, device.index)))
                    count += add_test(&kinds[k], wk__ops[row], device, &tests[count], &steps[count]);
    return count;
}

/* Finds the requested devices that exist. */
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
        printf("skip sweep_gpu: the device does not exist\n");
        return 0;
    }
    size_t most = (size_t)devices * 3 * (size_t)wk_op_count(), count = 0;
    if (is_short()) print_message("seed %llu\n", (unsigned long long)test_seed());
    struct CMUnitTest *tests = calloc(most, sizeof *tests);
    step *steps = calloc(most, sizeof *steps);
    for (int k = 0; k < devices; k++) count = add_device(device[k], tests, steps, count);
    int failed = _cmocka_run_group_tests("sweep_gpu", tests, count, NULL, NULL);
    free(tests);
    free(steps);
    return failed;
}
