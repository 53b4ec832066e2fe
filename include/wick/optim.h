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

/* Defaults are PyTorch's. An option of another kind of optimiser (.momentum of adam) is WK_ERR_ARGUMENT. */
typedef struct wk_optim_options {
    size_t size;
    wk_by_name by_name;
    double lr;                /* 1e-3 */
    double momentum;          /* sgd only: 0 */
    double dampening;         /* sgd only: 0 */
    bool nesterov;            /* sgd only: with momentum and without dampening */
    double weight_decay;      /* 0; adamw: 1e-2 */
    double beta1, beta2, eps; /* adam and adamw only: 0.9, 0.999, 1e-8 */
} wk_optim_options;

/* g: the gradient, plus weight_decay p.
 * sgd     b = momentum b + (1 - dampening) g (b = g the first time);  p -= lr b, nesterov: p -= lr (g + momentum b)
 * adam    m += (1 - beta1) (g - m);  v = beta2 v + (1 - beta2) g^2;
 *         p -= lr / (1 - beta1^t) m / (sqrt(v / (1 - beta2^t)) + eps)
 * adamw   the same with p *= 1 - lr weight_decay first, and g without it
 * What is kept of f16 and bf16 parameters is f32. The optimiser keeps the parameters alive: leaves of floats. Those
 * that do not require grad (frozen: wk_requires_grad_(x, false)) or have no gradient are left alone; WK_ERR_ARGUMENT if
 * none requires grad when the optimiser is made.
 * */
WK_API wk_optim *wk_optim_sgd_at(wk_site site, wk_tensors *parameters, const wk_optim_options *options);
WK_API wk_optim *wk_optim_adam_at(wk_site site, wk_tensors *parameters, const wk_optim_options *options);
WK_API wk_optim *wk_optim_adamw_at(wk_site site, wk_tensors *parameters, const wk_optim_options *options);
/* More parameters with options of their own; what they leave out is as in the optimiser's first options. WK_OK or a
 * code. A group cannot take .nesterov back. */
WK_API wk_code wk_optim_add_group_at(wk_site site, wk_optim *optim, wk_tensors *parameters,
                                     const wk_optim_options *options);

/* One step from the gradients that are there; parameters without one are left alone. Refuses while an error is
 * pending. What it has recorded is run when the scope around closes; if it fails then, all parameters and what is kept
 * for them are as before, and the step does not count (for OpenCL, and for two steps that are run at once, see rule
 * 18 in docs/semantics.md). WK_OK or a code. */
WK_API wk_code wk_optim_step_at(wk_site site, wk_optim *optim);
/* Forgets the gradients of all parameters. */
WK_API wk_code wk_optim_zero_grad_at(wk_site site, wk_optim *optim);

/* Groups are counted from 0; 0 groups for NULL. The learning rate of one; NaN with WK_ERR_INDEX when there is none. */
WK_API int wk_optim_groups_at(wk_site site, const wk_optim *optim);
WK_API double wk_optim_lr_at(wk_site site, const wk_optim *optim, int group);
/* Sets it, for all groups with group -1. Here 0 is 0. */
WK_API wk_code wk_optim_set_lr_at(wk_site site, wk_optim *optim, int group, double lr);

/* Scales the gradients so that their common 2-norm is at most `max`; returns the norm that they had, still on the
 * device. NULL with the error recorded. If it fails when it is run, the gradients are as before. */
WK_API wk_tensor *wk_clip_grad_norm__at(wk_site site, wk_tensors *parameters, double max);

#define wk_optim_step(optim)                wk_optim_step_at(WK_HERE, optim)
#define wk_optim_zero_grad(optim)           wk_optim_zero_grad_at(WK_HERE, optim)
#define wk_optim_lr(optim, group)           wk_optim_lr_at(WK_HERE, optim, group)
#define wk_optim_set_lr(optim, group, lr)   wk_optim_set_lr_at(WK_HERE, optim, group, lr)
#define wk_clip_grad_norm_(parameters, max) wk_clip_grad_norm__at(WK_HERE, parameters, max)
#define wk_optim_groups(...)                wk_optim_groups_at(WK_HERE, __VA_ARGS__)

#ifndef __cplusplus
#define wk_optim_sgd(...)   WK_OPT_(wk_optim *, wk_optim_sgd, wk_optim_options, __VA_ARGS__)
#define wk_optim_adam(...)  WK_OPT_(wk_optim *, wk_optim_adam, wk_optim_options, __VA_ARGS__)
#define wk_optim_adamw(...) WK_OPT_(wk_optim *, wk_optim_adamw, wk_optim_options, __VA_ARGS__)
#define wk_optim_add_group(optim, ...)                                                                                 \
    WK_OPT2_(wk_code, wk_optim_add_group, wk_optim_options, "optim, parameters", optim, __VA_ARGS__)
#endif

#ifdef __cplusplus
}
#endif
#endif
