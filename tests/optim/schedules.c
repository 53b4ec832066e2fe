/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the rates of schedules against torch.optim.lr_scheduler (tests/goldens/schedules.txt, which make_schedules.py
 * writes), and that each schedule continues from a file with the same bits. */
#include "support/wick.h"

#include <math.h>

#include "hostile/scratch.h"
#include <optim/optim.h>

enum { STEPS = 200, CHECKS = 4 };
static const int checks[CHECKS] = {0, 50, 100, 200}; /* steps at which the file has the second group and the momentum */

/* ---- the schedules ----------------------------------------------------------------------------------------------- */

static double metric(int t)
{
    return t < 60 ? 1 / (1 + 0.2 * t) + 0.3 * pow(sin(0.7 * t), 2) : 0.5;
}

static double falls(int64_t t, void *user)
{
    return pow(0.95, (double)t) + *(const double *)user;
}
static double offset = 0.01;

/* Creates the schedule of a row of the file on an optimiser. */
#define SCHEDULE(name, ...)                                                                                            \
    static wk_schedule *name(wk_optim *o)                                                                              \
    {                                                                                                                  \
        return __VA_ARGS__;                                                                                            \
    }
SCHEDULE(step_lr, wk_schedule_step_lr(o, 8))
SCHEDULE(step_lr_gamma, wk_schedule_step_lr(o, 30, .gamma = 0.5))
SCHEDULE(multi_step_lr, wk_schedule_multi_step_lr(o, (30, 80, 80, 120)))
SCHEDULE(multi_step_lr_gamma, wk_schedule_multi_step_lr(o, (150, 1), .gamma = 0.7))
SCHEDULE(exponential_lr, wk_schedule_exponential_lr(o, 0.97))
SCHEDULE(constant_lr, wk_schedule_constant_lr(o))
SCHEDULE(constant_lr_long, wk_schedule_constant_lr(o, .factor = 0.3, .total_iters = 100))
SCHEDULE(linear_lr, wk_schedule_linear_lr(o))
SCHEDULE(linear_lr_down, wk_schedule_linear_lr(o, .start_factor = 0.9, .end_factor = 0.1, .total_iters = 150))
SCHEDULE(polynomial_lr, wk_schedule_polynomial_lr(o))
SCHEDULE(polynomial_lr_power, wk_schedule_polynomial_lr(o, .total_iters = 180, .power = 2.5))
SCHEDULE(lambda_lr, wk_schedule_lambda_lr(o, falls, &offset))
SCHEDULE(cosine, wk_schedule_cosine(o, .warmup = 20, .steps = 200, .min_lr = 1e-3))
SCHEDULE(cosine_annealing_lr, wk_schedule_cosine_annealing_lr(o, 50))
SCHEDULE(cosine_annealing_lr_min, wk_schedule_cosine_annealing_lr(o, 33, .eta_min = 0.004))
SCHEDULE(cosine_annealing_lr_one, wk_schedule_cosine_annealing_lr(o, 1, .eta_min = 0.004))
SCHEDULE(warm_restarts, wk_schedule_cosine_annealing_warm_restarts(o, 30))
SCHEDULE(warm_restarts_longer, wk_schedule_cosine_annealing_warm_restarts(o, 10, .T_mult = 2, .eta_min = 1e-3))
SCHEDULE(one_cycle, wk_schedule_one_cycle(o, 0.1, 201))
SCHEDULE(one_cycle_adam,
         wk_schedule_one_cycle(o, 0.3, 250, .pct_start = 0.4, .anneal_strategy = "linear", .base_momentum = 0.7,
                               .max_momentum = 0.9, .div_factor = 10, .final_div_factor = 100))
SCHEDULE(one_cycle_three,
         wk_schedule_one_cycle(o, 0.1, 201, .pct_start = 0.25, .three_phase = true, .no_cycle_momentum = true))
SCHEDULE(one_cycle_groups, wk_schedule_one_cycle(o, 0, 201, .max_lrs = (const double[]){0.1, 0.003}, .max_lr_count = 2))
SCHEDULE(cyclic_lr, wk_schedule_cyclic_lr(o, 0.001, 0.1, .step_size_up = 20))
SCHEDULE(cyclic_lr_2, wk_schedule_cyclic_lr(o, 0.001, 0.1, .step_size_up = 20, .step_size_down = 31,
                                            .mode = "triangular2", .base_momentum = 0.6, .max_momentum = 0.95))
SCHEDULE(cyclic_lr_exp, wk_schedule_cyclic_lr(o, 0.001, 0.1, .step_size_up = 15, .mode = "exp_range", .gamma = 0.99,
                                              .no_cycle_momentum = true))
SCHEDULE(plateau, wk_schedule_reduce_lr_on_plateau(o))
SCHEDULE(plateau_max,
         wk_schedule_reduce_lr_on_plateau(o, .mode = "max", .factor = 0.6, .patience = 3, .threshold = 0.01,
                                          .threshold_mode = "abs", .cooldown = 4, .min_lr = 1e-3))
SCHEDULE(plateau_zero, wk_schedule_reduce_lr_on_plateau(o, .factor = 0.5, .patience = 0, .eps = 1e-5))
SCHEDULE(chained, wk_schedule_chained(wk_schedule_constant_lr(o, .factor = 0.1, .total_iters = 20),
                                      wk_schedule_exponential_lr(o, 0.98)))
SCHEDULE(sequential, wk_schedule_sequential((10, 60), wk_schedule_linear_lr(o, .start_factor = 0.1, .total_iters = 10),
                                            wk_schedule_constant_lr(o, .factor = 0.5, .total_iters = 30),
                                            wk_schedule_exponential_lr(o, 0.96)))
#undef SCHEDULE

#define ROW(name)                                                                                                      \
    {                                                                                                                  \
#name, name                                                                                                    \
    }
static const struct row {
    const char *name;
    wk_schedule *(*make)(wk_optim *optim);
} rows[] = {ROW(step_lr),
            ROW(step_lr_gamma),
            ROW(multi_step_lr),
            ROW(multi_step_lr_gamma),
            ROW(exponential_lr),
            ROW(constant_lr),
            ROW(constant_lr_long),
            ROW(linear_lr),
            ROW(linear_lr_down),
            ROW(polynomial_lr),
            ROW(polynomial_lr_power),
            ROW(lambda_lr),
            ROW(cosine),
            ROW(cosine_annealing_lr),
            ROW(cosine_annealing_lr_min),
            ROW(cosine_annealing_lr_one),
            ROW(warm_restarts),
            ROW(warm_restarts_longer),
            ROW(one_cycle),
            ROW(one_cycle_adam),
            ROW(one_cycle_three),
            ROW(one_cycle_groups),
            ROW(cyclic_lr),
            ROW(cyclic_lr_2),
            ROW(cyclic_lr_exp),
            ROW(plateau),
            ROW(plateau_max),
            ROW(plateau_zero),
            ROW(chained),
            ROW(sequential)};
#undef ROW
enum { ROWS = sizeof rows / sizeof *rows };

static bool uses_adam(const struct row *row)
{
    return strstr(row->name, "adam") || strstr(row->name, "step_lr") == row->name || strcmp(row->name, "cosine") == 0 ||
           strcmp(row->name, "cyclic_lr_2") == 0;
}

/* Two groups, as in the script. */
static wk_optim *optimiser(const struct row *row)
{
    wk_tensor *p = wk_zeros((1), .requires_grad = true), *q = wk_zeros((1), .requires_grad = true);
    wk_optim *optim = uses_adam(row) ? wk_optim_adam(wk_list((p)), .lr = 0.05, .beta1 = 0.8, .beta2 = 0.99)
                                     : wk_optim_sgd(wk_list((p)), .lr = 0.05, .momentum = 0.6);
    assert_int_equal(wk_optim_add_group(optim, wk_list((q)), .lr = 0.02), WK_OK);
    return optim;
}

static double momentum(const struct row *row, const wk_optim *optim)
{
    const void *options = ((const wk__optim *)((const wk__handle *)optim)->body)->group[0].options;
    return uses_adam(row) ? ((const wk_optim_adam_options *)options)->beta1
                          : ((const wk_optim_sgd_options *)options)->momentum;
}

static void step(const struct row *row, wk_schedule *schedule, int t)
{
    const bool observes = strncmp(row->name, "plateau", 7) == 0;
    assert_int_equal(observes ? wk_schedule_step_metric(schedule, metric(t)) : wk_schedule_step(schedule), WK_OK);
    assert_int_equal(wk_schedule_count(schedule), t + 1);
}

/* ---- PyTorch's values -------------------------------------------------------------------------------------------- */

static void expect_number(const char *name, const char *what, int t, double have, double expected)
{
    if (fabs(have - expected) > 1e-11 * fabs(expected) + 1e-17)
        fail_msg("%s: %s after %d steps is %.15g, not %.15g", name, what, t, have, expected);
}

static void expect_row(const struct row *row, const char *numbers)
{
    WK_SCOPE;
    double value[STEPS + 1 + 2 * CHECKS];
    char *end;
    for (size_t k = 0; k < sizeof value / sizeof *value; k++, numbers = end) {
        value[k] = strtod(numbers, &end);
        if (end == numbers) fail_msg("%s: line %zu numbers long", row->name, k);
    }
    wk_optim *optim = optimiser(row);
    wk_schedule *schedule = row->make(optim);
    expect_ok();
    for (int t = 0, next = 0; t <= STEPS; t++) {
        expect_number(row->name, "the rate", t, wk_optim_lr(optim, 0), value[t]);
        if (t == checks[next]) {
            const double *pair = value + STEPS + 1 + 2 * (ptrdiff_t)next++;
            expect_number(row->name, "the second rate", t, wk_optim_lr(optim, 1), pair[0]);
            expect_number(row->name, "the momentum", t, momentum(row, optim), pair[1]);
        }
        if (t < STEPS) step(row, schedule, t);
    }
}

static void rates_equal_those_of_pytorch(void **state)
{
    (void)state;
    char path[1024], line[8192];
    const char *root = getenv("WICK_SOURCE");
    snprintf(path, sizeof path, "%s/tests/goldens/schedules.txt", root ? root : ".");
    FILE *file = fopen(path, "r");
    if (!file) fail_msg("no %s: set WICK_SOURCE to the root of the repository", path);
    for (int k = 0; k < ROWS; k++) {
        char *space = fgets(line, sizeof line, file) ? strchr(line, ' ') : NULL;
        if (!space || strncmp(line, rows[k].name, (size_t)(space - line)) != 0 || rows[k].name[space - line])
            fail_msg("schedules.txt has no line %d of %s", k + 1, rows[k].name);
        expect_row(&rows[k], space);
    }
    fclose(file);
}

/* ---- files ------------------------------------------------------------------------------------------------------- */

static void expect_same_bits(const char *name, int t, double have, double expected)
{
    if (memcmp(&have, &expected, sizeof have) != 0)
        fail_msg("%s: after %d steps %.17g, not %.17g", name, t, have, expected);
}

/* A schedule that is saved after some steps and loaded into a new one goes on with the same bits. */
static void schedules_resume_from_files(void **state)
{
    (void)state;
    for (int k = 0; k < ROWS; k++)
        for (int saved = 0; saved < STEPS; saved = 3 * saved + 7) {
            WK_SCOPE;
            wk_optim *first = optimiser(&rows[k]), *second = optimiser(&rows[k]);
            wk_schedule *a = rows[k].make(first), *b = rows[k].make(second);
            for (int t = 0; t < saved; t++) step(&rows[k], a, t);
            assert_int_equal(wk_optim_save(first, scratch("schedule")), WK_OK);
            assert_int_equal(wk_optim_load(second, scratch("schedule")), WK_OK);
            assert_int_equal(wk_schedule_count(b), saved);
            for (int t = saved; t <= STEPS; t++) {
                for (int g = 0; g < 2; g++)
                    expect_same_bits(rows[k].name, t, wk_optim_lr(second, g), wk_optim_lr(first, g));
                expect_same_bits(rows[k].name, t, momentum(&rows[k], second), momentum(&rows[k], first));
                if (t < STEPS) step(&rows[k], a, t), step(&rows[k], b, t);
            }
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(rates_equal_those_of_pytorch),
                                       cmocka_unit_test(schedules_resume_from_files)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
