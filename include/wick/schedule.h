/* SPDX-License-Identifier: Apache-2.0 */
/* wick/schedule.h: learning rates that change during training, as torch.optim.lr_scheduler.
 *
 *     wk_optim *adam = wk_optim_adam(wk_parameters(net), .lr = 2e-3);
 *     wk_schedule *rate = wk_schedule_step_lr(adam, 8, .gamma = 0.1);
 *     for (int epoch = 0; epoch < 12 && !wk_error(); epoch++) {
 *         ...                             // wk_optim_step(adam) for each batch
 *         wk_schedule_step(rate);
 *     } */
#ifndef WICK_SCHEDULE_H
#define WICK_SCHEDULE_H

#if !defined __cplusplus && !defined __clang__
#pragma GCC system_header /* see macros.h */
#endif

#include "optim.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- schedules --------------------------------------------------------------------------------------------------- */

/* In the formulas t is the number of calls of wk_schedule_step so far, base the learning rate that a group had when the
 * optimiser's first schedule was created, and lr its present rate. Creating a schedule sets the rates for t = 0. All
 * rates equal PyTorch's. A schedule that multiplies lr continues from a rate that wk_optim_set_lr or another schedule
 * has set. Rates are arguments of kernels, so a change compiles nothing.
 *
 * A schedule keeps its optimiser alive. wk_optim_save and checkpoints save t and the state that changes with steps;
 * options and arguments are not saved. A file is loaded only if the optimiser has the schedules that it had when it was
 * saved, of the same kinds, created in the same order.
 * Returns:   the schedule, owned by the innermost scope; NULL on error
 * Errors:    WK_ERR_ARGUMENT if an argument or an option is out of range */

typedef struct wk_schedule_step_lr_options {
    size_t size;
    wk_by_name by_name;
    double gamma; /* at least 0; default 0.1 */
} wk_schedule_step_lr_options;
/* wk_schedule_step_lr(optim, step_size): Multiplies lr by gamma each step_size steps.
 * Example:   with .gamma = 0.1 and base 1: step_size steps at 1, as many at 0.1, as many at 0.01, ...
 * PyTorch:   torch.optim.lr_scheduler.StepLR */
WK_RESULT_API wk_schedule *wk_schedule_step_lr_at(wk_site site, wk_optim *optim, int64_t step_size,
                                                  const wk_schedule_step_lr_options *options);

typedef struct wk_schedule_multi_step_lr_options {
    size_t size;
    wk_by_name by_name;
    double gamma; /* at least 0; default 0.1 */
} wk_schedule_multi_step_lr_options;
/* wk_schedule_multi_step_lr(optim, (a, b, ...)): Multiplies lr by gamma at each milestone t = a, b, ...
 * Example:   wk_schedule_multi_step_lr(sgd, (30, 80), .gamma = 0.1)
 * PyTorch:   torch.optim.lr_scheduler.MultiStepLR */
WK_RESULT_API wk_schedule *wk_schedule_multi_step_lr_at(wk_site site, wk_optim *optim, const int64_t *milestones,
                                                        int count, const wk_schedule_multi_step_lr_options *options);

/* wk_schedule_exponential_lr(optim, gamma): Multiplies lr by gamma, which is at least 0, at each step.
 * PyTorch:   torch.optim.lr_scheduler.ExponentialLR */
WK_RESULT_API wk_schedule *wk_schedule_exponential_lr_at(wk_site site, wk_optim *optim, double gamma);

typedef struct wk_schedule_constant_lr_options {
    size_t size;
    wk_by_name by_name;
    double factor;       /* in (0, 1]; default 1/3 */
    int64_t total_iters; /* default 5 */
} wk_schedule_constant_lr_options;
/* wk_schedule_constant_lr(optim): Multiplies lr by factor, and at t = total_iters by 1 / factor.
 * PyTorch:   torch.optim.lr_scheduler.ConstantLR */
WK_RESULT_API wk_schedule *wk_schedule_constant_lr_at(wk_site site, wk_optim *optim,
                                                      const wk_schedule_constant_lr_options *options);

typedef struct wk_schedule_linear_lr_options {
    size_t size;
    wk_by_name by_name;
    double start_factor; /* in (0, 1]; default 1/3 */
    double end_factor;   /* in [0, 1]; default 1 */
    int64_t total_iters; /* default 5 */
} wk_schedule_linear_lr_options;
/* wk_schedule_linear_lr(optim): Multiplies lr by a factor that changes linearly from start_factor at t = 0 to
 * end_factor at t = total_iters.
 * PyTorch:   torch.optim.lr_scheduler.LinearLR */
WK_RESULT_API wk_schedule *wk_schedule_linear_lr_at(wk_site site, wk_optim *optim,
                                                    const wk_schedule_linear_lr_options *options);

typedef struct wk_schedule_polynomial_lr_options {
    size_t size;
    wk_by_name by_name;
    double power;        /* at least 0; default 1 */
    int64_t total_iters; /* default 5 */
} wk_schedule_polynomial_lr_options;
/* wk_schedule_polynomial_lr(optim): Decreases the rate to 0 at t = total_iters:
 *     base (1 - min(t, total_iters) / total_iters)^power
 * PyTorch:   torch.optim.lr_scheduler.PolynomialLR */
WK_RESULT_API wk_schedule *wk_schedule_polynomial_lr_at(wk_site site, wk_optim *optim,
                                                        const wk_schedule_polynomial_lr_options *options);

/* A factor of the base rate for step t. */
typedef double wk_schedule_factor(int64_t t, void *user);
/* wk_schedule_lambda_lr(optim, factor, user): Sets the rates to base factor(t, user). factor is called once for each
 * step, and when the schedule is created.
 *
 *     static double halves(int64_t t, void *user) { return pow(0.5, (double)t / *(const double *)user); }
 *     wk_schedule *rate = wk_schedule_lambda_lr(adam, halves, &half_life);
 *
 * Errors:    WK_ERR_ARGUMENT if factor returns a negative number, an infinite one or NaN, then or at a step
 * PyTorch:   torch.optim.lr_scheduler.LambdaLR */
WK_RESULT_API wk_schedule *wk_schedule_lambda_lr_at(wk_site site, wk_optim *optim, wk_schedule_factor *factor,
                                                    void *user);

typedef struct wk_schedule_cosine_options {
    size_t size;
    wk_by_name by_name;
    int64_t steps;  /* of the training, warm-up included; at least 1, required */
    int64_t warmup; /* steps of the warm-up; default 0 */
    double min_lr;  /* rate at the end, at least 0; default 0 */
} wk_schedule_cosine_options;
/* wk_schedule_cosine(optim, .steps = n): Increases the rate linearly, then decreases it along half a cosine:
 *     base (t + 1) / (warmup + 1)                                                    for t < warmup
 *     min_lr + (base - min_lr) (1 + cos(pi (t - warmup) / (steps - warmup))) / 2     for t < steps
 *     min_lr                                                                         for later t
 * Example:   wk_schedule_cosine(adam, .warmup = 100, .steps = 1000, .min_lr = 1e-4)
 * PyTorch:   up to t = steps SequentialLR of LinearLR(start_factor=1/(warmup + 1), total_iters=warmup) and
 *            CosineAnnealingLR(T_max=steps - warmup, eta_min=min_lr)
 * Paper:     Loshchilov, Hutter: SGDR: Stochastic Gradient Descent with Warm Restarts, 2017 */
WK_RESULT_API wk_schedule *wk_schedule_cosine_at(wk_site site, wk_optim *optim,
                                                 const wk_schedule_cosine_options *options);

typedef struct wk_schedule_cosine_annealing_lr_options {
    size_t size;
    wk_by_name by_name;
    double eta_min; /* lowest rate, at least 0; default 0 */
} wk_schedule_cosine_annealing_lr_options;
/* wk_schedule_cosine_annealing_lr(optim, T_max): Moves the rate along a cosine of period 2 T_max:
 *     eta_min + (base - eta_min) (1 + cos(pi t / T_max)) / 2
 * computed from lr as PyTorch does. After T_max steps the rate rises again (wk_schedule_cosine: it stays).
 * PyTorch:   torch.optim.lr_scheduler.CosineAnnealingLR
 * Paper:     Loshchilov, Hutter: SGDR: Stochastic Gradient Descent with Warm Restarts, 2017 */
WK_RESULT_API wk_schedule *wk_schedule_cosine_annealing_lr_at(wk_site site, wk_optim *optim, int64_t T_max,
                                                              const wk_schedule_cosine_annealing_lr_options *options);

typedef struct wk_schedule_cosine_annealing_warm_restarts_options {
    size_t size;
    wk_by_name by_name;
    double eta_min; /* lowest rate, at least 0; default 0 */
    int64_t T_mult; /* factor between the lengths of two periods; default 1 */
} wk_schedule_cosine_annealing_warm_restarts_options;
/* wk_schedule_cosine_annealing_warm_restarts(optim, T_0): Decreases the rate along half a cosine and begins again, the
 * first time after T_0 steps, then after T_0 T_mult, T_0 T_mult^2, ... more.
 * PyTorch:   torch.optim.lr_scheduler.CosineAnnealingWarmRestarts
 * Paper:     Loshchilov, Hutter: SGDR: Stochastic Gradient Descent with Warm Restarts, 2017 */
WK_RESULT_API wk_schedule *
wk_schedule_cosine_annealing_warm_restarts_at(wk_site site, wk_optim *optim, int64_t T_0,
                                              const wk_schedule_cosine_annealing_warm_restarts_options *options);

typedef struct wk_schedule_one_cycle_options {
    size_t size;
    wk_by_name by_name;
    double pct_start;            /* share of the steps in which the rate rises, in [0, 1]; default 0.3 */
    double base_momentum;        /* momentum (sgd) or beta1 (adam) at the highest rate; default 0.85 */
    double max_momentum;         /* the same at the lowest rate; default 0.95 */
    double div_factor;           /* the first rate is max_lr / div_factor; greater than 0; default 25 */
    double final_div_factor;     /* the last rate is the first / final_div_factor; greater than 0; default 1e4 */
    const char *anneal_strategy; /* "cos" or "linear"; default "cos" */
    bool no_cycle_momentum;      /* leave the momentum alone; default false */
    bool three_phase;            /* fall to the first rate symmetrically, then to the last; default false */
    char reserved[6];
    const double *max_lrs; /* highest rate of each group, instead of max_lr; copied */
    int64_t max_lr_count;  /* numbers of max_lrs: the number of groups; default 0 */
} wk_schedule_one_cycle_options;
/* wk_schedule_one_cycle(optim, max_lr, total_steps): Raises the rate from max_lr / div_factor to max_lr and lowers it
 * to almost 0, while the momentum falls and rises. It is stepped after each batch, at most total_steps times.
 * Example:   wk_schedule_one_cycle(sgd, 0.1, epochs * wk_loader_count(batches))
 *            wk_schedule_one_cycle(sgd, 0, steps, .max_lrs = (double[]){0.1, 0.01}, .max_lr_count = 2)
 * Errors:    WK_ERR_ARGUMENT also if the optimiser has no momentum, and .no_cycle_momentum is not set; WK_ERR_STATE
 *            from the step after total_steps on
 * PyTorch:   torch.optim.lr_scheduler.OneCycleLR
 * Paper:     Smith, Topin: Super-Convergence: Very Fast Training of Neural Networks Using Large Learning Rates, 2018 */
WK_RESULT_API wk_schedule *wk_schedule_one_cycle_at(wk_site site, wk_optim *optim, double max_lr, int64_t total_steps,
                                                    const wk_schedule_one_cycle_options *options);

typedef struct wk_schedule_cyclic_lr_options {
    size_t size;
    wk_by_name by_name;
    double gamma;           /* of "exp_range", in (0, 1]; default 1 */
    double base_momentum;   /* momentum (sgd) or beta1 (adam) at the highest rate; default 0.8 */
    double max_momentum;    /* the same at the lowest rate; default 0.9 */
    int64_t step_size_up;   /* steps from base_lr to max_lr; default 2000 */
    int64_t step_size_down; /* steps back; default step_size_up */
    const char *mode; /* "triangular", "triangular2" (the height halves with each cycle) or "exp_range" (the height
                             * is gamma^t); default "triangular" */
    bool no_cycle_momentum; /* leave the momentum alone; default false */
    char reserved[7];
} wk_schedule_cyclic_lr_options;
/* wk_schedule_cyclic_lr(optim, base_lr, max_lr): Moves the rate linearly from base_lr to max_lr and back, again and
 * again, while the momentum falls and rises.
 * Errors:    WK_ERR_ARGUMENT also if the optimiser has no momentum, and .no_cycle_momentum is not set
 * PyTorch:   torch.optim.lr_scheduler.CyclicLR
 * Paper:     Smith: Cyclical Learning Rates for Training Neural Networks, 2017 */
WK_RESULT_API wk_schedule *wk_schedule_cyclic_lr_at(wk_site site, wk_optim *optim, double base_lr, double max_lr,
                                                    const wk_schedule_cyclic_lr_options *options);

typedef struct wk_schedule_reduce_lr_on_plateau_options {
    size_t size;
    wk_by_name by_name;
    double factor;              /* multiplies lr, in [0, 1); default 0.1 */
    double threshold;           /* smallest improvement; default 1e-4 */
    double min_lr;              /* lowest rate, at least 0; default 0 */
    double eps;                 /* smaller changes of a rate are skipped; default 1e-8 */
    double patience;            /* steps without improvement that are tolerated; default 10 */
    int64_t cooldown;           /* steps after a reduction that are not counted; default 0 */
    const char *mode;           /* whether "min" or "max" of the metric is best; default "min" */
    const char *threshold_mode; /* "rel": threshold is a share of the best metric so far; "abs"; default "rel" */
} wk_schedule_reduce_lr_on_plateau_options;
/* wk_schedule_reduce_lr_on_plateau(optim): Reduces the rates when a metric stops improving. It is stepped with
 * wk_schedule_step_metric.
 * Example:   wk_schedule_reduce_lr_on_plateau(adam, .mode = "max", .patience = 2)
 * PyTorch:   torch.optim.lr_scheduler.ReduceLROnPlateau */
WK_RESULT_API wk_schedule *wk_schedule_reduce_lr_on_plateau_at(wk_site site, wk_optim *optim,
                                                               const wk_schedule_reduce_lr_on_plateau_options *options);

/* wk_schedule_chained(a, b, ...): Steps several schedules of one optimiser together, so that their factors multiply.
 * The schedule keeps them alive. reduce_lr_on_plateau cannot be one of them.
 * PyTorch:   torch.optim.lr_scheduler.ChainedScheduler */
WK_RESULT_API wk_schedule *wk_schedule_chained_at(wk_site site, wk_schedule *const *schedules, int count);

/* wk_schedule_sequential((m, n, ...), a, b, c, ...): Runs schedule a until t = m, then b until t = n, then c; each
 * starts from the base rates. The number of milestones is one less than that of schedules; milestones are at least 1
 * and increase. The schedule keeps the others alive. reduce_lr_on_plateau cannot be one of them.
 *
 *     wk_schedule *up = wk_schedule_linear_lr(sgd, .start_factor = 0.1, .total_iters = 10);
 *     wk_schedule *down = wk_schedule_exponential_lr(sgd, 0.95);
 *     wk_schedule *rate = wk_schedule_sequential((10), up, down);
 *
 * PyTorch:   torch.optim.lr_scheduler.SequentialLR */
WK_RESULT_API wk_schedule *wk_schedule_sequential_at(wk_site site, const int64_t *milestones, int milestone_count,
                                                     wk_schedule *const *schedules, int count);

/* ---- steps ------------------------------------------------------------------------------------------------------- */

/* wk_schedule_step(schedule): Increases t and sets the rates of all groups. Call it after wk_optim_step, at the end of
 * each epoch or batch, depending on the unit of its options.
 * Returns:   WK_OK or an error code, and then no rate has changed; the code of a pending error, without a step
 * Errors:    WK_ERR_STATE for reduce_lr_on_plateau, which needs a metric, after the last step of one_cycle, and if
 *            the optimiser's number of groups has changed */
WK_API wk_code wk_schedule_step_at(wk_site site, wk_schedule *schedule);
/* wk_schedule_step_metric(schedule, metric): Increases t, and reduces the rates if metric has not improved for too
 * long. NaN counts as no improvement.
 * Returns:   WK_OK or an error code; the code of a pending error, without a step
 * Errors:    WK_ERR_STATE if the schedule is not reduce_lr_on_plateau */
WK_API wk_code wk_schedule_step_metric_at(wk_site site, wk_schedule *schedule, double metric);
/* wk_schedule_count(schedule): Returns t, the number of steps so far; 0 for NULL. */
WK_RESULT_API int64_t wk_schedule_count_at(wk_site site, const wk_schedule *schedule);

#define wk_schedule_step(schedule)                wk_schedule_step_at(WK_HERE, schedule)
#define wk_schedule_step_metric(schedule, metric) wk_schedule_step_metric_at(WK_HERE, schedule, metric)
#define wk_schedule_count(...)                    wk_schedule_count_at(WK_HERE, __VA_ARGS__)
#define wk_schedule_exponential_lr(optim, gamma)  WK_NEW_SCHEDULE_(wk_schedule_exponential_lr_at(WK_HERE, optim, gamma))
#define wk_schedule_lambda_lr(optim, factor, user)                                                                     \
    WK_NEW_SCHEDULE_(wk_schedule_lambda_lr_at(WK_HERE, optim, factor, user))

#ifndef __cplusplus

#define WK_SCHEDULE_1_(f, ...)       WK_NEW_SCHEDULE_(WK_OPT_(wk_schedule *, f, f##_options, __VA_ARGS__))
#define WK_SCHEDULE_2_(f, said, ...) WK_NEW_SCHEDULE_(WK_OPT2_(wk_schedule *, f, f##_options, said, __VA_ARGS__))
#define WK_SCHEDULE_3_(f, said, ...) WK_NEW_SCHEDULE_(WK_OPT3_(wk_schedule *, f, f##_options, said, __VA_ARGS__))

#define wk_schedule_constant_lr(...)          WK_SCHEDULE_1_(wk_schedule_constant_lr, __VA_ARGS__)
#define wk_schedule_linear_lr(...)            WK_SCHEDULE_1_(wk_schedule_linear_lr, __VA_ARGS__)
#define wk_schedule_polynomial_lr(...)        WK_SCHEDULE_1_(wk_schedule_polynomial_lr, __VA_ARGS__)
#define wk_schedule_cosine(...)               WK_SCHEDULE_1_(wk_schedule_cosine, __VA_ARGS__)
#define wk_schedule_reduce_lr_on_plateau(...) WK_SCHEDULE_1_(wk_schedule_reduce_lr_on_plateau, __VA_ARGS__)

#define wk_schedule_step_lr(optim, ...) WK_SCHEDULE_2_(wk_schedule_step_lr, "optim, step_size", optim, __VA_ARGS__)
#define wk_schedule_cosine_annealing_lr(optim, ...)                                                                    \
    WK_SCHEDULE_2_(wk_schedule_cosine_annealing_lr, "optim, T_max", optim, __VA_ARGS__)
#define wk_schedule_cosine_annealing_warm_restarts(optim, ...)                                                         \
    WK_SCHEDULE_2_(wk_schedule_cosine_annealing_warm_restarts, "optim, T_0", optim, __VA_ARGS__)
#define wk_schedule_one_cycle(optim, max_lr, ...)                                                                      \
    WK_SCHEDULE_3_(wk_schedule_one_cycle, "optim, max_lr, total_steps", optim, max_lr, __VA_ARGS__)
#define wk_schedule_cyclic_lr(optim, base_lr, ...)                                                                     \
    WK_SCHEDULE_3_(wk_schedule_cyclic_lr, "optim, base_lr, max_lr", optim, base_lr, __VA_ARGS__)

/* (optim, list) or (optim, list, .key = value, ...) */
#define wk_schedule_multi_step_lr(optim, ...)                                                                          \
    WK_NEW_SCHEDULE_(WK_JOIN_(WK_MILESTONES_, WK_COUNT_(__VA_ARGS__))(WK_INTS_NAME_, optim, __VA_ARGS__))
#define WK_MILESTONES_TEXT_                                                                                            \
    "wk_schedule_multi_step_lr: write milestones in parentheses: wk_schedule_multi_step_lr(optim, (30, 80))"
#define WK_MILESTONES_1(wk_s_, optim, list)                                                                            \
    WK_SIZED_(wk_schedule *, wk_s_, list, WK_MILESTONES_TEXT_,                                                         \
              WK_GIVE_(wk_schedule *, wk_schedule_multi_step_lr_at(WK_HERE, optim, wk_s_.at, wk_s_.count, NULL)))
#define WK_MILESTONES_WK2_(wk_s_, optim, list, ...)                                                                    \
    WK_SIZED_(wk_schedule *, wk_s_, list, WK_MILESTONES_TEXT_,                                                         \
              WK_CALL_(wk_schedule *, wk_schedule_multi_step_lr, (optim, wk_s_.at, wk_s_.count),                       \
                       wk_schedule_multi_step_lr_options, __VA_ARGS__))

/* A block that ends with last, which uses wk_l_, the array of the schedules after a NULL. */
#define WK_SCHEDULES_(wk_l_, last, ...)                                                                                \
    __extension__({                                                                                                    \
        wk_schedule *const wk_l_[] = {NULL, __VA_ARGS__};                                                              \
        WK_GIVE_(wk_schedule *, last);                                                                                 \
    })
#define WK_SCHEDULE_COUNT_(wk_l_) (int)(WK_BYTES_(wk_l_) / sizeof(wk_schedule *)) - 1
#define wk_schedule_chained(...)  WK_NEW_SCHEDULE_(WK_CHAINED_(WK_LIST_NAME_, __VA_ARGS__))
#define WK_CHAINED_(wk_l_, ...)                                                                                        \
    WK_SCHEDULES_(wk_l_, wk_schedule_chained_at(WK_HERE, wk_l_ + 1, WK_SCHEDULE_COUNT_(wk_l_)), __VA_ARGS__)
#define wk_schedule_sequential(milestones, ...)                                                                        \
    WK_NEW_SCHEDULE_(WK_SEQUENTIAL_(WK_INTS_NAME_, WK_LIST_NAME_, milestones, __VA_ARGS__))
#define WK_SEQUENTIAL_(wk_s_, wk_l_, list, ...)                                                                        \
    WK_SIZED_(                                                                                                         \
        wk_schedule *, wk_s_, list,                                                                                    \
        "wk_schedule_sequential: write milestones in parentheses: wk_schedule_sequential((10), a, b)",                 \
        WK_SCHEDULES_(wk_l_,                                                                                           \
                      wk_schedule_sequential_at(WK_HERE, wk_s_.at, wk_s_.count, wk_l_ + 1, WK_SCHEDULE_COUNT_(wk_l_)), \
                      __VA_ARGS__))
#endif

#ifdef __cplusplus
}
#endif
#endif
