/* SPDX-License-Identifier: Apache-2.0 */
/* wick/autograd.h: gradients by reverse mode, of any order, with PyTorch's semantics.
 *
 * A tensor created with .requires_grad = true is a leaf. Results computed from it record their graph.
 * wk_backward(loss) adds d loss / d leaf to the gradient of each leaf. */
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

/* wk_no_grad_open(site), wk_enable_grad_open(site): Open the guards of WK_NO_GRAD and WK_ENABLE_GRAD, for bindings
 * and C++; wk_guard_close closes them. */
WK_API wk_guard wk_no_grad_open(wk_site site);
WK_API wk_guard wk_enable_grad_open(wk_site site);
/* wk_is_grad_enabled(): Returns true if the thread records the graph. */
WK_RESULT_API bool wk_is_grad_enabled(void);

/* ---- anomaly mode ------------------------------------------------------------------------------------------------ */

/* wk_set_detect_anomaly(on): Makes the first call that produces a NaN or an infinity an error, in all threads.
 * Forward:  WK_ERR_STATE names the op, the element and the call site. A call is blamed for a NaN if no operand has
 *           one, for an infinity if all operands are finite; numbers in the call are operands. Only the result of
 *           an op counts, not its intermediate steps.
 * Backward: the error names the forward call whose gradient it is; the backward ends there. Operands that the
 *           call saved count as operands of its gradient.
 * Cost:     each call is computed before it returns and its result is read on the host. For debugging.
 * Default:  off, unless the environment has WICK_ANOMALY=1. Earlier calls are not checked.
 * PyTorch:  torch.autograd.set_detect_anomaly, which checks gradients for NaN only */
WK_API void wk_set_detect_anomaly(bool on);
/* wk_is_anomaly_enabled(): Returns true if anomaly mode is on. */
WK_RESULT_API bool wk_is_anomaly_enabled(void);

#ifndef __cplusplus
/* WK_NO_GRAD, WK_ENABLE_GRAD: Stop or resume recording the graph until the end of the enclosing block. Like
 * WK_SCOPE: if (c) { WK_NO_GRAD; ... }. Views created without the graph cannot be written in place with it.
 * PyTorch:   torch.no_grad, torch.enable_grad */
#define WK_NO_GRAD     WK_GUARD_(wk_no_grad_open(WK_HERE))
#define WK_ENABLE_GRAD WK_GUARD_(wk_enable_grad_open(WK_HERE))
#else
#define WK_NO_GRAD static_assert(false, "WK_NO_GRAD is C only; in C++ use wk_no_grad_open(WK_HERE) and wk_guard_close")
#define WK_ENABLE_GRAD                                                                                                 \
    static_assert(false, "WK_ENABLE_GRAD is C only; in C++ use wk_enable_grad_open(WK_HERE) and wk_guard_close")
#endif

/* wk_requires_grad(x): Returns true if x requires grad: x is a leaf with requires_grad, or was computed from one.
 * false for NULL. */
WK_RESULT_API bool wk_requires_grad_at(wk_site site, const wk_tensor *x);
/* wk_requires_grad_(x, on): Sets requires_grad of a leaf. A leaf without it gets no gradient, also from a graph
 * recorded before.
 * Returns:   x; NULL on error
 * Errors:    WK_ERR_STATE if x is not a leaf; WK_ERR_DTYPE if x is not floating
 * PyTorch:   x.requires_grad_(on) */
WK_API wk_tensor *wk_requires_grad__at(wk_site site, wk_tensor *x, bool on);
/* wk_is_leaf(x): Returns true if x was not computed from a tensor that requires grad. */
WK_RESULT_API bool wk_is_leaf_at(wk_site site, const wk_tensor *x);
/* wk_detach(x): Returns a tensor that shares x's storage and has no graph. Writing it in place changes x but not
 * x's graph; a graph that needs the previous elements fails in backward. The result and its views may get a graph
 * by writes of their own, in which x has no part.
 * PyTorch:   x.detach() */
WK_RESULT_API wk_tensor *wk_detach_at(wk_site site, wk_tensor *x);

/* ---- backward ---------------------------------------------------------------------------------------------------- */

typedef struct wk_backward_options {
    size_t size;
    wk_by_name by_name;
    wk_tensor *gradient; /* of the output, shaped like x; default 1 for a tensor of one element */
    bool retain_graph;   /* keep the graph for another backward; default create_graph */
    bool create_graph;   /* record the graph of the gradients; default false. The gradients of leaves then refer to the
                            leaves that own them: wk_set_grad(leaf, NULL) breaks the cycle, and wk_grad avoids it */
    char reserved[6];
} wk_backward_options;
/* wk_backward(x): Adds the gradients of x to those of all leaves it depends on.
 * Returns:   WK_OK or an error code
 * Errors:    WK_ERR_STATE if x has no graph or its graph was freed, if x has several elements and .gradient is not set,
 *            or if .gradient has another shape
 * PyTorch:   x.backward() */
WK_API wk_code wk_backward_at(wk_site site, wk_tensor *x, const wk_backward_options *options);

/* wk_grad_of(leaf): Returns the gradient that backward has added up in leaf; NULL while there is none.
 * Ownership: the leaf owns the gradient
 * Errors:    WK_ERR_STATE if leaf is not a leaf; wk_grad computes the gradient of any tensor
 * PyTorch:   leaf.grad */
WK_RESULT_API wk_tensor *wk_grad_of_at(wk_site site, wk_tensor *leaf);
/* wk_set_grad(leaf, grad): Replaces the gradient of leaf; NULL removes it, unless an error is pending. Later
 * backwards add to grad, so it must not share the leaf's memory. A grad whose elements share memory (wk_expand) is
 * copied; any other becomes the leaf's gradient itself.
 * Shapes:    shape, dtype and device of grad are those of leaf
 * Returns:   WK_OK or an error code
 * Errors:    WK_ERR_SHAPE if shape, dtype or device differs; WK_ERR_ARGUMENT if grad shares the leaf's memory
 * PyTorch:   leaf.grad = grad */
WK_API wk_code wk_set_grad_at(wk_site site, wk_tensor *leaf, wk_tensor *grad);

/* wk_grad((outputs), (inputs), grads): Computes d outputs / d inputs without changing the gradients of leaves.
 * grads[k] receives the gradient of inputs[k], or NULL if it is unused and .allow_unused is set.
 * Ownership: the innermost scope owns the gradients
 * Returns:   WK_OK or an error code
 * Errors:    WK_ERR_STATE if an input is unused and .allow_unused is not set
 * PyTorch:   torch.autograd.grad */
typedef struct wk_grad_options {
    size_t size;
    wk_by_name by_name;
    wk_tensor *const *grad_outputs; /* [output_count]; NULL, or NULL among them: 1, for a tensor of one element */
    bool retain_graph;              /* keep the graph for another backward; default create_graph */
    bool create_graph;              /* record the graph of the gradients; default false */
    bool allow_unused;              /* default false */
    char reserved[5];
} wk_grad_options;
WK_API wk_code wk_grad_at(wk_site site, wk_tensor *const *outputs, int output_count, wk_tensor *const *inputs,
                          int input_count, wk_tensor **grads, const wk_grad_options *options);

/* ---- hooks ------------------------------------------------------------------------------------------------------- */

/* wk_register_hook(x, hook, user): Calls hook(grad, user) for each gradient that reaches x during backward.
 * Order:     that of registration; a hook registered by a hook first runs for the next gradient
 * Result:    a tensor of x's shape, dtype and device replaces the gradient; NULL keeps it
 * Options:   .post_accumulate: for leaves; the hook runs once per backward with the complete gradient, as soon as
 *            no more can reach the leaf, at the latest at the end of backward
 * Ownership: the library owns grad. The hook may write it in place, which changes no other tensor, or wk_retain it;
 *            it must not free it.
 * Grad mode: off, unless backward was called with .create_graph
 * Returns:   WK_OK or an error code; an error inside the hook fails the backward
 * Errors:    WK_ERR_STATE if x does not require grad
 * PyTorch:   Tensor.register_hook; .post_accumulate: register_post_accumulate_grad_hook */
typedef wk_tensor *wk_hook(wk_tensor *grad, void *user);
typedef struct wk_hook_options {
    size_t size;
    wk_by_name by_name;
    bool post_accumulate; /* default false */
    char reserved[7];
} wk_hook_options;
WK_API wk_code wk_register_hook_at(wk_site site, wk_tensor *x, wk_hook *hook, void *user,
                                   const wk_hook_options *options);

/* ---- custom functions -------------------------------------------------------------------------------------------- */

/* A kind of custom functions. Each call copies it, and up to 63 bytes of name. */
typedef struct wk_function_kind {
    size_t size; /* sizeof(wk_function_kind) */
    const char *name;
    int inputs, outputs;
    /* Computes out[] from in[] with ordinary ops, which record no graph. */
    void (*forward)(wk_function *f, wk_tensor *const in[], wk_tensor *out[]);
    /* Computes grad_in[] (NULL: no gradient) from grad_out[] (NULL: no gradient arrived), which it may write but not
     * free. As it uses ordinary ops, it can be differentiated again. NULL: backward through it is WK_ERR_STATE. */
    void (*backward)(wk_function *f, wk_tensor *const grad_out[], wk_tensor *grad_in[]);
    /* Optional: frees context when its last user is gone. Functions that it lets go of may be destroyed after it. */
    void (*destroy)(void *context);
} wk_function_kind;
/* wk_apply(kind, context, (in)): Calls a function of one output and returns it. wk_apply_n puts kind->outputs
 * tensors into out[] and returns WK_OK or an error code, with out[] all NULL.
 * Ownership: the innermost scope owns the outputs
 * PyTorch:   torch.autograd.Function.apply */
WK_RESULT_API wk_tensor *wk_apply_at(wk_site site, const wk_function_kind *kind, void *context, wk_tensor *const *in,
                                     int count);
WK_API wk_code wk_apply_n_at(wk_site site, const wk_function_kind *kind, void *context, wk_tensor *const *in, int count,
                             wk_tensor **out);
/* wk_function_context(f): Returns the context that the call was given. */
WK_RESULT_API void *wk_function_context(wk_function *f);
/* wk_function_save(f, x), wk_function_saved(f, k): Save a tensor in forward, and return the k-th saved one in
 * backward, so that a gradient with create_graph can be differentiated: the gradient of an input flows to the
 * input, that of an output (the tensor that forward returns) through the call. Other tensors made in forward are
 * constants.
 * PyTorch:   ctx.save_for_backward, ctx.saved_tensors */
WK_API void wk_function_save_at(wk_site site, wk_function *f, wk_tensor *x);
WK_RESULT_API wk_tensor *wk_function_saved_at(wk_site site, wk_function *f, int k);
/* wk_function_needs_grad(f, k): Returns true if input k requires grad.
 * PyTorch:   ctx.needs_input_grad */
WK_RESULT_API bool wk_function_needs_grad(wk_function *f, int k);

/* wk_gradcheck(f, context, (in)): Compares the gradients of f with central differences in f64, for inputs that are
 * f64 leaves that require grad.
 * Returns:   true if all agree within 1e-5 + 1e-3 |difference quotient|; else false, with the first disagreement
 *            recorded as an error
 * PyTorch:   torch.autograd.gradcheck */
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
#define WK_GRAD_TEXT_ "wk_grad: write tensors in parentheses: wk_grad((loss), (a, b), grads)"
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
    WK_LISTED_(wk_tensor *, wk_l_, list, "wk_apply: write tensors in parentheses: wk_apply(kind, context, (x, y))",    \
               WK_GIVE_(wk_tensor *, wk_apply_at(WK_HERE, kind, context, wk_l_.at, wk_l_.count)))
#define WK_APPLY_N_(kind, context, list, out, wk_l_)                                                                   \
    WK_LISTED_(wk_code, wk_l_, list,                                                                                   \
               "wk_apply_n: write tensors in parentheses: wk_apply_n(kind, context, (x, y), out)",                     \
               WK_GIVE_(wk_code, wk_apply_n_at(WK_HERE, kind, context, wk_l_.at, wk_l_.count, out)))
#define WK_GRADCHECK_(f, context, list, wk_l_)                                                                         \
    WK_LISTED_(bool, wk_l_, list, "wk_gradcheck: write tensors in parentheses: wk_gradcheck(f, context, (x, y))",      \
               WK_GIVE_(bool, wk_gradcheck_at(WK_HERE, f, context, wk_l_.at, wk_l_.count)))
#endif

#ifdef __cplusplus
}
#endif
#endif
