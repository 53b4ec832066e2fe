/* SPDX-License-Identifier: Apache-2.0 */
/* wick/autograd.h: gradients: reverse mode over everything that is differentiable, any number of times.
 *
 * A tensor made with .requires_grad = true is a leaf; what is computed from it remembers how. wk_backward(loss) adds
 * d loss / d leaf to the gradient of each leaf. Semantics are PyTorch's. */
#ifndef WICK_AUTOGRAD_H
#define WICK_AUTOGRAD_H

#if !defined __cplusplus && !defined __clang__
#pragma GCC system_header /* see macros.h */
#endif

#include "tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- grad mode --------------------------------------------------------------------------------------------------- */

/* The functions behind WK_NO_GRAD and WK_ENABLE_GRAD, for bindings: closed by wk_guard_close. */
WK_API wk_guard wk_no_grad_open(wk_site site);
WK_API wk_guard wk_enable_grad_open(wk_site site);
WK_RESULT_API bool wk_is_grad_enabled(void);
#ifndef __cplusplus
/* Until the end of the enclosing block nothing is added to the graph (or, inside one, is again). Declarations, as
 * WK_SCOPE: what is to be in force only if c is stands in its block, if (c) { WK_NO_GRAD; ... }. */
#define WK_NO_GRAD     WK_GUARD_(wk_no_grad_open(WK_HERE))
#define WK_ENABLE_GRAD WK_GUARD_(wk_enable_grad_open(WK_HERE))
#else
#define WK_NO_GRAD static_assert(false, "WK_NO_GRAD is C only; in C++ use wk_no_grad_open(WK_HERE) and wk_guard_close")
#define WK_ENABLE_GRAD                                                                                                 \
    static_assert(false, "WK_ENABLE_GRAD is C only; in C++ use wk_enable_grad_open(WK_HERE) and wk_guard_close")
#endif

/* Would backward bring x a gradient: is it a leaf that wants one, or computed from such? false for NULL. */
WK_RESULT_API bool wk_requires_grad_at(wk_site site, const wk_tensor *x);
/* Makes a leaf want a gradient, or not; one that wants none gets none, also from a graph that was made before. Returns
 * x. WK_ERR_STATE for what is not a leaf, WK_ERR_DTYPE for integers. */
WK_API wk_tensor *wk_requires_grad__at(wk_site site, wk_tensor *x, bool on);
/* Was x made, not computed from something that requires grad? */
WK_RESULT_API bool wk_is_leaf_at(wk_site site, const wk_tensor *x);
/* The same numbers (the same storage) without a history. Written in place, it changes x, leaf or not, and brings it no
 * history; a graph that needs the old numbers says so in backward. It and its views may take one by writes of their
 * own, which x gets no part of. */
WK_RESULT_API wk_tensor *wk_detach_at(wk_site site, wk_tensor *x);

/* ---- backward ---------------------------------------------------------------------------------------------------- */

typedef struct wk_backward_options {
    size_t size;
    wk_by_name by_name;
    wk_tensor *gradient; /* d (what is wanted) / d x, shaped like x; default 1 for a tensor of one element */
    bool retain_graph;   /* keep what backward needs for another one (default: with create_graph) */
    bool create_graph;   /* the gradients can be differentiated again. Those of leaves then lead to the leaves, which
                            hold them: wk_set_grad(leaf, NULL) ends that, or wk_grad, which leaves none in them */
    char reserved[6];
} wk_backward_options;
/* Adds the gradients of x to those of all leaves it depends on. WK_OK or a code. */
WK_API wk_code wk_backward_at(wk_site site, wk_tensor *x, const wk_backward_options *options);

/* The gradient that backward left in a leaf; NULL while there is none. Belongs to the leaf: no need to free it.
 * WK_ERR_STATE for what is no leaf, but was computed: wk_grad gives its gradient. */
WK_RESULT_API wk_tensor *wk_grad_of_at(wk_site site, wk_tensor *leaf);
/* Replaces it (NULL: forgets it, unless an error is pending). The gradient must have the leaf's shape, dtype
 * and device. Backward adds to it, so it must not lie in the leaf's memory, and one whose elements share memory
 * (wk_expand) is copied; any other is the leaf's gradient itself, as in torch's x.grad = grad. */
WK_API wk_code wk_set_grad_at(wk_site site, wk_tensor *leaf, wk_tensor *grad);

/* d outputs / d inputs without touching the gradients of leaves: grads[k] for inputs[k], or NULL where an input
 * is not used and .allow_unused was given (else an error). grad_outputs: NULL, or one per output (NULL among
 * them: ones, for one element). */
typedef struct wk_grad_options {
    size_t size;
    wk_by_name by_name;
    wk_tensor *const *grad_outputs;
    bool retain_graph, create_graph, allow_unused;
    char reserved[5];
} wk_grad_options;
WK_API wk_code wk_grad_at(wk_site site, wk_tensor *const *outputs, int output_count, wk_tensor *const *inputs,
                          int input_count, wk_tensor **grads, const wk_grad_options *options);

/* ---- hooks ------------------------------------------------------------------------------------------------------- */

/* Called with each gradient that arrives at x (leaf or not), in order of registration; may return a tensor of its
 * shape, dtype and device to use instead, or NULL. On a leaf with .post_accumulate: once per backward, as soon as nothing more
 * can come to it, with the whole gradient (at the end of backward if a call that leads to it got none itself). The grad
 * mode is that of the gradients: off without .create_graph. The gradient belongs to the library: written in place, it
 * is used so, and no other tensor changes; wk_retain lets it live on; to free it is an error. A hook that is registered
 * while the hooks of a tensor run has its turn with the next gradient. What fails in a hook fails the backward. WK_OK
 * or a code: WK_ERR_STATE for a tensor that no gradient comes to. torch's register_hook, and
 * register_post_accumulate_grad_hook. */
typedef wk_tensor *wk_hook(wk_tensor *grad, void *user);
typedef struct wk_hook_options {
    size_t size;
    wk_by_name by_name;
    bool post_accumulate;
    char reserved[7];
} wk_hook_options;
WK_API wk_code wk_register_hook_at(wk_site site, wk_tensor *x, wk_hook *hook, void *user,
                                   const wk_hook_options *options);

/* ---- functions with a gradient of one's own ---------------------------------------------------------------------- */

/* Each call copies its kind; `name` is copied too, up to 63 bytes. */
typedef struct wk_function_kind {
    size_t size; /* sizeof(wk_function_kind) */
    const char *name;
    int inputs, outputs;
    /* Computes out[] from in[] with ordinary ops; nothing is added to the graph meanwhile. */
    void (*forward)(wk_function *f, wk_tensor *const in[], wk_tensor *out[]);
    /* Fills grad_in[] (NULL: no gradient) from grad_out[] (NULL: nothing flowed), which it may write but not free.
     * Ordinary ops: it can be differentiated again. NULL: a backward that comes here is WK_ERR_STATE. */
    void (*backward)(wk_function *f, wk_tensor *const grad_out[], wk_tensor *grad_in[]);
    /* Optional: of the context, when the last user has gone. Where it lets go of other functions, and their destroy of
     * others, some are destroyed after it. */
    void (*destroy)(void *context);
} wk_function_kind;
/* Calls it; outputs belong to the scope. wk_apply is for kinds with one output, and gives it; wk_apply_n puts
 * kind->outputs of them into out[] and returns WK_OK or a code, with out[] all NULL. torch.autograd.Function. */
WK_RESULT_API wk_tensor *wk_apply_at(wk_site site, const wk_function_kind *kind, void *context, wk_tensor *const *in,
                                     int count);
WK_API wk_code wk_apply_n_at(wk_site site, const wk_function_kind *kind, void *context, wk_tensor *const *in, int count,
                             wk_tensor **out);
/* What the call was given as `context`. */
WK_RESULT_API void *wk_function_context(wk_function *f);
/* In forward: keeps a tensor for backward. In backward: the k-th kept one, with its place in the graph, so that a
 * gradient with create_graph has a gradient: an input's is that of the input, an output's (kept as the tensor that
 * forward then gives) is the call itself. Anything else that forward made counts as constant. ctx.save_for_backward. */
WK_API void wk_function_save_at(wk_site site, wk_function *f, wk_tensor *x);
WK_RESULT_API wk_tensor *wk_function_saved_at(wk_site site, wk_function *f, int k);
/* Does input k want a gradient? */
WK_RESULT_API bool wk_function_needs_grad(wk_function *f, int k);

/* Compares gradients with central differences in f64: f's inputs are leaves of dtype f64 that require grad. True if all
 * agree within 1e-5 + 1e-3 |difference quotient|; else false with the first disagreement recorded as an error. */
WK_API bool wk_gradcheck_at(wk_site site, wk_tensor *(*f)(wk_tensor *const *in, void *context), void *context,
                            wk_tensor *const *in, int count);

#define wk_requires_grad_(x, on) wk_requires_grad__at(WK_HERE, x, on)
#define wk_detach(...)           WK_NEW_TENSOR_(wk_detach_at(WK_HERE, __VA_ARGS__))
#define wk_set_grad(leaf, grad)  wk_set_grad_at(WK_HERE, leaf, grad)
#define wk_requires_grad(...)    wk_requires_grad_at(WK_HERE, __VA_ARGS__)
#define wk_is_leaf(...)          wk_is_leaf_at(WK_HERE, __VA_ARGS__)
#define wk_grad_of(...)          WK_NEW_TENSOR_(wk_grad_of_at(WK_HERE, __VA_ARGS__))
#define wk_function_save(...)    wk_function_save_at(WK_HERE, __VA_ARGS__)
#define wk_function_saved(...)   WK_NEW_TENSOR_(wk_function_saved_at(WK_HERE, __VA_ARGS__))

#ifndef __cplusplus
#define wk_backward(...) WK_OPT_(wk_code, wk_backward, wk_backward_options, __VA_ARGS__)
/* wk_grad((loss), (a, b), grads, .create_graph = true) */
#define wk_grad(outputs, inputs, ...)                                                                                  \
    WK_JOIN_(WK_GRAD_, WK_COUNT_(__VA_ARGS__))(WK_LIST_NAME_, WK_LIST_NAME_, outputs, inputs, __VA_ARGS__)
#define WK_GRAD_TEXT_ "wk_grad: tensors stand in parentheses: wk_grad((loss), (a, b), grads)"
#define WK_GRAD_1(wk_l_, wk_i_, outputs, inputs, grads)                                                                \
    WK_LISTED_(                                                                                                        \
        wk_code, wk_l_, outputs, WK_GRAD_TEXT_,                                                                        \
        WK_LISTED_(wk_code, wk_i_, inputs, WK_GRAD_TEXT_,                                                              \
                   WK_GIVE_(wk_code, wk_grad_at(WK_HERE, wk_l_.at, wk_l_.count, wk_i_.at, wk_i_.count, grads, NULL))))
#define WK_GRAD_WK2_(wk_l_, wk_i_, outputs, inputs, grads, ...)                                                        \
    WK_LISTED_(wk_code, wk_l_, outputs, WK_GRAD_TEXT_,                                                                 \
               WK_LISTED_(wk_code, wk_i_, inputs, WK_GRAD_TEXT_,                                                       \
                          WK_CALL_(wk_code, wk_grad, (wk_l_.at, wk_l_.count, wk_i_.at, wk_i_.count, grads),            \
                                   wk_grad_options, __VA_ARGS__)))
#define wk_register_hook(x, hook, ...)                                                                                 \
    WK_OPT3_(wk_code, wk_register_hook, wk_hook_options, "x, hook, user", x, hook, __VA_ARGS__)
#define wk_apply(kind, context, list)        WK_NEW_TENSOR_(WK_APPLY_(kind, context, list, WK_LIST_NAME_))
#define wk_apply_n(kind, context, list, out) WK_APPLY_N_(kind, context, list, out, WK_LIST_NAME_)
#define wk_gradcheck(f, context, list)       WK_GRADCHECK_(f, context, list, WK_LIST_NAME_)
#define WK_APPLY_(kind, context, list, wk_l_)                                                                          \
    WK_LISTED_(wk_tensor *, wk_l_, list, "wk_apply: tensors stand in parentheses: wk_apply(kind, context, (x, y))",    \
               WK_GIVE_(wk_tensor *, wk_apply_at(WK_HERE, kind, context, wk_l_.at, wk_l_.count)))
#define WK_APPLY_N_(kind, context, list, out, wk_l_)                                                                   \
    WK_LISTED_(wk_code, wk_l_, list,                                                                                   \
               "wk_apply_n: tensors stand in parentheses: wk_apply_n(kind, context, (x, y), out)",                     \
               WK_GIVE_(wk_code, wk_apply_n_at(WK_HERE, kind, context, wk_l_.at, wk_l_.count, out)))
#define WK_GRADCHECK_(f, context, list, wk_l_)                                                                         \
    WK_LISTED_(bool, wk_l_, list, "wk_gradcheck: tensors stand in parentheses: wk_gradcheck(f, context, (x, y))",      \
               WK_GIVE_(bool, wk_gradcheck_at(WK_HERE, f, context, wk_l_.at, wk_l_.count)))
#endif

#ifdef __cplusplus
}
#endif
#endif
