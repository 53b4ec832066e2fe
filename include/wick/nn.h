/* SPDX-License-Identifier: Apache-2.0 */
/* wick/nn.h: networks: lists of tensors, modules (layers with their parameters), the library's layers, initial
 * values.
 *
 *     wk_module *net = wk_nn_sequential(wk_nn_linear(784, 256), wk_nn_relu(), wk_nn_linear(256, 10));
 *     wk_module_to(net, wk_try_gpu(0));
 *     wk_tensor *guess = wk_forward(net, x);
 *
 * Names, defaults and initial values are those of torch.nn. A module owns its parameters, buffers and children,
 * whatever scope is open when they are made; the module itself belongs to the scope in which it was made. Handles of
 * parameters never change: moving, loading and training change what is behind them. */
#ifndef WICK_NN_H
#define WICK_NN_H

#if !defined __cplusplus && !defined __clang__
#pragma GCC system_header /* see macros.h */
#endif

#include "tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- lists of tensors -------------------------------------------------------------------------------------------- */

/* A list keeps its tensors alive. Names live as long as the list. */
WK_RESULT_API wk_tensors *wk_tensors_new_at(wk_site site);
/* Appends; a name must be new to the list. Returns the list. */
WK_API wk_tensors *wk_tensors_add_at(wk_site site, wk_tensors *list, const char *name, wk_tensor *x);
/* A list of these, named "0", "1", ... */
WK_RESULT_API wk_tensors *wk_list_at(wk_site site, wk_tensor *const *tensors, int count);
WK_RESULT_API int wk_tensors_count_at(wk_site site, const wk_tensors *list); /* 0 for NULL */
/* The k-th, counted from 0; NULL with WK_ERR_INDEX when there is none. The tensor stays the list's. */
WK_RESULT_API const char *wk_tensors_name_at(wk_site site, const wk_tensors *list, int k);
WK_RESULT_API wk_tensor *wk_tensors_get_at(wk_site site, const wk_tensors *list, int k);
/* By name; NULL, without an error, when there is none. */
WK_RESULT_API wk_tensor *wk_tensors_find_at(wk_site site, const wk_tensors *list, const char *name);

/* ---- modules of one's own ---------------------------------------------------------------------------------------- */

/* What a module does. Give `forward1` (one tensor in, one out), or `forward` for lists, or neither for a mere
 * container.
 *
 *     typedef struct { wk_tensor *weight; } scale;
 *     static wk_tensor *scale_forward(wk_module *self, wk_tensor *x)
 *     {
 *         scale *s = wk_module_state(self);
 *         return wk_mul(x, s->weight);
 *     }
 *     static const wk_module_kind kind = {
 *         .size = sizeof kind, .name = "scale", .state = sizeof(scale), .forward1 = scale_forward};
 * */
typedef struct wk_module_kind {
    size_t size;      /* sizeof(wk_module_kind) */
    const char *name; /* "scale", for messages */
    size_t state;     /* bytes of the module's own state, zero at first; at most 4,096 */
    wk_tensor *(*forward1)(wk_module *self, wk_tensor *x);
    /* Fills out[0..outputs) from in[0..inputs); returns how many it filled, negative when it failed. */
    int (*forward)(wk_module *self, wk_tensor *const *in, int inputs, wk_tensor **out, int outputs);
    /* Optional, each after it has happened: the module goes (of its state); it was moved; training was switched on or
     * off. */
    void (*destroy)(wk_module *self);
    void (*on_move)(wk_module *self, wk_device device);
    void (*on_train)(wk_module *self, bool training);
} wk_module_kind;

/* A module without parameters and children. The kind is copied. */
WK_RESULT_API wk_module *wk_module_new_at(wk_site site, const wk_module_kind *kind);
/* Its state: read-only in forward (a tensor that forward changes is a buffer: wk_module_set_buffer). Of NULL, a
 * module that could not be made: 4,096 bytes that nobody reads, so that a constructor need not check. */
WK_RESULT_API void *wk_module_state_at(wk_site site, wk_module *m);
/* The name of its kind, "linear". Lives as long as the module. */
WK_RESULT_API const char *wk_module_kind_name_at(wk_site site, const wk_module *m);

/* Adds a parameter with the values that x has now, and returns the module's own handle, a leaf that requires grad. x
 * itself stays what it is. WK_ERR_DTYPE for integers; WK_ERR_ARGUMENT for a name that is taken, empty or has a dot in
 * it. */
WK_API wk_tensor *wk_module_add_parameter_at(wk_site site, wk_module *m, const char *name, wk_tensor *x);
/* The same for a tensor that is saved and moved with the module but not trained. If there is a buffer of that name,
 * its handle stays and holds the new values. The values have no history. */
WK_API wk_tensor *wk_module_set_buffer_at(wk_site site, wk_module *m, const char *name, wk_tensor *x);
/* Adds a child under a name, or under the next number ("0", "1", ...). Returns the child. */
WK_API wk_module *wk_module_add_at(wk_site site, wk_module *m, const char *name, wk_module *child);
WK_API wk_module *wk_module_append_at(wk_site site, wk_module *m, wk_module *child);

/* ---- what a module has ------------------------------------------------------------------------------------------- */

/* By path, "0.weight", "encoder.3.bias". NULL with WK_ERR_ARGUMENT when there is none. They stay the module's. */
WK_RESULT_API wk_tensor *wk_module_parameter_at(wk_site site, wk_module *m, const char *path);
WK_RESULT_API wk_tensor *wk_module_buffer_at(wk_site site, wk_module *m, const char *path);
WK_RESULT_API wk_module *wk_module_child_at(wk_site site, wk_module *m, const char *path);
/* The children in order of registration: how many, and the k-th with its name. */
WK_RESULT_API int wk_module_child_count_at(wk_site site, const wk_module *m);
WK_RESULT_API wk_module *wk_module_child_by_index_at(wk_site site, const wk_module *m, int k);
WK_RESULT_API const char *wk_module_child_name_at(wk_site site, const wk_module *m, int k);

/* All parameters, or buffers, with their paths: a module's own in order of registration, then those of each child.
 * What stands in several places is listed once. WK_ERR_STATE when a lazy layer has not seen an input yet. */
WK_RESULT_API wk_tensors *wk_parameters_at(wk_site site, wk_module *m);
WK_RESULT_API wk_tensors *wk_buffers_at(wk_site site, wk_module *m);

/* ---- using modules ----------------------------------------------------------------------------------------------- */

/* Runs the module on a tensor; errors inside of a module of one's own say so: (in forward of "block", called at
 * f.c:88). */
WK_RESULT_API wk_tensor *wk_forward_at(wk_site site, wk_module *m, wk_tensor *x);
/* The same for lists: at most `outputs` tensors come back in out[]. How many, 1 or more; or -1 with out[] all NULL. */
WK_API int wk_forward_n_at(wk_site site, wk_module *m, wk_tensor *const *in, int inputs, wk_tensor **out, int outputs);

/* Moves all parameters and buffers, with their gradients. Handles stay, so optimisers go on with them: what one keeps
 * for a parameter (momentum, moments) follows at its next step. All or nothing. Call it before the forward pass:
 * wk_backward refuses a graph that was recorded before the move. Returns the module. */
WK_API wk_module *wk_module_to_at(wk_site site, wk_module *m, wk_device device);
/* Switches training on (as it is at first) or off, for the children too: what dropout looks at. Returns the module. */
WK_API wk_module *wk_module_train_at(wk_site site, wk_module *m, bool training);
/* Is it training? false for NULL. */
WK_RESULT_API bool wk_module_training_at(wk_site site, const wk_module *m);

/* ---- the library's layers: torch.nn ------------------------------------------------------------------------------ */

typedef struct wk_nn_linear_options {
    size_t size;
    wk_by_name by_name;
    bool no_bias;
    wk_dtype dtype;   /* default f32; of lazy layers that of the first input */
    wk_device device; /* likewise */
} wk_nn_linear_options;
/* x W^T + b: (..., in) -> (..., out). Parameters weight (out, in) and bias (out), both uniform in
 * +-1/sqrt(in). Of a layer sizes may be 0, as in PyTorch: without inputs the result is the bias, which is 0;
 * less than 0 is WK_ERR_SHAPE. */
WK_RESULT_API wk_module *wk_nn_linear_at(wk_site site, int64_t in, int64_t out, const wk_nn_linear_options *options);
/* The same; in is the last size of the first input, on whose device the parameters are made. */
WK_RESULT_API wk_module *wk_nn_lazy_linear_at(wk_site site, int64_t out, const wk_nn_linear_options *options);

/* One after the other; "0", "1", ... wk_nn_sequential(a, b), also wk_nn_sequential((a, b)). Those in an array:
 * wk_nn_sequential_at(WK_HERE, layers, count). */
WK_RESULT_API wk_module *wk_nn_sequential_at(wk_site site, wk_module *const *modules, int count);
/* Only holds them; it has no forward. */
WK_RESULT_API wk_module *wk_nn_module_list_at(wk_site site, wk_module *const *modules, int count);

/* (B, ...) -> (B, product of the rest) */
WK_RESULT_API wk_module *wk_nn_flatten_at(wk_site site);
WK_RESULT_API wk_module *wk_nn_relu_at(wk_site site);
WK_RESULT_API wk_module *wk_nn_sigmoid_at(wk_site site);
WK_RESULT_API wk_module *wk_nn_tanh_at(wk_site site);
WK_RESULT_API wk_module *wk_nn_gelu_at(wk_site site);
/* While training: each element is 0 with probability p, else divided by 1 - p. Otherwise x itself. */
WK_RESULT_API wk_module *wk_nn_dropout_at(wk_site site, double p);

typedef struct wk_nn_layer_norm_options {
    size_t size;
    wk_by_name by_name;
    double eps;     /* default 1e-5 */
    bool no_affine; /* without weight and bias */
    bool no_bias;
    wk_dtype dtype;
    wk_device device;
} wk_nn_layer_norm_options;
/* (x - mean) / sqrt(variance + eps) weight + bias, over the last dimensions, whose sizes are `shape`; weight 1, bias
 * 0. */
WK_RESULT_API wk_module *wk_nn_layer_norm_at(wk_site site, const int64_t *shape, int ndim,
                                             const wk_nn_layer_norm_options *options);

typedef struct wk_nn_embedding_options {
    size_t size;
    wk_by_name by_name;
    wk_dtype dtype;
    wk_device device;
    char reserved[4];
} wk_nn_embedding_options;
/* The rows of weight (n, dim) that integers name: (...) -> (..., dim). Standard normal at first. */
WK_RESULT_API wk_module *wk_nn_embedding_at(wk_site site, int64_t n, int64_t dim,
                                            const wk_nn_embedding_options *options);

/* ---- initial values: torch.nn.init ------------------------------------------------------------------------------- */

/* Each writes over x, a leaf or not, without a trace in the graph, and returns x. WK_ERR_ARGUMENT if high <
 * low, or std < 0. */
WK_API wk_tensor *wk_init_uniform__at(wk_site site, wk_tensor *x, double low, double high);
WK_API wk_tensor *wk_init_normal__at(wk_site site, wk_tensor *x, double mean, double std);
WK_API wk_tensor *wk_init_constant__at(wk_site site, wk_tensor *x, double value);
WK_API wk_tensor *wk_init_zeros__at(wk_site site, wk_tensor *x);
WK_API wk_tensor *wk_init_ones__at(wk_site site, wk_tensor *x);

/* For weights (out, in, ...): fan_in is in times what follows, fan_out likewise. */
typedef struct wk_init_options {
    size_t size;
    wk_by_name by_name;
    double gain;  /* default 1 for xavier, sqrt(2 / (1 + a^2)) for kaiming */
    double a;     /* kaiming: slope of the leaky relu that follows */
    bool fan_out; /* kaiming: keep the variance of gradients, not of values */
    char reserved[7];
} wk_init_options;
/* Variance gain^2 2 / (fan_in + fan_out). */
WK_API wk_tensor *wk_init_xavier_uniform__at(wk_site site, wk_tensor *x, const wk_init_options *options);
WK_API wk_tensor *wk_init_xavier_normal__at(wk_site site, wk_tensor *x, const wk_init_options *options);
/* Variance gain^2 / fan. */
WK_API wk_tensor *wk_init_kaiming_uniform__at(wk_site site, wk_tensor *x, const wk_init_options *options);
WK_API wk_tensor *wk_init_kaiming_normal__at(wk_site site, wk_tensor *x, const wk_init_options *options);

#define wk_tensors_new()                    WK_NEW_TENSORS_(wk_tensors_new_at(WK_HERE))
#define wk_tensors_add(list, name, x)       wk_tensors_add_at(WK_HERE, list, name, x)
#define wk_module_new(kind)                 WK_NEW_MODULE_(wk_module_new_at(WK_HERE, kind))
#define wk_module_add_parameter(m, name, x) wk_module_add_parameter_at(WK_HERE, m, name, x)
#define wk_module_set_buffer(m, name, x)    wk_module_set_buffer_at(WK_HERE, m, name, x)
#define wk_module_add(m, name, child)       wk_module_add_at(WK_HERE, m, name, child)
#define wk_module_append(m, child)          wk_module_append_at(WK_HERE, m, child)
#define wk_module_parameter(m, path)        WK_NEW_TENSOR_(wk_module_parameter_at(WK_HERE, m, path))
#define wk_module_buffer(m, path)           WK_NEW_TENSOR_(wk_module_buffer_at(WK_HERE, m, path))
#define wk_module_child(m, path)            WK_NEW_MODULE_(wk_module_child_at(WK_HERE, m, path))
#define wk_parameters(m)                    WK_NEW_TENSORS_(wk_parameters_at(WK_HERE, m))
#define wk_buffers(m)                       WK_NEW_TENSORS_(wk_buffers_at(WK_HERE, m))
#define wk_forward(...)                     WK_NEW_TENSOR_(wk_forward_at(WK_HERE, __VA_ARGS__))
#define wk_module_train(m, training)        wk_module_train_at(WK_HERE, m, training)
#define wk_nn_flatten()                     WK_NEW_MODULE_(wk_nn_flatten_at(WK_HERE))
#define wk_nn_relu()                        WK_NEW_MODULE_(wk_nn_relu_at(WK_HERE))
#define wk_nn_sigmoid()                     WK_NEW_MODULE_(wk_nn_sigmoid_at(WK_HERE))
#define wk_nn_tanh()                        WK_NEW_MODULE_(wk_nn_tanh_at(WK_HERE))
#define wk_nn_gelu()                        WK_NEW_MODULE_(wk_nn_gelu_at(WK_HERE))
#define wk_nn_dropout(p)                    WK_NEW_MODULE_(wk_nn_dropout_at(WK_HERE, p))
#define wk_init_uniform_(x, low, high)      wk_init_uniform__at(WK_HERE, x, low, high)
#define wk_init_normal_(x, mean, std)       wk_init_normal__at(WK_HERE, x, mean, std)
#define wk_init_constant_(x, value)         wk_init_constant__at(WK_HERE, x, value)
#define wk_init_zeros_(x)                   wk_init_zeros__at(WK_HERE, x)
#define wk_init_ones_(x)                    wk_init_ones__at(WK_HERE, x)
#define wk_tensors_count(...)               wk_tensors_count_at(WK_HERE, __VA_ARGS__)
#define wk_tensors_name(...)                wk_tensors_name_at(WK_HERE, __VA_ARGS__)
#define wk_tensors_get(...)                 WK_NEW_TENSOR_(wk_tensors_get_at(WK_HERE, __VA_ARGS__))
#define wk_tensors_find(...)                WK_NEW_TENSOR_(wk_tensors_find_at(WK_HERE, __VA_ARGS__))
#define wk_module_state(...)                wk_module_state_at(WK_HERE, __VA_ARGS__)
#define wk_module_kind_name(...)            wk_module_kind_name_at(WK_HERE, __VA_ARGS__)
#define wk_module_child_count(...)          wk_module_child_count_at(WK_HERE, __VA_ARGS__)
#define wk_module_child_by_index(...)       WK_NEW_MODULE_(wk_module_child_by_index_at(WK_HERE, __VA_ARGS__))
#define wk_module_child_name(...)           wk_module_child_name_at(WK_HERE, __VA_ARGS__)
#define wk_module_training(...)             wk_module_training_at(WK_HERE, __VA_ARGS__)

#ifdef __cplusplus
#define wk_module_to(...) wk_module_to_at(WK_HERE, __VA_ARGS__)
#else

#define wk_list(...)                                                                                                   \
    WK_NEW_TENSORS_(WK_JOIN_(WK_LIST_OF_, WK_COUNT_(__VA_ARGS__))(WK_LIST_NAME_, #__VA_ARGS__, __VA_ARGS__))

#define WK_LIST_OF_TEXT_(said)            "wk_list: tensors stand in parentheses of their own: wk_list((" said "))"
#define WK_LIST_OF_WK2_(wk_l_, said, ...) WK_REFUSE_(wk_tensors *, WK_LIST_OF_TEXT_(said))
#define WK_LIST_OF_1(wk_l_, said, list)                                                                                \
    WK_LISTED_(wk_tensors *, wk_l_, list, WK_LIST_OF_TEXT_(said),                                                      \
               WK_GIVE_(wk_tensors *, wk_list_at(WK_HERE, wk_l_.at, wk_l_.count)))

#define wk_forward_n(m, list, out, outputs) WK_FORWARD_N_(m, list, out, outputs, WK_LIST_NAME_)
#define WK_FORWARD_N_(m, list, out, outputs, wk_l_)                                                                    \
    WK_LISTED_(int, wk_l_, list, "wk_forward_n: tensors stand in parentheses: wk_forward_n(m, (x, y), out, outputs)",  \
               WK_GIVE_(int, wk_forward_n_at(WK_HERE, m, wk_l_.at, wk_l_.count, out, outputs)))

#define wk_module_to(...) WK_ON_DEVICE_(wk_module *, wk_module_to, __VA_ARGS__)
#define wk_nn_linear(in, ...)                                                                                          \
    WK_NEW_MODULE_(WK_OPT2_(wk_module *, wk_nn_linear, wk_nn_linear_options, "in, out", in, __VA_ARGS__))
#define wk_nn_lazy_linear(...)                                                                                         \
    WK_NEW_MODULE_(WK_OPT_(wk_module *, wk_nn_lazy_linear, wk_nn_linear_options, __VA_ARGS__))
#define wk_nn_sequential(...)  WK_NEW_MODULE_(WK_MODULES_(wk_nn_sequential_at, __VA_ARGS__))
#define wk_nn_module_list(...) WK_NEW_MODULE_(WK_MODULES_(wk_nn_module_list_at, __VA_ARGS__))

/* One argument that is nothing but something in parentheses is a list of modules: C by itself would take the last of
 * them. What follows the parentheses of a cast or a call keeps WK_COMMA_ from making a comma, so that b is NOT_. */
#define WK_MODULES_(f, ...)    WK_JOIN_(WK_MODULES_, WK_KIND_1ST_(__VA_ARGS__, ))(f, WK_LIST_NAME_, __VA_ARGS__)

#define WK_MODULES_LIST_(f, wk_l_, ...) WK_JOIN_(WK_MODULES_LIST_, WK_COUNT_8_(__VA_ARGS__))(f, wk_l_, __VA_ARGS__)

#define WK_MODULES_NOT_                               WK_MODULES_OF_
#define WK_MODULES_ARRAY_                             WK_MODULES_OF_
#define WK_MODULES_LIST_1(f, wk_l_, list)             WK_MODULES_PROBE_(f, wk_l_, list, WK_COMMA_ WK_NOTHING_ list())
#define WK_MODULES_PROBE_(f, wk_l_, list, probe)      WK_MODULES_PROBED_(f, wk_l_, list, probe)
#define WK_MODULES_PROBED_(f, wk_l_, list, probe)     WK_MODULES_CHOSEN_(f, wk_l_, list, probe, NOT_, )
#define WK_MODULES_CHOSEN_(f, wk_l_, list, a, b, ...) WK_JOIN_(WK_MODULES_ONE_, b)(f, wk_l_, list)
#define WK_MODULES_ONE_NOT_                           WK_MODULES_OF_
#define WK_MODULES_ONE_(f, wk_l_, list)               WK_MODULES_OF_(f, wk_l_, WK_BARE_ list)
#define WK_MODULES_LIST_2                             WK_MODULES_OF_
#define WK_MODULES_LIST_3                             WK_MODULES_OF_
#define WK_MODULES_LIST_4                             WK_MODULES_OF_
#define WK_MODULES_LIST_5                             WK_MODULES_OF_
#define WK_MODULES_LIST_6                             WK_MODULES_OF_
#define WK_MODULES_LIST_7                             WK_MODULES_OF_
#define WK_MODULES_LIST_8                             WK_MODULES_OF_
#define WK_MODULES_LIST_WK9_                          WK_MODULES_OF_
#define WK_MODULES_OF_(f, wk_l_, ...)                                                                                  \
    __extension__({                                                                                                    \
        wk_module *const wk_l_[] = {NULL, __VA_ARGS__}; /* a dummy first: there may be none */                         \
        WK_GIVE_(wk_module *, f(WK_HERE, wk_l_ + 1, (int)(WK_BYTES_(wk_l_) / sizeof(wk_module *)) - 1));               \
    })
#define wk_nn_layer_norm(...)                                                                                          \
    WK_NEW_MODULE_(WK_SHAPED_(wk_module *, wk_nn_layer_norm, wk_nn_layer_norm_options, #__VA_ARGS__, __VA_ARGS__))
#define wk_nn_embedding(n, ...)                                                                                        \
    WK_NEW_MODULE_(WK_OPT2_(wk_module *, wk_nn_embedding, wk_nn_embedding_options, "n, dim", n, __VA_ARGS__))

#define wk_init_xavier_uniform_(...)  WK_OPT_(wk_tensor *, wk_init_xavier_uniform_, wk_init_options, __VA_ARGS__)
#define wk_init_xavier_normal_(...)   WK_OPT_(wk_tensor *, wk_init_xavier_normal_, wk_init_options, __VA_ARGS__)
#define wk_init_kaiming_uniform_(...) WK_OPT_(wk_tensor *, wk_init_kaiming_uniform_, wk_init_options, __VA_ARGS__)
#define wk_init_kaiming_normal_(...)  WK_OPT_(wk_tensor *, wk_init_kaiming_normal_, wk_init_options, __VA_ARGS__)
#endif

#ifdef __cplusplus
}
#endif
#endif
