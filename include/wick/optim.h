/* SPDX-License-Identifier: Apache-2.0 */
/* wick/optim.h: optimisers, as torch.optim. The update of a parameter is one pass over memory; lamb and lbfgs take
 * several.
 *
 *     wk_optim *adam = wk_optim_adam(wk_parameters(net), .lr = 1e-3);
 *     ...
 *     wk_optim_zero_grad(adam);
 *     wk_backward(loss);
 *     wk_optim_step(adam); */
#ifndef WICK_OPTIM_H
#define WICK_OPTIM_H

#if !defined __cplusplus && !defined __clang__
#pragma GCC system_header /* see macros.h */
#endif

#include "nn.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- optimisers -------------------------------------------------------------------------------------------------- */

/* Each optimiser has its own options, with PyTorch's names and defaults, so that an option it lacks (.momentum of
 * adam) is a compiler error. In the formulas p is a parameter, g its gradient plus weight_decay p, negated for
 * .maximize, and t the number of steps of p, counted from 1.
 *
 * State of f16 and bf16 parameters is f32. The optimiser keeps its parameters alive. It does not change parameters
 * that do not require grad (wk_requires_grad_(x, false)) or have no gradient.
 * Returns:   the optimiser, owned by the innermost scope; NULL on error
 * Errors:    WK_ERR_ARGUMENT if an option is out of range, the list is empty, a parameter is not a floating leaf or
 *            occurs twice, or no parameter requires grad */

typedef struct wk_optim_sgd_options {
    size_t size;
    wk_by_name by_name;
    double lr;           /* learning rate, at least 0; default 1e-3 */
    double momentum;     /* at least 0; default 0 */
    double dampening;    /* default 0 */
    double weight_decay; /* at least 0; default 0 */
    bool nesterov;       /* requires momentum and no dampening; default false */
    bool maximize;       /* default false */
    char reserved[6];
} wk_optim_sgd_options;
/* wk_optim_sgd(parameters): Creates a stochastic gradient descent optimiser.
 *     b = momentum b + (1 - dampening) g    (b = g the first time)
 *     p -= lr b                             with .nesterov: p -= lr (g + momentum b)
 * PyTorch:   torch.optim.SGD
 * Paper:     Sutskever, Martens, Dahl, Hinton: On the importance of initialization and momentum in deep learning,
 *            2013 */
WK_RESULT_API wk_optim *wk_optim_sgd_at(wk_site site, wk_tensors *parameters, const wk_optim_sgd_options *options);

typedef struct wk_optim_adam_options {
    size_t size;
    wk_by_name by_name;
    double lr;           /* learning rate, at least 0; default 1e-3 */
    double beta1, beta2; /* in [0, 1); default 0.9 and 0.999 */
    double eps;          /* at least 0; default 1e-8 */
    double weight_decay; /* at least 0; default 0 */
    bool amsgrad;        /* divide by the largest v so far; default false */
    bool maximize;       /* default false */
    char reserved[6];
} wk_optim_adam_options;
/* wk_optim_adam(parameters): Creates an Adam optimiser.
 *     m += (1 - beta1) (g - m)
 *     v = beta2 v + (1 - beta2) g^2
 *     p -= lr / (1 - beta1^t) m / (sqrt(v / (1 - beta2^t)) + eps)
 * PyTorch:   torch.optim.Adam
 * Paper:     Kingma, Ba: Adam: A Method for Stochastic Optimization, 2015; .amsgrad: Reddi, Kale, Kumar: On the
 *            Convergence of Adam and Beyond, 2018 */
WK_RESULT_API wk_optim *wk_optim_adam_at(wk_site site, wk_tensors *parameters, const wk_optim_adam_options *options);

typedef struct wk_optim_adamw_options {
    size_t size;
    wk_by_name by_name;
    double lr;           /* learning rate, at least 0; default 1e-3 */
    double beta1, beta2; /* in [0, 1); default 0.9 and 0.999 */
    double eps;          /* at least 0; default 1e-8 */
    double weight_decay; /* at least 0; default 1e-2 */
    bool amsgrad;        /* divide by the largest v so far; default false */
    bool maximize;       /* default false */
    char reserved[6];
} wk_optim_adamw_options;
/* wk_optim_adamw(parameters): Creates an Adam optimiser with decoupled weight decay: g has none, and p *= 1 - lr
 * weight_decay precedes the update.
 * PyTorch:   torch.optim.AdamW
 * Paper:     Loshchilov, Hutter: Decoupled Weight Decay Regularization, 2019 */
WK_RESULT_API wk_optim *wk_optim_adamw_at(wk_site site, wk_tensors *parameters, const wk_optim_adamw_options *options);

typedef struct wk_optim_adagrad_options {
    size_t size;
    wk_by_name by_name;
    double lr;                        /* at least 0; default 1e-2 */
    double lr_decay;                  /* at least 0; default 0 */
    double weight_decay;              /* at least 0; default 0 */
    double initial_accumulator_value; /* initial v, at least 0; default 0 */
    double eps;                       /* at least 0; default 1e-10 */
    bool maximize;                    /* default false */
    char reserved[7];
} wk_optim_adagrad_options;
/* wk_optim_adagrad(parameters): Creates an Adagrad optimiser.
 *     v += g^2
 *     p -= lr / (1 + (t - 1) lr_decay) g / (sqrt(v) + eps)
 * Example:   wk_optim *adagrad = wk_optim_adagrad(wk_parameters(net), .lr = 0.1, .lr_decay = 1e-3);
 * PyTorch:   torch.optim.Adagrad
 * Paper:     Duchi, Hazan, Singer: Adaptive Subgradient Methods for Online Learning and Stochastic Optimization,
 *            2011 */
WK_RESULT_API wk_optim *wk_optim_adagrad_at(wk_site site, wk_tensors *parameters,
                                            const wk_optim_adagrad_options *options);

typedef struct wk_optim_rmsprop_options {
    size_t size;
    wk_by_name by_name;
    double lr;           /* learning rate, at least 0; default 1e-2 */
    double alpha;        /* in [0, 1); default 0.99 */
    double eps;          /* at least 0; default 1e-8 */
    double weight_decay; /* at least 0; default 0 */
    double momentum;     /* at least 0; default 0 */
    bool centered;       /* subtract the square of the mean gradient; default false */
    bool maximize;       /* default false */
    char reserved[6];
} wk_optim_rmsprop_options;
/* wk_optim_rmsprop(parameters): Creates an RMSprop optimiser.
 *     v = alpha v + (1 - alpha) g^2
 *     a = alpha a + (1 - alpha) g           with .centered, else a = 0
 *     b = momentum b + g / (sqrt(v - a^2) + eps)
 *     p -= lr b
 * PyTorch:   torch.optim.RMSprop
 * Paper:     Tieleman, Hinton: Lecture 6.5, COURSERA: Neural Networks for Machine Learning, 2012; .centered: Graves:
 *            Generating Sequences With Recurrent Neural Networks, 2013 */
WK_RESULT_API wk_optim *wk_optim_rmsprop_at(wk_site site, wk_tensors *parameters,
                                            const wk_optim_rmsprop_options *options);

typedef struct wk_optim_adadelta_options {
    size_t size;
    wk_by_name by_name;
    double lr;           /* at least 0; default 1 */
    double rho;          /* in [0, 1); default 0.9 */
    double eps;          /* at least 0; default 1e-6 */
    double weight_decay; /* at least 0; default 0 */
    bool maximize;       /* default false */
    char reserved[7];
} wk_optim_adadelta_options;
/* wk_optim_adadelta(parameters): Creates an Adadelta optimiser.
 *     v = rho v + (1 - rho) g^2
 *     d = sqrt(u + eps) / sqrt(v + eps) g
 *     u = rho u + (1 - rho) d^2
 *     p -= lr d
 * PyTorch:   torch.optim.Adadelta
 * Paper:     Zeiler: ADADELTA: An Adaptive Learning Rate Method, 2012 */
WK_RESULT_API wk_optim *wk_optim_adadelta_at(wk_site site, wk_tensors *parameters,
                                             const wk_optim_adadelta_options *options);

typedef struct wk_optim_nadam_options {
    size_t size;
    wk_by_name by_name;
    double lr;                   /* learning rate, at least 0; default 2e-3 */
    double beta1, beta2;         /* in [0, 1); default 0.9 and 0.999 */
    double eps;                  /* at least 0; default 1e-8 */
    double weight_decay;         /* at least 0; default 0 */
    double momentum_decay;       /* at least 0; default 4e-3 */
    bool decoupled_weight_decay; /* decay as adamw does; default false */
    bool maximize;               /* default false */
    char reserved[6];
} wk_optim_nadam_options;
/* wk_optim_nadam(parameters): Creates a NAdam optimiser, which is Adam with Nesterov's momentum. m and v are those of
 * wk_optim_adam.
 *     mu(t) = beta1 (1 - 0.96^(t momentum_decay) / 2)
 *     p -= lr (1 - mu(t)) / (1 - mu(1) ... mu(t)) g / (sqrt(v / (1 - beta2^t)) + eps)
 *     p -= lr mu(t + 1) / (1 - mu(1) ... mu(t + 1)) m / (sqrt(v / (1 - beta2^t)) + eps)
 * The product uses the present beta1 for all steps (PyTorch: the beta1 of each step).
 * PyTorch:   torch.optim.NAdam
 * Paper:     Dozat: Incorporating Nesterov Momentum into Adam, 2016 */
WK_RESULT_API wk_optim *wk_optim_nadam_at(wk_site site, wk_tensors *parameters, const wk_optim_nadam_options *options);

typedef struct wk_optim_radam_options {
    size_t size;
    wk_by_name by_name;
    double lr;                   /* learning rate, at least 0; default 1e-3 */
    double beta1, beta2;         /* in [0, 1); default 0.9 and 0.999 */
    double eps;                  /* at least 0; default 1e-8 */
    double weight_decay;         /* at least 0; default 0 */
    bool decoupled_weight_decay; /* decay as adamw does; default false */
    bool maximize;               /* default false */
    char reserved[6];
} wk_optim_radam_options;
/* wk_optim_radam(parameters): Creates a RAdam optimiser. m and v are those of wk_optim_adam.
 *     n = 2 / (1 - beta2) - 1,  n(t) = n - 2 t beta2^t / (1 - beta2^t)
 *     r = sqrt((n(t) - 4) (n(t) - 2) n / ((n - 4) (n - 2) n(t)))
 *     p -= lr r m / (1 - beta1^t) sqrt(1 - beta2^t) / (sqrt(v) + eps)         if n(t) > 5
 *     p -= lr m / (1 - beta1^t)                                               else
 * PyTorch:   torch.optim.RAdam
 * Paper:     Liu, Jiang, He, Chen, Liu, Gao, Han: On the Variance of the Adaptive Learning Rate and Beyond, 2020 */
WK_RESULT_API wk_optim *wk_optim_radam_at(wk_site site, wk_tensors *parameters, const wk_optim_radam_options *options);

typedef struct wk_optim_adamax_options {
    size_t size;
    wk_by_name by_name;
    double lr;           /* learning rate, at least 0; default 2e-3 */
    double beta1, beta2; /* in [0, 1); default 0.9 and 0.999 */
    double eps;          /* at least 0; default 1e-8 */
    double weight_decay; /* at least 0; default 0 */
    bool maximize;       /* default false */
    char reserved[7];
} wk_optim_adamax_options;
/* wk_optim_adamax(parameters): Creates an Adamax optimiser. m is that of wk_optim_adam.
 *     u = max(beta2 u, |g| + eps)
 *     p -= lr / (1 - beta1^t) m / u
 * PyTorch:   torch.optim.Adamax
 * Paper:     Kingma, Ba: Adam: A Method for Stochastic Optimization, 2015, section 7.1 */
WK_RESULT_API wk_optim *wk_optim_adamax_at(wk_site site, wk_tensors *parameters,
                                           const wk_optim_adamax_options *options);

typedef struct wk_optim_asgd_options {
    size_t size;
    wk_by_name by_name;
    double lr;           /* learning rate, at least 0; default 1e-2 */
    double lambd;        /* decay of the parameter and of the rate; default 1e-4 */
    double alpha;        /* power of the rate's decay; default 0.75 */
    double t0;           /* the step after which the average begins; default 1e6 */
    double weight_decay; /* at least 0; default 0 */
    bool maximize;       /* default false */
    char reserved[7];
} wk_optim_asgd_options;
/* wk_optim_asgd(parameters): Creates an averaged stochastic gradient descent optimiser. The average is the state "ax"
 * of wk_optim_state.
 *     eta = lr / (1 + lambd lr (t - 1))^alpha
 *     p = (1 - lambd eta) p - eta g
 *     ax += (p - ax) / max(1, t - 1 - t0)
 * A new learning rate takes effect at the next step (PyTorch: one step later).
 * PyTorch:   torch.optim.ASGD
 * Paper:     Polyak, Juditsky: Acceleration of Stochastic Approximation by Averaging, 1992 */
WK_RESULT_API wk_optim *wk_optim_asgd_at(wk_site site, wk_tensors *parameters, const wk_optim_asgd_options *options);

typedef struct wk_optim_lamb_options {
    size_t size;
    wk_by_name by_name;
    double lr;           /* learning rate, at least 0; default 1e-3 */
    double beta1, beta2; /* in [0, 1); default 0.9 and 0.999 */
    double eps;          /* at least 0; default 1e-6 */
    double weight_decay; /* at least 0; default 1e-2 */
    bool maximize;       /* default false */
    char reserved[7];
} wk_optim_lamb_options;
/* wk_optim_lamb(parameters): Creates a LAMB optimiser, for large batches: the step of each parameter is in proportion
 * to the parameter's 2-norm |p|. m and v are those of wk_optim_adam; g has no weight decay.
 *     u = m / (1 - beta1^t) / (sqrt(v / (1 - beta2^t)) + eps) + weight_decay p
 *     p -= lr |p| / |u| u                   lr u if |p| or |u| is 0
 * Paper:     You, Li, Reddi and others: Large Batch Optimization for Deep Learning: Training BERT in 76 minutes, 2020,
 *            algorithm 2 */
WK_RESULT_API wk_optim *wk_optim_lamb_at(wk_site site, wk_tensors *parameters, const wk_optim_lamb_options *options);

typedef struct wk_optim_lbfgs_options {
    size_t size;
    wk_by_name by_name;
    double lr;                  /* length of a step, or the first one of a line search; at least 0; default 1 */
    double tolerance_grad;      /* ends a step if no element of the gradient is greater; default 1e-7 */
    double tolerance_change;    /* ends a step if parameters and loss change by no more; default 1e-9 */
    int64_t max_iter;           /* most iterations of a step; default 20 */
    int64_t max_eval;           /* calls of closure after which no iteration begins; default max_iter * 5 / 4 */
    int64_t history_size;       /* changes of parameters and gradient that are kept; default 100 */
    const char *line_search_fn; /* NULL, no line search, or "strong_wolfe"; default NULL */
    bool maximize;              /* default false */
    char reserved[7];
} wk_optim_lbfgs_options;
/* wk_optim_lbfgs(parameters): Creates an L-BFGS optimiser. A step takes several iterations along -H g, where H
 * approximates the inverse Hessian from the last changes of the gradient, and computes loss and gradient several
 * times, so it needs wk_optim_step_closure. g is the gradient of all parameters as one vector, in f64 if one of
 * them is f64, else f32, on the device of the first.
 *
 *     wk_optim *lbfgs = wk_optim_lbfgs(wk_parameters(net), .line_search_fn = "strong_wolfe");
 *     for (int step = 0; step < 10; step++) wk_optim_step_closure(lbfgs, closure, &training);
 *
 * It keeps 2 history_size vectors of the size of all parameters together, and the previous parameters during a
 * step. wk_optim_add_group is WK_ERR_ARGUMENT.
 * PyTorch:   torch.optim.LBFGS
 * Paper:     Nocedal: Updating quasi-Newton matrices with limited storage, 1980; Nocedal, Wright: Numerical
 *            Optimization, 2006, algorithms 3.5 and 7.4 */
WK_RESULT_API wk_optim *wk_optim_lbfgs_at(wk_site site, wk_tensors *parameters, const wk_optim_lbfgs_options *options);

/* ---- groups ------------------------------------------------------------------------------------------------------ */

/* The options of all optimisers that have groups. An option that the optimiser lacks is WK_ERR_ARGUMENT. */
typedef struct wk_optim_group_options {
    size_t size;
    wk_by_name by_name;
    double lr, momentum, dampening, weight_decay;
    double beta1, beta2, eps;
    double lr_decay, initial_accumulator_value;
    double alpha, rho, momentum_decay, lambd, t0;
    bool nesterov, amsgrad, centered, decoupled_weight_decay, maximize;
    char reserved[3];
} wk_optim_group_options;
/* wk_optim_add_group(optim, parameters): Adds parameters with options of their own. Omitted options are inherited
 * from the optimiser. A group cannot unset a flag such as .nesterov.
 * Returns:   WK_OK or an error code
 * PyTorch:   optim.add_param_group */
WK_API wk_code wk_optim_add_group_at(wk_site site, wk_optim *optim, wk_tensors *parameters,
                                     const wk_optim_group_options *options);

/* ---- steps ------------------------------------------------------------------------------------------------------- */

/* wk_optim_step(optim): Updates all parameters that have a gradient. The update runs when the enclosing scope
 * closes; if it fails then, parameters and state are as before, and the step does not count (OpenCL, and two steps
 * that run together: rule 18 of docs/contributing/invariants.md).
 * Returns:   WK_OK or an error code; the code of a pending error, without a step
 * Errors:    WK_ERR_STATE for lbfgs, which needs a closure
 * PyTorch:   optim.step() */
WK_API wk_code wk_optim_step_at(wk_site site, wk_optim *optim);

/* A closure: clears the gradients, computes the loss, calls wk_backward, and returns the loss, of one element; NULL
 * on error. */
typedef wk_tensor *wk_optim_closure(void *user);
/* wk_optim_step_closure(optim, closure, user): Calls closure(user) with gradients enabled and takes one step; lbfgs
 * calls it several times.
 *
 *     static wk_tensor *closure(void *user)
 *     {
 *         struct training *t = user;
 *         wk_optim_zero_grad(t->lbfgs);
 *         wk_tensor *loss = wk_cross_entropy(wk_forward(t->net, t->images), t->labels);
 *         wk_backward(loss);
 *         return loss;
 *     }
 *
 * On error, parameters and state are as before the step, also if lbfgs had moved them. Other effects of the closure
 * stay: gradients, positions in random streams, buffers of modules. For optimisers other than lbfgs recorded work
 * may fail later, as for wk_optim_step.
 * Returns:   the loss of the first call of closure; NULL if an error is pending, or closure leaves one or returns
 *            NULL
 * PyTorch:   optim.step(closure) */
WK_API wk_tensor *wk_optim_step_closure_at(wk_site site, wk_optim *optim, wk_optim_closure *closure, void *user);
/* wk_optim_zero_grad(optim): Removes the gradients of all parameters.
 * Returns:   WK_OK or an error code
 * Errors:    WK_ERR_STATE inside the forward of a network made by wk_mirrored, where copies stand for the
 *            parameters */
WK_API wk_code wk_optim_zero_grad_at(wk_site site, wk_optim *optim);

/* ---- learning rates, and gradients ------------------------------------------------------------------------------- */

/* wk_optim_group_count(optim): Returns the number of groups; 0 for NULL. */
WK_RESULT_API int wk_optim_group_count_at(wk_site site, const wk_optim *optim);
/* wk_optim_lr(optim, group): Returns the learning rate of a group, counted from 0; NaN on error.
 * Errors:    WK_ERR_INDEX if group is out of range */
WK_RESULT_API double wk_optim_lr_at(wk_site site, const wk_optim *optim, int group);
/* wk_optim_set_lr(optim, group, lr): Sets the learning rate of a group, or of all groups if group is -1. 0 is 0
 * here, not the default.
 * Returns:   WK_OK or an error code */
WK_API wk_code wk_optim_set_lr_at(wk_site site, wk_optim *optim, int group, double lr);

typedef struct wk_clip_grad_norm_options {
    size_t size;
    wk_by_name by_name;
    double norm_type;        /* p of the norm, greater than 0; INFINITY: the greatest magnitude; default 2 */
    bool error_if_nonfinite; /* read the norm and check it; default false */
    char reserved[7];
} wk_clip_grad_norm_options;
/* wk_clip_grad_norm_(parameters, max): Scales the gradients so that their total norm, that of all elements as one
 * vector, is at most max. If this fails when it runs, the gradients are as before.
 *     norm = sum(|g|^norm_type)^(1 / norm_type)
 *     g *= min(1, max / (norm + 1e-6))
 * Returns:   the previous norm, on the device, owned by the innermost scope; NULL on error
 * Errors:    WK_ERR_ARGUMENT if max is negative or .norm_type not greater than 0; WK_ERR_STATE with
 *            .error_if_nonfinite, which waits for the device, if the norm is infinite or NaN, and then no gradient
 *            changes
 * Example:   wk_clip_grad_norm_(wk_parameters(net), 1, .norm_type = INFINITY)
 * PyTorch:   torch.nn.utils.clip_grad_norm_ */
WK_API wk_tensor *wk_clip_grad_norm__at(wk_site site, wk_tensors *parameters, double max,
                                        const wk_clip_grad_norm_options *options);
/* wk_clip_grad_value_(parameters, max): Limits each element of the gradients to [-max, max].
 * Returns:   WK_OK or an error code
 * Errors:    WK_ERR_ARGUMENT if max is negative
 * PyTorch:   torch.nn.utils.clip_grad_value_ */
WK_API wk_code wk_clip_grad_value__at(wk_site site, wk_tensors *parameters, double max);

#define wk_optim_step(optim)                 wk_optim_step_at(WK_HERE, optim)
#define wk_optim_step_closure(...)           wk_optim_step_closure_at(WK_HERE, __VA_ARGS__)
#define wk_optim_zero_grad(optim)            wk_optim_zero_grad_at(WK_HERE, optim)
#define wk_optim_lr(optim, group)            wk_optim_lr_at(WK_HERE, optim, group)
#define wk_optim_set_lr(optim, group, lr)    wk_optim_set_lr_at(WK_HERE, optim, group, lr)
#define wk_clip_grad_value_(parameters, max) wk_clip_grad_value__at(WK_HERE, parameters, max)
#define wk_optim_group_count(...)            wk_optim_group_count_at(WK_HERE, __VA_ARGS__)

#ifndef __cplusplus
/* The doubles of each struct of options whose default may be other than 0 (macros.h). */
#define wk_optim_sgd_options_numbers_(wk_do_, wk_o_)                                                                   \
    wk_do_(wk_o_, lr) wk_do_(wk_o_, momentum) wk_do_(wk_o_, dampening) wk_do_(wk_o_, weight_decay)
#define wk_optim_adam_options_numbers_(wk_do_, wk_o_)                                                                  \
    wk_do_(wk_o_, lr) wk_do_(wk_o_, beta1) wk_do_(wk_o_, beta2) wk_do_(wk_o_, eps) wk_do_(wk_o_, weight_decay)
#define wk_optim_adamw_options_numbers_(wk_do_, wk_o_) wk_optim_adam_options_numbers_(wk_do_, wk_o_)
#define wk_optim_adagrad_options_numbers_(wk_do_, wk_o_)                                                               \
    wk_do_(wk_o_, lr) wk_do_(wk_o_, lr_decay) wk_do_(wk_o_, weight_decay) wk_do_(wk_o_, initial_accumulator_value)     \
        wk_do_(wk_o_, eps)
#define wk_optim_rmsprop_options_numbers_(wk_do_, wk_o_)                                                               \
    wk_do_(wk_o_, lr) wk_do_(wk_o_, alpha) wk_do_(wk_o_, eps) wk_do_(wk_o_, weight_decay) wk_do_(wk_o_, momentum)
#define wk_optim_adadelta_options_numbers_(wk_do_, wk_o_)                                                              \
    wk_do_(wk_o_, lr) wk_do_(wk_o_, rho) wk_do_(wk_o_, eps) wk_do_(wk_o_, weight_decay)
#define wk_optim_nadam_options_numbers_(wk_do_, wk_o_)                                                                 \
    wk_optim_adam_options_numbers_(wk_do_, wk_o_) wk_do_(wk_o_, momentum_decay)
#define wk_optim_radam_options_numbers_(wk_do_, wk_o_)  wk_optim_adam_options_numbers_(wk_do_, wk_o_)
#define wk_optim_adamax_options_numbers_(wk_do_, wk_o_) wk_optim_adam_options_numbers_(wk_do_, wk_o_)
#define wk_optim_lamb_options_numbers_(wk_do_, wk_o_)   wk_optim_adam_options_numbers_(wk_do_, wk_o_)
#define wk_optim_asgd_options_numbers_(wk_do_, wk_o_)                                                                  \
    wk_do_(wk_o_, lr) wk_do_(wk_o_, lambd) wk_do_(wk_o_, alpha) wk_do_(wk_o_, t0) wk_do_(wk_o_, weight_decay)
#define wk_optim_lbfgs_options_numbers_(wk_do_, wk_o_)                                                                 \
    wk_do_(wk_o_, lr) wk_do_(wk_o_, tolerance_grad) wk_do_(wk_o_, tolerance_change)
#define wk_optim_group_options_numbers_(wk_do_, wk_o_)                                                                 \
    wk_do_(wk_o_, lr) wk_do_(wk_o_, momentum) wk_do_(wk_o_, dampening) wk_do_(wk_o_, weight_decay)                     \
        wk_do_(wk_o_, beta1) wk_do_(wk_o_, beta2) wk_do_(wk_o_, eps) wk_do_(wk_o_, lr_decay)                           \
            wk_do_(wk_o_, initial_accumulator_value) wk_do_(wk_o_, alpha) wk_do_(wk_o_, rho)                           \
                wk_do_(wk_o_, momentum_decay) wk_do_(wk_o_, lambd) wk_do_(wk_o_, t0)

#define WK_OPTIM_(f, ...) WK_NEW_OPTIM_(WK_OPT_(wk_optim *, f, f##_options, __VA_ARGS__))

#define wk_optim_sgd(...)      WK_OPTIM_(wk_optim_sgd, __VA_ARGS__)
#define wk_optim_adam(...)     WK_OPTIM_(wk_optim_adam, __VA_ARGS__)
#define wk_optim_adamw(...)    WK_OPTIM_(wk_optim_adamw, __VA_ARGS__)
#define wk_optim_adagrad(...)  WK_OPTIM_(wk_optim_adagrad, __VA_ARGS__)
#define wk_optim_rmsprop(...)  WK_OPTIM_(wk_optim_rmsprop, __VA_ARGS__)
#define wk_optim_adadelta(...) WK_OPTIM_(wk_optim_adadelta, __VA_ARGS__)
#define wk_optim_nadam(...)    WK_OPTIM_(wk_optim_nadam, __VA_ARGS__)
#define wk_optim_radam(...)    WK_OPTIM_(wk_optim_radam, __VA_ARGS__)
#define wk_optim_adamax(...)   WK_OPTIM_(wk_optim_adamax, __VA_ARGS__)
#define wk_optim_asgd(...)     WK_OPTIM_(wk_optim_asgd, __VA_ARGS__)
#define wk_optim_lamb(...)     WK_OPTIM_(wk_optim_lamb, __VA_ARGS__)
#define wk_optim_lbfgs(...)    WK_OPTIM_(wk_optim_lbfgs, __VA_ARGS__)

#define wk_clip_grad_norm_options_numbers_(wk_do_, wk_o_) wk_do_(wk_o_, norm_type)
#define wk_clip_grad_norm_(parameters, ...)                                                                            \
    WK_OPT2_(wk_tensor *, wk_clip_grad_norm_, wk_clip_grad_norm_options, "parameters, max", parameters, __VA_ARGS__)
#define wk_optim_add_group(optim, ...)                                                                                 \
    WK_OPT2_(wk_code, wk_optim_add_group, wk_optim_group_options, "optim, parameters", optim, __VA_ARGS__)
#endif

#ifdef __cplusplus
}
#endif
#endif
