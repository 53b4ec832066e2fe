/* SPDX-License-Identifier: Apache-2.0 */
/* wick/optim.h: optimisers: torch.optim. The update of a parameter is one pass over it.
 *
 *     wk_optim *adam = wk_optim_adam(wk_parameters(net), .lr = 1e-3);
 *     ...
 *     wk_optim_zero_grad(adam);
 *     wk_backward(loss);
 *     wk_optim_step(adam);
 */
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

/* Each optimiser has options of its own, with the names and defaults of PyTorch, so that one that it does not have
 * (.momentum of adam) is an error of the compiler. In all of them, g is the gradient of a parameter p, plus
 * weight_decay p; with .maximize the gradient counts as its negative, so that the loss grows. t counts the steps of
 * the parameter from 1 on.
 *
 * Calls return NULL with the error recorded: WK_ERR_ARGUMENT for an option out of its range, for an empty list, a
 * parameter that is no leaf, has no floats or is there twice, and if none of the parameters requires grad.
 *
 * What is kept of f16 and bf16 parameters is f32. The optimiser keeps the parameters alive. Those that do not require
 * grad (frozen: wk_requires_grad_(x, false)) or have no gradient are left alone. */

typedef struct wk_optim_sgd_options {
    size_t size;
    wk_by_name by_name;
    double lr;           /* 1e-3, 0 or more */
    double momentum;     /* 0, 0 or more */
    double dampening;    /* 0 */
    double weight_decay; /* 0, 0 or more */
    bool nesterov;       /* with momentum and without dampening */
    bool maximize;
    char reserved[6];
} wk_optim_sgd_options;
/* Stochastic gradient descent:
 *
 *     b = momentum b + (1 - dampening) g    (b = g the first time)
 *     p -= lr b                             with .nesterov: p -= lr (g + momentum b)
 *
 * torch.optim.SGD; Sutskever, Martens, Dahl, Hinton: On the importance of initialization and momentum in deep
 * learning, 2013. */
WK_RESULT_API wk_optim *wk_optim_sgd_at(wk_site site, wk_tensors *parameters, const wk_optim_sgd_options *options);

typedef struct wk_optim_adam_options {
    size_t size;
    wk_by_name by_name;
    double lr;           /* 1e-3, 0 or more */
    double beta1, beta2; /* 0.9, 0.999, both in [0, 1) */
    double eps;          /* 1e-8, 0 or more */
    double weight_decay; /* 0, 0 or more */
    bool amsgrad;        /* divide by the largest v so far */
    bool maximize;
    char reserved[6];
} wk_optim_adam_options;
/* Adam:
 *
 *     m += (1 - beta1) (g - m)
 *     v = beta2 v + (1 - beta2) g^2
 *     p -= lr / (1 - beta1^t) m / (sqrt(v / (1 - beta2^t)) + eps)
 *
 * torch.optim.Adam; Kingma, Ba: Adam: A Method for Stochastic Optimization, 2015. For .amsgrad: Reddi, Kale, Kumar: On
 * the Convergence of Adam and Beyond, 2018. */
WK_RESULT_API wk_optim *wk_optim_adam_at(wk_site site, wk_tensors *parameters, const wk_optim_adam_options *options);

typedef struct wk_optim_adamw_options {
    size_t size;
    wk_by_name by_name;
    double lr;           /* 1e-3, 0 or more */
    double beta1, beta2; /* 0.9, 0.999, both in [0, 1) */
    double eps;          /* 1e-8, 0 or more */
    double weight_decay; /* 1e-2, 0 or more */
    bool amsgrad;        /* divide by the largest v so far */
    bool maximize;
    char reserved[6];
} wk_optim_adamw_options;
/* Adam whose g has no weight decay in it; instead, p *= 1 - lr weight_decay before the rest.
 *
 * torch.optim.AdamW; Loshchilov, Hutter: Decoupled Weight Decay Regularization, 2019. */
WK_RESULT_API wk_optim *wk_optim_adamw_at(wk_site site, wk_tensors *parameters, const wk_optim_adamw_options *options);

typedef struct wk_optim_adagrad_options {
    size_t size;
    wk_by_name by_name;
    double lr;                        /* 1e-2, 0 or more */
    double lr_decay;                  /* 0, 0 or more */
    double weight_decay;              /* 0, 0 or more */
    double initial_accumulator_value; /* 0, 0 or more: of v */
    double eps;                       /* 1e-10, 0 or more */
    bool maximize;
    char reserved[7];
} wk_optim_adagrad_options;
/* Adagrad:
 *
 *     v += g^2
 *     p -= lr / (1 + (t - 1) lr_decay) g / (sqrt(v) + eps)
 *
 *     wk_optim *adagrad = wk_optim_adagrad(wk_parameters(net), .lr = 0.1, .lr_decay = 1e-3);
 *
 * torch.optim.Adagrad; Duchi, Hazan, Singer: Adaptive Subgradient Methods for Online Learning and Stochastic
 * Optimization, 2011. */
WK_RESULT_API wk_optim *wk_optim_adagrad_at(wk_site site, wk_tensors *parameters,
                                            const wk_optim_adagrad_options *options);

typedef struct wk_optim_lbfgs_options {
    size_t size;
    wk_by_name by_name;
    double lr;                  /* 1, 0 or more: the length of a step, or with a line search the first one tried */
    double tolerance_grad;      /* 1e-7: a step ends when no element of the gradient is greater, */
    double tolerance_change;    /* 1e-9: or when neither parameters nor loss change by more */
    int64_t max_iter;           /* 20: iterations of one step, at most */
    int64_t max_eval;           /* max_iter * 5 / 4: calls of the closure after which no iteration begins */
    int64_t history_size;       /* 100: how many changes of parameters and gradient are kept */
    const char *line_search_fn; /* NULL: none; or "strong_wolfe" */
    bool maximize;
    char reserved[7];
} wk_optim_lbfgs_options;
/* L-BFGS: a step goes along -H g in several iterations, H being the inverse of the Hessian as the last changes of the
 * gradient tell it. It computes loss and gradient anew on its way, so it is taken by wk_optim_step_closure. Here g is
 * the gradient of all parameters as one vector, in f64 if one of them is, else in f32, on the device of the first.
 * There is one group of parameters: wk_optim_add_group is WK_ERR_ARGUMENT.
 *
 *     wk_optim *lbfgs = wk_optim_lbfgs(wk_parameters(net), .line_search_fn = "strong_wolfe");
 *     for (int step = 0; step < 10; step++) wk_optim_step_closure(lbfgs, closure, &training);
 *
 * It keeps 2 history_size vectors as long as all parameters together, and the old parameters during a step.
 *
 * torch.optim.LBFGS; Nocedal: Updating quasi-Newton matrices with limited storage, 1980; Nocedal, Wright: Numerical
 * Optimization, 2006, algorithms 3.5 and 7.4. */
WK_RESULT_API wk_optim *wk_optim_lbfgs_at(wk_site site, wk_tensors *parameters, const wk_optim_lbfgs_options *options);

/* ---- groups ------------------------------------------------------------------------------------------------------ */

/* The options of all optimisers that have groups. One that the optimiser at hand does not have is WK_ERR_ARGUMENT. */
typedef struct wk_optim_group_options {
    size_t size;
    wk_by_name by_name;
    double lr, momentum, dampening, weight_decay;
    double beta1, beta2, eps;
    double lr_decay, initial_accumulator_value;
    bool nesterov, amsgrad, maximize;
    char reserved[5];
} wk_optim_group_options;
/* More parameters with options of their own; what they leave out is as in the optimiser's first options. WK_OK or a
 * code. A group cannot take back .nesterov, .amsgrad or .maximize. */
WK_API wk_code wk_optim_add_group_at(wk_site site, wk_optim *optim, wk_tensors *parameters,
                                     const wk_optim_group_options *options);

/* ---- steps ------------------------------------------------------------------------------------------------------- */

/* One step from the gradients that are there; parameters without one are left alone. Refuses while an error is
 * pending. What it has recorded is run when the scope around closes; if it fails then, all parameters and what is kept
 * for them are as before, and the step does not count (for OpenCL, and for two steps that are run at once, see rule
 * 18 in docs/semantics.md). WK_OK or a code: WK_ERR_STATE for lbfgs, which needs a closure. */
WK_API wk_code wk_optim_step_at(wk_site site, wk_optim *optim);

/* Forgets the gradients, computes the loss, calls wk_backward, and returns the loss, one number; NULL on error. */
typedef wk_tensor *wk_optim_closure(void *user);
/* Calls the closure, with gradients on, and takes one step; lbfgs calls it several times. Returns what the first call
 * gave, as torch's step(closure) does.
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
 * NULL with the error recorded: it refuses while an error is pending, and fails when the closure leaves one or gives
 * NULL. Then the parameters, and what is kept for them, are as before the step, also when lbfgs had moved them; what
 * else the closure did stays: gradients, random numbers taken, buffers of modules. Of the optimisers other than lbfgs,
 * work that was recorded and has not been run yet may fail later, as for wk_optim_step. */
WK_API wk_tensor *wk_optim_step_closure_at(wk_site site, wk_optim *optim, wk_optim_closure *closure, void *user);
/* Forgets the gradients of all parameters. WK_ERR_STATE, and nothing is forgotten, in the forward of a network that
 * wk_mirrored has made, where copies stand for them. */
WK_API wk_code wk_optim_zero_grad_at(wk_site site, wk_optim *optim);

/* ---- learning rates, and gradients ------------------------------------------------------------------------------- */

/* Groups are counted from 0; 0 groups for NULL. The learning rate of one; NaN with WK_ERR_INDEX when there is none. */
WK_RESULT_API int wk_optim_group_count_at(wk_site site, const wk_optim *optim);
WK_RESULT_API double wk_optim_lr_at(wk_site site, const wk_optim *optim, int group);
/* Sets it, for all groups with group -1. Here 0 is 0. */
WK_API wk_code wk_optim_set_lr_at(wk_site site, wk_optim *optim, int group, double lr);

/* Scales the gradients so that their common 2-norm is at most `max`; returns the norm that they had, still on the
 * device. NULL with the error recorded. If it fails when it is run, the gradients are as before. */
WK_API wk_tensor *wk_clip_grad_norm__at(wk_site site, wk_tensors *parameters, double max);

#define wk_optim_step(optim)                wk_optim_step_at(WK_HERE, optim)
#define wk_optim_step_closure(...)          wk_optim_step_closure_at(WK_HERE, __VA_ARGS__)
#define wk_optim_zero_grad(optim)           wk_optim_zero_grad_at(WK_HERE, optim)
#define wk_optim_lr(optim, group)           wk_optim_lr_at(WK_HERE, optim, group)
#define wk_optim_set_lr(optim, group, lr)   wk_optim_set_lr_at(WK_HERE, optim, group, lr)
#define wk_clip_grad_norm_(parameters, max) wk_clip_grad_norm__at(WK_HERE, parameters, max)
#define wk_optim_group_count(...)           wk_optim_group_count_at(WK_HERE, __VA_ARGS__)

#ifndef __cplusplus
#define wk_optim_sgd(...)   WK_NEW_OPTIM_(WK_OPT_(wk_optim *, wk_optim_sgd, wk_optim_sgd_options, __VA_ARGS__))
#define wk_optim_adam(...)  WK_NEW_OPTIM_(WK_OPT_(wk_optim *, wk_optim_adam, wk_optim_adam_options, __VA_ARGS__))
#define wk_optim_adamw(...) WK_NEW_OPTIM_(WK_OPT_(wk_optim *, wk_optim_adamw, wk_optim_adamw_options, __VA_ARGS__))
#define wk_optim_adagrad(...)                                                                                          \
    WK_NEW_OPTIM_(WK_OPT_(wk_optim *, wk_optim_adagrad, wk_optim_adagrad_options, __VA_ARGS__))
#define wk_optim_lbfgs(...) WK_NEW_OPTIM_(WK_OPT_(wk_optim *, wk_optim_lbfgs, wk_optim_lbfgs_options, __VA_ARGS__))
#define wk_optim_add_group(optim, ...)                                                                                 \
    WK_OPT2_(wk_code, wk_optim_add_group, wk_optim_group_options, "optim, parameters", optim, __VA_ARGS__)
#endif

#ifdef __cplusplus
}
#endif
#endif
