/* SPDX-License-Identifier: Apache-2.0 */
/* Sweep with failing host allocations: each sample of each row runs forward and backward three times, with one failed
 * allocation (and perhaps all after it), chosen by a seed. Expects an error with a message or the usual bits, operands
 * that are unchanged or completely written, and no leak. WICK_FAIL_EACH=1 fails every allocation of every sample, which
 * takes minutes. */
#include "support/sweep/sweep.h"
#include "failing/alloc_fault_sweep.h"

enum { MOST_BITS = 1 << 18, TIMES = 3 /* attempts for each case */ };

typedef struct outcome {
    bool fine;
    size_t count;
    char bits[MOST_BITS]; /* of results, gradients, and in-place targets */
} outcome;

static outcome usual, other;

/* Returns false with an error recorded. */
static bool note(outcome *o, wk_tensor *x)
{
    size_t size = (size_t)wk_numel(x) * wk_dtype_size(wk_dtype_of(x));
    assert_true(o->count + size <= MOST_BITS);
    if (wk_read(x, o->bits + o->count, size) != WK_OK) return false;
    o->count += size;
    return true;
}

static int call(const wk__op *op, const sweep_sample *sample, wk_tensor *out[])
{
    wk_value results[SWEEP_RESULTS];
    char message[400] = "";
    int count = SWEEP_RESULTS;
    wk_call_options options = {.size = sizeof options, .site = WK_HERE};
    wk_seed(7);
    wk_code code = wk_call(wk__context(), op->name, sample->argument, sample->arguments, results, &count, &options,
                           message, sizeof message);
    if (code != WK_OK && strlen(message) < 10) fail_msg("%s: code %d with message \"%s\"", op->name, code, message);
    for (int k = 0; k < count; k++) out[k] = results[k].tensor;
    return code == WK_OK ? count : -1;
}

static bool differentiate(wk_tensor *out, wk_tensor *const leaf[], int leaves, outcome *o)
{
    if (leaves == 0 || !wk_requires_grad(out)) return !wk_error();
    wk_tensor *grads[SWEEP_TENSORS] = {0}, *sum = wk_sum(out);
    wk_grad_options options = {.size = sizeof options, .allow_unused = true};
    if (!sum || wk_grad_at(WK_HERE, &sum, 1, leaf, leaves, grads, &options) != WK_OK) return false;
    bool fine = true;
    for (int k = 0; k < leaves && fine; k++) fine = !grads[k] || note(o, grads[k]);
    return fine;
}

static void run(const wk__op *op, sweep_sample *sample, const sweep_input input[], outcome *o)
{
    wk_tensor *tensor[SWEEP_TENSORS], *leaf[SWEEP_TENSORS], *out[SWEEP_RESULTS];
    int leaves = 0;
    o->count = 0;
    for (int k = 0; k < sample->operands; k++) {
        tensor[k] = input[k].tensor;
        if (op->grad_fn_name && !sweep_writes(op) && wk_requires_grad(tensor[k])) leaf[leaves++] = tensor[k];
    }
    sweep_bind(sample, tensor);
    int count = call(op, sample, out);
    o->fine = count >= 0;
    for (int k = 0; k < count && o->fine; k++) o->fine = note(o, out[k]);
    if (o->fine && count > 0) o->fine = differentiate(out[0], leaf, leaves, o);
}

/* Expects that operand 0 is unchanged, or as the successful call would have written it. */
static void check_target(const sweep_input *target, const outcome *written, const char *where)
{
    static outcome now;
    now.count = 0;
    assert_true(note(&now, target->storage));
    bool old = memcmp(now.bits, target->bytes, target->size) == 0;
    if (!old && memcmp(now.bits, written->bits, now.count) != 0) fail_msg("%s: partially written", where);
}

/* Creates operands in a separate scope; gradients are requested if the row has one for all of them. */
static void begin(const wk__op *op, const sweep_sample *sample, wk_dtype dtype, sweep_layout layout, bool grads,
                  sweep_input input[])
{
    sweep_make_inputs(op, sample, dtype, layout, wk_cpu(), 23, input);
    for (int k = 0; k < sample->operands && grads; k++)
        if (1u << wk_dtype_of(input[k].tensor) & WK__FLOATS) wk_requires_grad_(input[k].tensor, true);
    wk_sync();
    expect_ok();
    drain();
}

/* Runs without failure. Returns the number of allocations, -1 if the row refuses these operands. */
static long long run_without_failure(const wk__op *op, sweep_sample *sample, wk_dtype dtype, sweep_layout layout,
                                     bool grads, outcome *results, outcome *target)
{
    WK_SCOPE;
    sweep_input input[SWEEP_TENSORS] = {{0}};
    begin(op, sample, dtype, layout, grads, input);
    long long requests = alloc_request_count();
    run(op, sample, input, results);
    requests = alloc_request_count() - requests;
    wk_clear_error();
    target->count = 0;
    if (sweep_writes(op)) assert_true(note(target, input[0].storage));
    sweep_free_inputs(sample, input);
    return results->fine ? requests : -1;
}

static void fail_once(const wk__op *op, sweep_sample *sample, wk_dtype dtype, sweep_layout layout, bool grads,
                      long long n, bool for_good, const outcome *target, const char *where)
{
    WK_SCOPE;
    sweep_input input[SWEEP_TENSORS] = {{0}};
    begin(op, sample, dtype, layout, grads, input);
    alloc_faults_arm(n, for_good);
    run(op, sample, input, &other);
    alloc_faults_arm(0, false);
    if (!other.fine && wk_error() && strlen(wk_error()) < 10) fail_msg("%s: message \"%s\"", where, wk_error());
    if (other.fine && !wk_error() && (other.count != usual.count || memcmp(other.bits, usual.bits, usual.count) != 0))
        fail_msg("%s: different bits", where);
    alloc_faults_disarm();
    sweep_check_untouched(sample, input, sweep_writes(op) ? 0 : -1);
    if (sweep_writes(op)) check_target(&input[0], target, where);
    sweep_free_inputs(sample, input);
}

static void try_one(const wk__op *op, sweep_sample *sample, wk_dtype dtype, sweep_layout layout, const char *where,
                    uint64_t *seed)
{
    static outcome target;
    bool grads = op->grad_fn_name && !sweep_writes(op);
    long long requests = run_without_failure(op, sample, dtype, layout, grads, &usual, &target);
    if (requests < 0) requests = run_without_failure(op, sample, dtype, layout, grads = false, &usual, &target);
    if (requests < 0) return;
    run_without_failure(op, sample, dtype, layout, grads, &other, &target);
    bool steady = other.count == usual.count && memcmp(other.bits, usual.bits, usual.count) == 0;
    if (!steady) fail_msg("%s: different bits the second time", where);

    if (getenv("WICK_FAIL_EACH")) {
        for (long long n = 1; n <= requests; n++)
            for (int for_good = 0; for_good < 2; for_good++)
                fail_once(op, sample, dtype, layout, grads, n, for_good, &target, where);
        return;
    }
    for (int k = 0; k < TIMES; k++)
        fail_once(op, sample, dtype, layout, grads, 1 + (long long)(sweep_random(seed) * (double)requests),
                  sweep_random(seed) < 0.3, &target, where);
}

static int64_t live(void)
{
    wk_memory_stats stats = {.size = sizeof stats};
    wk_memory_stats_of(wk_cpu(), &stats);
    return stats.live;
}

static void all_samples(const wk__op *op)
{
    unsigned domain = op->dtypes ? op->dtypes : WK__ANY;
    uint64_t seed = 2 * strlen(op->name) + (uint64_t)op->name[0];
    for (const char *const *text = op_reference_of(op)->samples; *text; text++) {
        sweep_sample sample;
        const char *why;
        if (!sweep_parse(*text, &sample, &why)) fail_msg("%s: %s", *text, why);
        for (wk_dtype dtype = WK_F32; dtype < WK_DTYPE_COUNT; dtype++) {
            if (!(domain >> dtype & 1) || (!sweep_takes_dtype(&sample) && dtype != WK_F32)) continue;
            sweep_layout layout = (sweep_layout)(sweep_random(&seed) * SWEEP_LAYOUTS);
            try_one(op, &sample, dtype, layout, sweep_label(op, *text, dtype, layout, wk_cpu()), &seed);
            drain();
        }
    }
}

/* The CPU caches compiled programs; from the second run on it has all of them. */
static void with_allocation_failures(void **state)
{
    int64_t bytes = live();
    all_samples(*state);
    all_samples(*state);
    long long blocks = alloc_live_blocks();
    all_samples(*state);
    if (live() != bytes) fail_msg("%lld bytes leaked", (long long)(live() - bytes));
    if (alloc_live_blocks() > blocks) fail_msg("%lld blocks leaked", alloc_live_blocks() - blocks);
}

int main(void)
{
    alloc_faults_init();
    fill_queue(NULL);
    return sweep_run("sweep_alloc_faults", &(sweep_kind){"%s", with_allocation_failures}, 1, NULL);
}
