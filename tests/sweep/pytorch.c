/* SPDX-License-Identifier: Apache-2.0 */
/* Sweep against PyTorch: goldens/ops.txt has PyTorch 2's results of the samples of each row, and its gradients, written
 * by goldens/make_ops.py. Unlike the references of the other sweeps, these values were not written with the ops.
 *
 *     case add f64 [2,3], [3]          row, dtype under test, sample (sweep.h)
 *     in 0.5 -1.25 ...                 the elements of each operand, row-major
 *     in ...
 *     out f64 [2,3] 1.5 ...            each result: dtype, shape, elements
 *     grad 1 0.5 ...                   operand, gradient of the sum of (k % 5 + 1) / 4 times result k
 *     none rand random numbers         a row without a PyTorch result, and the reason
 *     # sort bool [3,4]: ...           a case that PyTorch refuses, with its message; skipped
 *
 * `sweep_pytorch --list` writes the input of make_ops.py: rows, their bounds, schemas and samples. */
#include "support/sweep/sweep.h"
#include <float.h>
#include <math.h>

enum { MOST_NUMBERS = 512, LONGEST_LINE = 1 << 15 };

static FILE *file;
static char line[LONGEST_LINE];

static bool next_line(void)
{
    if (!fgets(line, sizeof line, file)) return line[0] = 0, false;
    line[strcspn(line, "\n")] = 0;
    return true;
}

/* Returns the text after the word that begins the line, or NULL. */
static char *behind(char *text, const char *word)
{
    size_t n = strlen(word);
    return strncmp(text, word, n) == 0 && text[n] == ' ' ? text + n + 1 : NULL;
}

static int numbers_of(const char *text, double numbers[MOST_NUMBERS])
{
    int count = 0;
    char *end;
    for (double x = strtod(text, &end); end != text; text = end, x = strtod(text, &end)) {
        if (count == MOST_NUMBERS) fail_msg("too many elements: %.60s", text);
        numbers[count++] = x;
    }
    return count;
}

static wk_dtype dtype_of(const char *name)
{
    for (wk_dtype d = WK_F32; d < WK_DTYPE_COUNT; d++)
        if (strcmp(wk_dtype_str(d), name) == 0) return d;
    fail_msg("unknown dtype %s", name);
    return WK_F32;
}

/* ---- one case ---------------------------------------------------------------------------------------------------- */

typedef struct golden {
    const wk__op *op;
    wk_dtype dtype;
    char text[256], what[400];
    sweep_sample sample;
    wk_tensor *operand[SWEEP_TENSORS];
    wk_tensor *out[SWEEP_RESULTS];
    int results;
} golden;

static void read_operands(golden *g, bool differentiated)
{
    static double numbers[MOST_NUMBERS];
    for (int k = 0; k < g->sample.operands; k++, next_line()) {
        const sweep_operand *operand = &g->sample.operand[k];
        const char *text = behind(line, "in");
        int64_t count = 1;
        for (int d = 0; d < operand->ndim; d++) count *= operand->shape[d];
        if (!text || numbers_of(text, numbers) != count)
            fail_msg("%s: operand %d does not match the sample", g->what, k);
        wk_dtype dtype = operand->fixed ? operand->fixed : g->dtype;
        wk_tensor *wide = wk_from_on_at(WK_HERE, WK_F64, numbers, (size_t)count * sizeof *numbers, operand->shape,
                                        operand->ndim, NULL);
        g->operand[k] = wk_to_dtype(wide, dtype);
        if (differentiated && !operand->fixed && !sweep_writes(g->op)) wk_requires_grad_(g->operand[k], true);
    }
    sweep_bind(&g->sample, g->operand);
}

/* Both round, at different steps: allows a few dozen units in the last place of the value, or of `scale` if that is
 * larger. Ignores signs of zeros, which other sweeps check. */
static bool agrees(wk_dtype dtype, double have, double wanted, double scale)
{
    enum { UNITS = 64 };
    if (isnan(have) || isnan(wanted) || isinf(have) || isinf(wanted))
        return have == wanted || (isnan(have) && isnan(wanted));
    double unit = dtype == WK_F64 ? DBL_EPSILON : dtype == WK_F32 ? (double)FLT_EPSILON : 0;
    return fabs(have - wanted) <= UNITS * unit * fmax(scale, fabs(wanted));
}

/* `least`: the magnitude of intermediate values that cancelled; the largest value around, if elements are sums of
 * several. */
static void expect_numbers(const golden *g, wk_tensor *have, const char *text, const char *what, double least)
{
    static double wanted[MOST_NUMBERS];
    double *numbers = sweep_numbers(have), scale = least;
    int count = numbers_of(text, wanted);
    if (count != wk_numel(have)) fail_msg("%s: %s has %d elements, not %d", g->what, what, (int)wk_numel(have), count);
    for (int k = 0; k < count && !op_reference_of(g->op)->scalar; k++)
        if (isfinite(wanted[k])) scale = fmax(scale, fabs(wanted[k]));
    for (int k = 0; k < count; k++)
        if (!agrees(wk_dtype_of(have), numbers[k], wanted[k], scale))
            fail_msg("%s: %s, element %d is %.17g, PyTorch has %.17g", g->what, what, k, numbers[k], wanted[k]);
    free(numbers);
}

/* out f64 [2,3] ... */
static void expect_result(const golden *g, int k)
{
    char dtype[16], shape[80], have[80] = "[", what[16];
    int at = 0;
    if (sscanf(behind(line, "out"), "%15s %79s%n", dtype, shape, &at) != 2) fail_msg("%s: %s", g->what, line);
    if (k >= g->results) fail_msg("%s: %d results are too few", g->what, g->results);
    wk_tensor *out = g->out[k];
    for (int d = 0; d < wk_ndim(out); d++)
        snprintf(have + strlen(have), 20, "%s%lld", d ? "," : "", (long long)wk_size(out, d));
    strcat(have, "]");
    if (wk_dtype_of(out) != dtype_of(dtype) || strcmp(have, shape) != 0)
        fail_msg("%s: result %d is %s %s, PyTorch's is %s %s", g->what, k, wk_dtype_str(wk_dtype_of(out)), have, dtype,
                 shape);
    snprintf(what, sizeof what, "result %d", k);
    expect_numbers(g, out, behind(line, "out") + at, what, 0);
}

static void run_backward(const golden *g)
{
    int64_t n = wk_numel(g->out[0]);
    wk_tensor *weight = wk_div(wk_add(wk_remainder(wk_arange(n, .dtype = WK_F64), 5), 1), 4);
    wk_tensor *flat = wk_reshape(wk_to_dtype(g->out[0], WK_F64), (n));
    if (wk_backward(wk_sum(wk_mul(flat, weight))) != WK_OK) fail_msg("%s: %s", g->what, wk_error());
}

static void expect_gradient(const golden *g, const char *text)
{
    char *numbers, what[32];
    int k = (int)strtol(text, &numbers, 10);
    snprintf(what, sizeof what, "gradient of operand %d", k);
    wk_tensor *grad = wk_grad_of(g->operand[k]);
    expect_numbers(g, grad ? grad : wk_zeros_like(g->operand[k]), numbers, what, 1);
}

/* Starts at the line of the case; ends at the line after the case. */
static void run_case(const wk__op *op)
{
    WK_SCOPE;
    static golden g;
    char dtype[16];
    const char *why;
    int at = 0;
    g = (golden){.op = op};
    snprintf(g.what, sizeof g.what, "%.399s", line);
    if (sscanf(behind(line, "case"), "%*s %15s %n", dtype, &at) != 1) fail_msg("%s", line);
    snprintf(g.text, sizeof g.text, "%.255s", behind(line, "case") + at);
    g.dtype = dtype_of(dtype);
    if (!sweep_parse(g.text, &g.sample, &why)) fail_msg("%s: %s", g.what, why);
    next_line();
    read_operands(&g, op->grad_fn_name && g.dtype == WK_F64);
    g.results = sweep_call(op, &g.sample, wk_cpu(), g.out);
    int results = 0;
    for (; behind(line, "out"); next_line()) expect_result(&g, results++);
    if (results != g.results) fail_msg("%s: %d results, PyTorch has %d", g.what, g.results, results);
    if (behind(line, "grad")) run_backward(&g);
    for (; behind(line, "grad"); next_line()) expect_gradient(&g, behind(line, "grad"));
    expect_ok();
}

/* ---- the file ---------------------------------------------------------------------------------------------------- */

/* Runs all cases of the row. There must be some, or a line that states why not. */
static void row(void **state)
{
    const wk__op *op = *state;
    char name[64];
    int cases = 0;
    rewind(file);
    next_line();
    while (line[0]) {
        const char *text = behind(line, "case");
        bool none = !text && (text = behind(line, "none"));
        if (!text || sscanf(text, "%63s", name) != 1 || strcmp(name, op->name) != 0) {
            next_line();
            continue;
        }
        cases++;
        if (none) break;
        run_case(op);
    }
    if (!cases) fail_msg("goldens/ops.txt has no case of %s: run make_ops.py", op->name);
}

static int list(void)
{
    for (int k = 0; k < wk_op_count(); k++) {
        const wk__op *op = wk__ops[k];
        const op_reference *known = op_reference_of(op);
        for (const char *const *text = known->samples; *text; text++)
            printf("%s\t%s\t%.17g\t%.17g\t%d\t%s\t%s\n", op->name, op->category, known->low, known->high,
                   op->grad_fn_name != NULL, op->schema, *text);
    }
    return 0;
}

int main(int count, char **words)
{
    if (count > 1 && strcmp(words[1], "--list") == 0) return list();
    const char *root = getenv("WICK_SOURCE");
    char path[1024];
    snprintf(path, sizeof path, "%s/tests/goldens/ops.txt", root ? root : ".");
    if (!(file = fopen(path, "r"))) {
        print_error("no %s: set WICK_SOURCE to the root of the repository\n", path);
        return 1;
    }
    int failed = sweep_run("sweep_pytorch", &(sweep_kind){"%s", row}, 1, NULL);
    fclose(file);
    return failed;
}
