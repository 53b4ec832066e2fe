/* SPDX-License-Identifier: Apache-2.0 */
/* Code that random programs use besides the library: element values, hooks, custom functions. Both the generator and
 * the programs that it prints include it, so it uses public headers only. */
#ifndef TESTS_RANDOM_PROGRAM_LIB_H
#define TESTS_RANDOM_PROGRAM_LIB_H

#include <math.h>
#include <stdlib.h>
#include <wick.h>

/* Most programs use only some of them. */
#define PART static inline __attribute__((unused))

/* Returns element k of a tensor with this seed, in [0, 1): splitmix64. */
PART double part_fraction(uint32_t seed, int64_t k)
{
    uint64_t z = seed + (uint64_t)k * 0x2545f4914f6cdd1du + 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return (double)((z ^ z >> 31) >> 11) * 0x1p-53;
}

/* Returns the element in its dtype: fractions whose sums are rounded, or eighths for odd seeds; integers for integer
 * dtypes; below `below` unless that is 0; positive if `positive`. */
PART double part_number(uint32_t seed, int64_t k, wk_dtype dtype, int64_t below, bool positive)
{
    const double u = part_fraction(seed, k);
    if (below) return floor(u * (double)below);
    if (dtype == WK_BOOL) return u < 0.5;
    if (dtype > WK_BF16) return floor(u * 12) - (dtype == WK_U8 || positive ? 0 : 4);
    const double x = positive ? 0.25 + 2 * u : 4 * u - 2;
    return seed & 1 ? round(x * 8) / 8 : (double)(float)x;
}

/* ---- hooks ------------------------------------------------------------------------------------------------------- */

PART wk_tensor *part_looks(wk_tensor *grad, void *user)
{
    (void)grad;
    (void)user;
    return NULL;
}

PART wk_tensor *part_scales(wk_tensor *grad, void *user)
{
    (void)user;
    return wk_mul(grad, 2.0);
}

/* Runs recorded ops during backward. */
PART wk_tensor *part_reads(wk_tensor *grad, void *user)
{
    (void)user;
    wk_print(grad);
    return NULL;
}

/* ---- functions --------------------------------------------------------------------------------------------------- */

/* sin(a) b, of equal shapes */
PART void part_sine_product(wk_function *f, wk_tensor *const in[], wk_tensor *out[])
{
    wk_function_save(f, in[0]);
    wk_function_save(f, in[1]);
    out[0] = wk_mul(wk_sin(in[0]), in[1]);
}

PART void part_sine_product_back(wk_function *f, wk_tensor *const grad_out[], wk_tensor *grad_in[])
{
    wk_tensor *a = wk_function_saved(f, 0), *b = wk_function_saved(f, 1);
    if (wk_function_needs_grad(f, 0)) grad_in[0] = wk_mul(grad_out[0], wk_mul(wk_cos(a), b));
    if (wk_function_needs_grad(f, 1)) grad_in[1] = wk_mul(grad_out[0], wk_sin(a));
}

/* e^(a / 4); its gradient reads the result */
PART void part_saves_result(wk_function *f, wk_tensor *const in[], wk_tensor *out[])
{
    out[0] = wk_exp(wk_mul(in[0], 0.25));
    wk_function_save(f, out[0]);
}

PART void part_saves_result_back(wk_function *f, wk_tensor *const grad_out[], wk_tensor *grad_in[])
{
    grad_in[0] = wk_mul(wk_mul(grad_out[0], wk_function_saved(f, 0)), 0.25);
}

/* a + 2 b and a b */
PART void part_two_results(wk_function *f, wk_tensor *const in[], wk_tensor *out[])
{
    wk_function_save(f, in[0]);
    wk_function_save(f, in[1]);
    out[0] = wk_add(in[0], wk_mul(in[1], 2));
    out[1] = wk_mul(in[0], in[1]);
}

PART void part_two_results_back(wk_function *f, wk_tensor *const grad_out[], wk_tensor *grad_in[])
{
    wk_tensor *a = wk_function_saved(f, 0), *b = wk_function_saved(f, 1);
    for (int k = 0; k < 2; k++) {
        wk_tensor *sum = grad_out[0] ? wk_mul(grad_out[0], k + 1) : NULL;
        wk_tensor *product = grad_out[1] ? wk_mul(grad_out[1], k ? a : b) : NULL;
        grad_in[k] = sum && product ? wk_add(sum, product) : sum ? sum : product;
    }
}

/* b and a: outputs are inputs, in forward and in backward */
PART void part_swaps(wk_function *f, wk_tensor *const in[], wk_tensor *out[])
{
    (void)f;
    out[0] = in[1];
    out[1] = in[0];
}

PART void part_swaps_back(wk_function *f, wk_tensor *const grad_out[], wk_tensor *grad_in[])
{
    (void)f;
    grad_in[0] = grad_out[1];
    grad_in[1] = grad_out[0];
}

/* a, which it saves, and a b */
PART void part_gives_input(wk_function *f, wk_tensor *const in[], wk_tensor *out[])
{
    wk_function_save(f, in[0]);
    wk_function_save(f, in[1]);
    out[0] = in[0];
    out[1] = wk_mul(in[0], in[1]);
}

PART void part_gives_input_back(wk_function *f, wk_tensor *const grad_out[], wk_tensor *grad_in[])
{
    wk_tensor *a = wk_function_saved(f, 0), *b = wk_function_saved(f, 1);
    wk_tensor *product = grad_out[1] ? wk_mul(grad_out[1], b) : NULL;
    grad_in[0] = grad_out[0] && product ? wk_add(grad_out[0], product) : product ? product : grad_out[0];
    grad_in[1] = grad_out[1] ? wk_mul(grad_out[1], a) : NULL;
}

/* Number of live contexts of functions; 0 when all tensors have been freed. */
static _Atomic int part_contexts __attribute__((unused));

PART void part_destroy(void *context)
{
    part_contexts--;
    free(context);
}

static const wk_function_kind part_functions[] __attribute__((unused)) = {
    {.size = sizeof(wk_function_kind),
     .name = "sine_product",
     .inputs = 2,
     .outputs = 1,
     .forward = part_sine_product,
     .backward = part_sine_product_back},
    {.size = sizeof(wk_function_kind),
     .name = "saves_result",
     .inputs = 1,
     .outputs = 1,
     .forward = part_saves_result,
     .backward = part_saves_result_back,
     .destroy = part_destroy},
    {.size = sizeof(wk_function_kind),
     .name = "two_results",
     .inputs = 2,
     .outputs = 2,
     .forward = part_two_results,
     .backward = part_two_results_back},
    {.size = sizeof(wk_function_kind),
     .name = "swaps",
     .inputs = 2,
     .outputs = 2,
     .forward = part_swaps,
     .backward = part_swaps_back,
     .destroy = part_destroy},
    {.size = sizeof(wk_function_kind),
     .name = "gives_input",
     .inputs = 2,
     .outputs = 2,
     .forward = part_gives_input,
     .backward = part_gives_input_back,
     .destroy = part_destroy},
};

/* Returns a context for one call of this kind. */
PART void *part_context(int kind)
{
    void *context = part_functions[kind].destroy ? malloc(1) : NULL;
    part_contexts += context != NULL;
    return context;
}

/* ---- two cards --------------------------------------------------------------------------------------------------- */

/* The card in a printed program; the CPU if there is none. */
PART wk_device part_card(int card)
{
    return wk_try_gpu(card);
}

/* Copies all of x to that card. */
PART wk_tensor *part_send(wk_tensor *x, int card)
{
    return wk_device_eq(wk_device_of(x), part_card(card)) ? wk_clone(x) : wk_to(x, part_card(card));
}

/* ---- optimisers -------------------------------------------------------------------------------------------------- */

PART wk_optim *part_optim(int kind, wk_tensors *leaves)
{
    switch (kind) {
    case 0: return wk_optim_sgd(leaves, .lr = 0.25, .momentum = 0.5, .weight_decay = 0.125, .nesterov = true);
    case 1: return wk_optim_adam(leaves, .lr = 0.25, .amsgrad = true);
    case 2: return wk_optim_adamw(leaves, .lr = 0.25, .maximize = true);
    case 3: return wk_optim_adagrad(leaves, .lr = 0.25, .lr_decay = 0.5);
    default: return wk_optim_lbfgs(leaves, .lr = 0.25, .max_iter = 3, .history_size = 2);
    }
}

/* Returns the sum of the squares of all leaves, and computes its gradients. */
PART wk_tensor *part_squares(void *user)
{
    wk_tensors *leaves = user;
    wk_tensor *total = wk_full((), 0.0);
    for (int k = 0; k < wk_tensors_count(leaves); k++) {
        wk_tensor *x = wk_tensors_get(leaves, k);
        total = wk_add(total, wk_sum(wk_mul(x, x)));
    }
    wk_backward(total);
    return total;
}

/* Makes some steps with a temporary optimiser; uses existing gradients, or those of the squares. */
PART wk_code part_optimise(int kind, wk_tensor *const leaf[], int count, int steps)
{
    wk_tensors *leaves = wk_list(WK_ARRAY(leaf, count));
    wk_optim *optim = part_optim(kind, leaves);
    for (int k = 0; k < steps && optim; k++) {
        if (kind == 4 || k > 0)
            wk_optim_step_closure(optim, part_squares, leaves);
        else
            wk_optim_step(optim);
    }
    if (optim && steps > 1) wk_optim_zero_grad(optim);
    wk_free(optim);
    wk_free(leaves);
    return wk_error_code();
}

/* Sets all elements through another library that shares the memory. */
PART wk_code part_poke(wk_tensor *x, int64_t number)
{
    wk_dl_managed_versioned *shared = wk_to_dlpack(x);
    wk_tensor *same = shared ? wk_from_dlpack(shared) : NULL;
    if (shared && !same) shared->deleter(shared);
    if (same) wk_fill_(same, number);
    wk_free(same);
    return wk_error_code();
}

#undef PART
#endif
