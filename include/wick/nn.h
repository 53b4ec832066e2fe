/* SPDX-License-Identifier: Apache-2.0 */
/* wick/nn.h: lists of tensors, modules (layers with parameters), the library's layers, initialisation.
 *
 *     wk_module *net = wk_nn_sequential(wk_nn_linear(784, 256), wk_nn_relu(), wk_nn_linear(256, 10));
 *     wk_module_to(net, wk_try_gpu(0));
 *     wk_tensor *guess = wk_forward(net, x);
 *
 * Names, defaults and initial values are those of torch.nn. A module owns its parameters, buffers and children,
 * whatever scope they were created in; the scope in which it was created owns the module. Handles of parameters
 * never change: moving, loading and training change the elements behind them. */
#ifndef WICK_NN_H
#define WICK_NN_H

#if !defined __cplusplus && !defined __clang__
#pragma GCC system_header /* see macros.h */
#endif

#include "activation.h"
#include "matmul.h"
#include "tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- lists of tensors -------------------------------------------------------------------------------------------- */

/* wk_tensors_new(): Creates an empty list. A list keeps its tensors alive; its names are valid as long as it is. */
WK_RESULT_API wk_tensors *wk_tensors_new_at(wk_site site);
/* wk_tensors_add(list, name, x): Appends x under a name that the list does not have. Returns list; NULL on error. */
WK_API wk_tensors *wk_tensors_add_at(wk_site site, wk_tensors *list, const char *name, wk_tensor *x);
/* wk_list((tensors)): Creates a list of tensors named "0", "1", ... */
WK_RESULT_API wk_tensors *wk_list_at(wk_site site, wk_tensor *const *tensors, int count);
/* wk_tensors_count(list): Returns the number of tensors; 0 for NULL. */
WK_RESULT_API int wk_tensors_count_at(wk_site site, const wk_tensors *list);
/* wk_tensors_name(list, k), wk_tensors_get(list, k): Return name and tensor k, counted from 0.
 * Ownership: the list owns both
 * Errors:    WK_ERR_INDEX if k is out of range */
WK_RESULT_API const char *wk_tensors_name_at(wk_site site, const wk_tensors *list, int k);
WK_RESULT_API wk_tensor *wk_tensors_get_at(wk_site site, const wk_tensors *list, int k);
/* wk_tensors_find(list, name): Returns the tensor of this name; NULL, without an error, if there is none. */
WK_RESULT_API wk_tensor *wk_tensors_find_at(wk_site site, const wk_tensors *list, const char *name);

/* ---- custom modules ---------------------------------------------------------------------------------------------- */

/* A kind of modules. Set forward1 for one input and one output, forward for several, or neither for a container.
 *
 *     typedef struct { wk_tensor *weight; } scale;
 *     static wk_tensor *scale_forward(wk_module *self, wk_tensor *x)
 *     {
 *         scale *s = wk_module_state(self);
 *         return wk_mul(x, s->weight);
 *     }
 *     static const wk_module_kind kind = {
 *         .size = sizeof kind, .name = "scale", .state = sizeof(scale), .forward1 = scale_forward}; */
typedef struct wk_module_kind {
    size_t size;      /* sizeof(wk_module_kind) */
    const char *name; /* "scale", for messages */
    size_t state;     /* bytes of the module's state, initially zero; at most 4,096 */
    wk_tensor *(*forward1)(wk_module *self, wk_tensor *x);
    /* Computes out[0..outputs) from in[0..inputs). Returns the number of outputs; negative on failure. */
    int (*forward)(wk_module *self, wk_tensor *const *in, int inputs, wk_tensor **out, int outputs);
    /* Optional callbacks: on destruction, to free the state; after a move; after wk_module_train. */
    void (*destroy)(wk_module *self);
    void (*on_move)(wk_module *self, wk_device device);
    void (*on_train)(wk_module *self, bool training);
    /* Optional: writes the options of the module for wk_module_print, "in=3, out=2", like snprintf: at most size bytes
     * with the terminator. Returns the full length of the text; negative on failure. */
    int (*describe)(wk_module *self, char *out, size_t size);
} wk_module_kind;

/* wk_module_new(kind): Creates a module without parameters and children. The kind is copied. */
WK_RESULT_API wk_module *wk_module_new_at(wk_site site, const wk_module_kind *kind);
/* wk_module_state(m): Returns the module's state, read-only in forward; a tensor that forward changes is a buffer
 * (wk_module_set_buffer). For NULL it returns 4,096 unused bytes, so a constructor need not check its module. */
WK_RESULT_API void *wk_module_state_at(wk_site site, wk_module *m);
/* wk_module_kind_name(m): Returns the name of the kind, "linear". The string is valid as long as m. */
WK_RESULT_API const char *wk_module_kind_name_at(wk_site site, const wk_module *m);

/* wk_module_add_parameter(m, name, x): Adds a parameter with the elements of x; x itself does not change.
 * Returns:   the parameter, a leaf that requires grad, owned by m; NULL on error
 * Errors:    WK_ERR_DTYPE if x is not floating; WK_ERR_ARGUMENT if name is taken, is empty or contains a dot */
WK_API wk_tensor *wk_module_add_parameter_at(wk_site site, wk_module *m, const char *name, wk_tensor *x);
/* wk_module_set_buffer(m, name, x): Adds a buffer, a tensor that is saved and moved with the module but not
 * trained, with the elements of x. An existing buffer of this name keeps its handle and gets the elements; they
 * have no graph.
 * Returns:   the buffer, owned by m; NULL on error */
WK_API wk_tensor *wk_module_set_buffer_at(wk_site site, wk_module *m, const char *name, wk_tensor *x);
/* wk_module_add(m, name, child), wk_module_append(m, child): Add a child under a name, or under the next number
 * ("0", "1", ...). Return child; NULL on error. */
WK_API wk_module *wk_module_add_at(wk_site site, wk_module *m, const char *name, wk_module *child);
WK_API wk_module *wk_module_append_at(wk_site site, wk_module *m, wk_module *child);

/* ---- contents of a module ---------------------------------------------------------------------------------------- */

/* wk_module_parameter(m, path), wk_module_buffer(m, path), wk_module_child(m, path): Return the object at this
 * path, "0.weight" or "encoder.3.bias".
 * Ownership: m owns it
 * Errors:    WK_ERR_ARGUMENT if there is none */
WK_RESULT_API wk_tensor *wk_module_parameter_at(wk_site site, wk_module *m, const char *path);
WK_RESULT_API wk_tensor *wk_module_buffer_at(wk_site site, wk_module *m, const char *path);
WK_RESULT_API wk_module *wk_module_child_at(wk_site site, wk_module *m, const char *path);
/* wk_module_child_count(m): Returns the number of children. wk_module_child_by_index(m, k) and
 * wk_module_child_name(m, k) return child k and its name, in the order in which they were added.
 * Errors:    WK_ERR_INDEX if k is out of range */
WK_RESULT_API int wk_module_child_count_at(wk_site site, const wk_module *m);
WK_RESULT_API wk_module *wk_module_child_by_index_at(wk_site site, const wk_module *m, int k);
WK_RESULT_API const char *wk_module_child_name_at(wk_site site, const wk_module *m, int k);

/* wk_parameters(m), wk_buffers(m): Return all parameters, or buffers, with their paths: those of m in the order in
 * which they were added, then those of each child. A tensor with several paths is listed once.
 * Errors:    WK_ERR_STATE if a lazy layer has not been called yet */
WK_RESULT_API wk_tensors *wk_parameters_at(wk_site site, wk_module *m);
WK_RESULT_API wk_tensors *wk_buffers_at(wk_site site, wk_module *m);

/* wk_parameter_count(m): Returns the number of elements of all parameters, each counted once; 0 for NULL.
 * Errors:    WK_ERR_STATE if a lazy layer has not been called yet */
WK_RESULT_API int64_t wk_parameter_count_at(wk_site site, wk_module *m);

/* wk_module_str(m): Returns m as PyTorch prints it: kinds, options and children. A custom kind has its own name.
 *     Sequential(
 *       (0): Linear(in_features=784, out_features=256, bias=True)
 *       (1): ReLU()
 *     )
 * Lifetime:  until the innermost scope closes; outside any scope, until m is freed
 * PyTorch:   str(m) */
WK_RESULT_API const char *wk_module_str_at(wk_site site, wk_module *m);
/* wk_module_print(m): Prints the text of wk_module_str and a newline to stdout. Returns m; NULL on error. */
WK_API wk_module *wk_module_print_at(wk_site site, wk_module *m);

/* A module in a summary. Its numbers include those of the modules below it. */
typedef struct wk_summary_row {
    const char *path;         /* "3.conv1"; "" for the network itself */
    const char *kind;         /* "Conv2d", as wk_module_print writes it */
    int depth;                /* 0 for the network, 1 for its children, ... */
    int ndim;                 /* of the first output of the first call; -1 without a call */
    const int64_t *shape;     /* of that output */
    int64_t calls;            /* how often forward was called */
    int64_t parameters;       /* elements of parameters */
    int64_t trainable;        /* those that require grad */
    int64_t parameter_bytes;  /* memory of the parameters */
    int64_t multiply_adds;    /* products that matrix products and convolutions add up */
    int64_t activation_bytes; /* memory of the outputs; an output that shares memory with another counts once */
} wk_summary_row;
typedef struct wk_summary_options {
    size_t size;
    wk_by_name by_name;
    wk_dtype dtype; /* of the input; default that of the first parameter or buffer if it is floating, else f32 */
    char reserved[4];
} wk_summary_options;
/* wk_summary(m, (shape)): Prints a table to stdout: for each module its path, kind, output shape, parameters,
 * multiply-adds and memory of activations; then the totals. Calls m once with an input of zeros of this shape, on the
 * device of its first parameter or buffer, in evaluation mode and without gradients. Modes, buffers and random streams
 * are afterwards as before. Sums, activation functions and the addition of a bias are no multiply-adds.
 * Returns:   m; NULL on error
 * Errors:    WK_ERR_STATE if a lazy layer has not been called yet; those of wk_forward
 * Example:   wk_summary(net, (1, 1, 28, 28)) */
WK_API wk_module *wk_summary_at(wk_site site, wk_module *m, const int64_t *shape, int ndim,
                                const wk_summary_options *options);
/* wk_summary_rows(m, (shape)): Returns pointers to the rows of this table, ended by NULL: m first, then all modules
 * below it, parents before children.
 *     for (const wk_summary_row *const *row = wk_summary_rows(net, (1, 784)); row && *row; row++)
 *         printf("%s %lld\n", (*row)->path, (long long)(*row)->multiply_adds);
 * Lifetime:  as of wk_module_str
 * Errors:    as wk_summary */
WK_RESULT_API const wk_summary_row *const *wk_summary_rows_at(wk_site site, wk_module *m, const int64_t *shape,
                                                              int ndim, const wk_summary_options *options);

/* ---- changing modules -------------------------------------------------------------------------------------------- */

/* wk_module_apply(m, function, user): Calls function(module, user) for each module in m once, children before their
 * parent, m last. Ends with the first call after which an error is pending.
 * Returns:   m; NULL on error
 * PyTorch:   m.apply(function) */
typedef void wk_module_function(wk_module *m, void *user);
WK_API wk_module *wk_module_apply_at(wk_site site, wk_module *m, wk_module_function *function, void *user);
/* wk_module_replace(m, path, child): Replaces the child at path, which keeps its name and index. Pointers to the old
 * child in the state of its parent (wk_module_state) become pointers to the new one.
 * Returns:   child; NULL on error
 * Errors:    WK_ERR_ARGUMENT if path names no child, or if the new one contains its parent
 * PyTorch:   setattr(parent, name, child) */
WK_API wk_module *wk_module_replace_at(wk_site site, wk_module *m, const char *path, wk_module *child);
/* wk_module_quantize(m): Replaces the linear layers in m whose rows consist of blocks, so whose inputs are a multiple
 * of 32 (of 256 for K formats), by quantised ones (wk_nn_quantized_linear) with the blocks of their weights
 * (wk_quantize) and the same biases; other layers, and the adapters of wk_nn_lora, do not change. The weights are no
 * longer parameters. On an error m does not change.
 *     wk_module_quantize(net, .format = WK_BLOCKS_Q4_K);
 * Options:   .format: of wk_block_format; default WK_BLOCKS_Q8_0
 * Returns:   m; NULL on error
 * Errors:    WK_ERR_ARGUMENT if .format is unknown, or m itself is a linear layer
 * PyTorch:   torch.ao.quantization.quantize_dynamic, which also quantises the inputs of layers */
WK_API wk_module *wk_module_quantize_at(wk_site site, wk_module *m, const wk_block_options *options);
/* wk_module_slice(m, from, to): Creates a module of m's kind, wk_nn_sequential or wk_nn_module_list, with the children
 * from, ..., to - 1 of m, which both share. A sequential keeps their names, a list counts anew.
 * Errors:    WK_ERR_INDEX if they do not all exist; WK_ERR_ARGUMENT if m is of another kind
 * PyTorch:   m[from:to] */
WK_RESULT_API wk_module *wk_module_slice_at(wk_site site, wk_module *m, int from, int to);
/* wk_module_to_dtype(m, dtype): Converts all floating parameters and buffers, with their gradients, or none on error.
 * Handles stay valid, so optimisers continue; their state follows at the next step. Call it before forward:
 * wk_backward fails for a graph recorded before the conversion. A lazy layer has no parameters yet and gets the dtype
 * of its first input.
 * Returns:   m; NULL on error
 * Errors:    WK_ERR_DTYPE if dtype is not floating
 * PyTorch:   m.to(dtype) */
WK_API wk_module *wk_module_to_dtype_at(wk_site site, wk_module *m, wk_dtype dtype);

/* ---- using modules ----------------------------------------------------------------------------------------------- */

/* wk_forward(m, x): Calls the module with one input. An error in a custom module names it: (in forward of "block",
 * called at f.c:88).
 * Returns:   the output, owned by the innermost scope; NULL on error */
WK_RESULT_API wk_tensor *wk_forward_at(wk_site site, wk_module *m, wk_tensor *x);
/* wk_forward_n(m, (in), out, outputs): Calls the module with several inputs and puts at most outputs tensors into
 * out[].
 * Returns:   the number of outputs, at least 1; -1 on error, with out[] all NULL */
WK_API int wk_forward_n_at(wk_site site, wk_module *m, wk_tensor *const *in, int inputs, wk_tensor **out, int outputs);

/* wk_module_to(m, device): Moves all parameters and buffers, with their gradients, or none on error. Handles stay
 * valid, so optimisers continue; their state follows at the next step. Call it before forward: wk_backward refuses
 * a graph that was recorded before the move.
 * Returns:   m; NULL on error
 * Errors:    WK_ERR_DEVICE if the device does not exist
 * PyTorch:   m.to(device) */
WK_API wk_module *wk_module_to_at(wk_site site, wk_module *m, wk_device device);
/* wk_module_train(m, training): Sets the training mode of m and its children, which dropout reads; initially true.
 * Returns m. */
WK_API wk_module *wk_module_train_at(wk_site site, wk_module *m, bool training);
/* wk_module_training(m): Returns true if m is in training mode; false for NULL. */
WK_RESULT_API bool wk_module_training_at(wk_site site, const wk_module *m);

/* ---- layers: torch.nn -------------------------------------------------------------------------------------------- */

typedef struct wk_nn_linear_options {
    size_t size;
    wk_by_name by_name;
    bool no_bias;     /* without bias; default false */
    wk_dtype dtype;   /* default f32; of lazy layers that of the first input */
    wk_device device; /* default WK_DEVICE, else the CPU; of lazy layers that of the first input */
} wk_nn_linear_options;
/* wk_nn_linear(in, out): Creates a linear layer with parameters weight (out, in) and bias (out), both initialised
 * uniformly in [-1/sqrt(in), 1/sqrt(in)].
 *     out = x weight^T + bias
 * Shapes:    (..., in) -> (..., out); sizes may be 0, as in PyTorch: without inputs the result is the bias, which
 *            is 0
 * Errors:    WK_ERR_SHAPE if in or out is negative
 * PyTorch:   torch.nn.Linear */
WK_RESULT_API wk_module *wk_nn_linear_at(wk_site site, int64_t in, int64_t out, const wk_nn_linear_options *options);
/* wk_nn_lazy_linear(out): Creates a linear layer whose in is the last size of the first input, on whose device the
 * parameters are created.
 * PyTorch:   torch.nn.LazyLinear */
WK_RESULT_API wk_module *wk_nn_lazy_linear_at(wk_site site, int64_t out, const wk_nn_linear_options *options);

typedef struct wk_nn_quantized_linear_options {
    size_t size;
    wk_by_name by_name;
    wk_block_format format; /* default WK_BLOCKS_Q8_0 */
    bool no_bias;           /* without bias; default false */
    wk_dtype dtype;         /* of the bias; default f32 */
    wk_device device;       /* default WK_DEVICE, else the CPU */
} wk_nn_quantized_linear_options;
/* wk_nn_quantized_linear(in, out): Creates a linear layer whose weight stays in quantised blocks: a buffer of u8 named
 * after the format, weight_q8_0 (out, bytes of in elements), and a parameter bias (out), both 0 until they are loaded
 * or set. wk_module_quantize makes such layers of others, wk_nn_pretrained reads them from GGUF files.
 *     out = x dequantize(weight)^T + bias
 * Shapes:    (..., in) -> (..., out)
 * Gradient:  of x and bias; the weight has none
 * Errors:    WK_ERR_SHAPE if in is not a multiple of the elements of a block, or a size is negative; WK_ERR_ARGUMENT
 *            if .format is unknown
 * PyTorch:   none; torch.ao.nn.quantized.dynamic.Linear has other formats */
WK_RESULT_API wk_module *wk_nn_quantized_linear_at(wk_site site, int64_t in, int64_t out,
                                                   const wk_nn_quantized_linear_options *options);

/* wk_nn_sequential(a, b, ...) or wk_nn_sequential((a, b, ...)): Creates a module that calls its children "0", "1",
 * ... in order. For an array: wk_nn_sequential_at(WK_HERE, modules, count).
 * PyTorch:   torch.nn.Sequential */
WK_RESULT_API wk_module *wk_nn_sequential_at(wk_site site, wk_module *const *modules, int count);
/* wk_nn_module_list(a, b, ...): Creates a container of modules, without forward.
 * PyTorch:   torch.nn.ModuleList */
WK_RESULT_API wk_module *wk_nn_module_list_at(wk_site site, wk_module *const *modules, int count);

/* wk_nn_flatten(start, end): Creates a layer that merges dimensions start to end. The forms are wk_nn_flatten(),
 * wk_nn_flatten(start) and wk_nn_flatten(start, end); start defaults to 1, end to -1. The default leaves a vector as it
 * is.
 * Shapes:    (B, ...) -> (B, product of the rest) by default
 * PyTorch:   torch.nn.Flatten */
WK_RESULT_API wk_module *wk_nn_flatten_at(wk_site site, int64_t start, int64_t end);
/* wk_nn_unflatten(dim, (sizes)): Creates a layer that splits dimension dim into several. At most one size may be -1; it
 * follows from the others.
 *     wk_nn_unflatten(1, (16, 7, 7))
 * Errors:    WK_ERR_ARGUMENT if there are no sizes, or too many
 * PyTorch:   torch.nn.Unflatten */
WK_RESULT_API wk_module *wk_nn_unflatten_at(wk_site site, int64_t dim, const int64_t *sizes, int count);
/* wk_nn_dropout(p): In training mode sets each element to 0 with probability p and divides the others by 1 - p;
 * else returns x itself.
 * PyTorch:   torch.nn.Dropout */
WK_RESULT_API wk_module *wk_nn_dropout_at(wk_site site, double p);
/* wk_nn_dropout1d(p), wk_nn_dropout2d(p), wk_nn_dropout3d(p): The same for channels, all elements of which are dropped
 * or kept; see wk_dropout1d.
 * Shapes:    1d: (N, C, L) or (C, L); 2d: (N, C, H, W); 3d: (N, C, D, H, W) or (C, D, H, W)
 * PyTorch:   torch.nn.Dropout1d, Dropout2d, Dropout3d */
WK_RESULT_API wk_module *wk_nn_dropout1d_at(wk_site site, double p);
WK_RESULT_API wk_module *wk_nn_dropout2d_at(wk_site site, double p);
WK_RESULT_API wk_module *wk_nn_dropout3d_at(wk_site site, double p);
/* wk_nn_alpha_dropout(p), wk_nn_feature_alpha_dropout(p): In training mode drop elements, or channels, and keep mean 0
 * and variance 1; see wk_alpha_dropout.
 * PyTorch:   torch.nn.AlphaDropout, FeatureAlphaDropout */
WK_RESULT_API wk_module *wk_nn_alpha_dropout_at(wk_site site, double p);
WK_RESULT_API wk_module *wk_nn_feature_alpha_dropout_at(wk_site site, double p);

/* ---- activations: torch.nn --------------------------------------------------------------------------------------- */

/* wk_nn_activation(name), wk_nn_relu(), ...: Create a layer that applies an activation to its input. Names are those of
 * torch.nn in lower case; wk_nn_activation("relu") is wk_nn_relu(). The formulas are in activation.h, at wk_relu.
 *     without options:  hardsigmoid, hardswish, log_sigmoid, mish, relu, relu6, selu, sigmoid, silu, softsign, tanh,
 *                       tanhshrink
 *     with options:     celu         .alpha: default 1
 *                       elu          .alpha: default 1
 *                       gelu         .approximate: WK_GELU_NONE (default) or WK_GELU_TANH
 *                       hardshrink   .lambd: default 0.5
 *                       hardtanh     .min_val, .max_val: default -1 and 1
 *                       leaky_relu   .negative_slope: default 0.01
 *                       prelu        .num_parameters, .init, .dtype, .device: see wk_nn_prelu_options
 *                       rrelu        .lower, .upper: default 1/8 and 1/3; random in training mode
 *                       softplus     .beta, .threshold: default 1 and 20
 *                       softshrink   .lambd: default 0.5
 * Options: of wk_nn_activation_at: NULL or the struct of options of the layer, such as wk_elu_options; their ranges are
 *          checked by wk_forward
 * Errors:  WK_ERR_ARGUMENT if the name is unknown
 * Example: wk_nn_sequential(wk_nn_linear(784, 256), wk_nn_leaky_relu(.negative_slope = 0.2), wk_nn_linear(256, 10))
 * PyTorch: torch.nn.ReLU and so on */
WK_RESULT_API wk_module *wk_nn_activation_at(wk_site site, const char *name, const void *options);

typedef struct wk_nn_rrelu_options {
    size_t size;
    wk_by_name by_name;
    double lower; /* default 1/8 */
    double upper; /* default 1/3 */
} wk_nn_rrelu_options;

/* Of wk_nn_prelu(), whose parameter weight (num_parameters) is the slope of negative elements. */
typedef struct wk_nn_prelu_options {
    size_t size;
    wk_by_name by_name;
    int64_t num_parameters; /* 1 for all elements (default), or the number of channels: the size of dimension 1 */
    double init;            /* initial value; default 0.25 */
    wk_dtype dtype;         /* default f32 */
    wk_device device;       /* default WK_DEVICE, else the CPU */
    char reserved[4];
} wk_nn_prelu_options;

/* wk_nn_softmax(dim), wk_nn_softmin(dim), wk_nn_log_softmax(dim), wk_nn_glu(dim): Create layers that apply wk_softmax,
 * wk_softmin, wk_log_softmax and wk_glu along dim; wk_nn_glu() is wk_nn_glu(-1).
 * PyTorch: torch.nn.Softmax, Softmin, LogSoftmax, GLU */
WK_RESULT_API wk_module *wk_nn_softmax_at(wk_site site, int64_t dim);
WK_RESULT_API wk_module *wk_nn_softmin_at(wk_site site, int64_t dim);
WK_RESULT_API wk_module *wk_nn_log_softmax_at(wk_site site, int64_t dim);
WK_RESULT_API wk_module *wk_nn_glu_at(wk_site site, int64_t dim);
/* wk_nn_threshold(threshold, value): Creates a layer that applies wk_threshold.
 * PyTorch: torch.nn.Threshold */
WK_RESULT_API wk_module *wk_nn_threshold_at(wk_site site, double threshold, double value);

/* wk_nn_function(function, user): Creates a layer that calls function(x, user), a function of the program.
 * Ownership: user is borrowed and must live as long as the layer; x belongs to the caller of wk_forward
 * Errors:    WK_ERR_ARGUMENT if function is NULL
 * Example:   static wk_tensor *square(wk_tensor *x, void *user) { return wk_mul(x, x); }
 *            wk_nn_sequential(wk_nn_linear(3, 4), wk_nn_function(square, NULL)) */
WK_RESULT_API wk_module *wk_nn_function_at(wk_site site, wk_tensor *(*function)(wk_tensor *x, void *user), void *user);

/* ---- normalisation and tables: torch.nn -------------------------------------------------------------------------- */

typedef struct wk_nn_layer_norm_options {
    size_t size;
    wk_by_name by_name;
    double eps;       /* added to the variance; default 1e-5 */
    bool no_affine;   /* without weight and bias; default false */
    bool no_bias;     /* without bias; default false */
    wk_dtype dtype;   /* default f32 */
    wk_device device; /* default WK_DEVICE, else the CPU */
} wk_nn_layer_norm_options;
/* wk_nn_layer_norm((shape)): Creates a layer that normalises over the last dimensions, whose sizes are shape, with
 * parameters weight (1) and bias (0) of this shape.
 *     out = (x - mean) / sqrt(variance + eps) weight + bias
 * PyTorch:   torch.nn.LayerNorm */
WK_RESULT_API wk_module *wk_nn_layer_norm_at(wk_site site, const int64_t *shape, int ndim,
                                             const wk_nn_layer_norm_options *options);

typedef struct wk_nn_batch_norm_options {
    size_t size;
    wk_by_name by_name;
    double eps;            /* added to the variance; default 1e-5 */
    double momentum;       /* weight of the last batch in the running statistics; default 0.1 */
    bool cumulative;       /* running statistics are the means over all batches, instead of .momentum; default false */
    bool no_affine;        /* without weight and bias; default false */
    bool no_bias;          /* without bias; default false */
    bool no_running_stats; /* no running statistics; evaluation mode also uses those of its input; default false */
    wk_dtype dtype;        /* default f32; of lazy layers that of the first input */
    wk_device device;      /* default WK_DEVICE, else the CPU; of lazy layers that of the first input */
    char reserved[4];
} wk_nn_batch_norm_options;
/* wk_nn_batch_norm1d(features), wk_nn_batch_norm2d(features), wk_nn_batch_norm3d(features): Create a layer that
 * normalises each channel with parameters weight (1) and bias (0) and buffers running_mean (0), running_var (1), all of
 * shape (features), and num_batches_tracked (i64, 0-d). In training mode (wk_module_train) mean and var are those of
 * the input, and the buffers are updated; in evaluation mode they are the running ones. See wk_batch_norm.
 *     out = (x - mean) / sqrt(var + eps) weight + bias
 * Shapes:    1d: (N, C) or (N, C, L); 2d: (N, C, H, W); 3d: (N, C, D, H, W); C is features
 * Errors:    WK_ERR_ARGUMENT if features or .eps is negative; forward: WK_ERR_SHAPE if the input has another shape or,
 *            in training mode, one element per channel
 * PyTorch:   torch.nn.BatchNorm1d, BatchNorm2d, BatchNorm3d; .cumulative: momentum=None */
WK_RESULT_API wk_module *wk_nn_batch_norm1d_at(wk_site site, int64_t features, const wk_nn_batch_norm_options *options);
WK_RESULT_API wk_module *wk_nn_batch_norm2d_at(wk_site site, int64_t features, const wk_nn_batch_norm_options *options);
WK_RESULT_API wk_module *wk_nn_batch_norm3d_at(wk_site site, int64_t features, const wk_nn_batch_norm_options *options);

/* wk_nn_lazy_batch_norm1d(), wk_nn_lazy_batch_norm2d(), wk_nn_lazy_batch_norm3d(): Create a layer whose features is
 * the size of dimension 1 of the first input, on whose device the parameters and buffers are created. Options may be
 * given: wk_nn_lazy_batch_norm2d(.eps = 1e-3). The function has the number of dimensions, 1 to 3, as argument.
 * Errors:    WK_ERR_ARGUMENT if dims is not in [1, 3] or .eps is negative
 * PyTorch:   torch.nn.LazyBatchNorm1d, LazyBatchNorm2d, LazyBatchNorm3d */
WK_RESULT_API wk_module *wk_nn_lazy_batch_norm_at(wk_site site, int dims, const wk_nn_batch_norm_options *options);

typedef struct wk_nn_instance_norm_options {
    size_t size;
    wk_by_name by_name;
    double eps;         /* added to the variance; default 1e-5 */
    double momentum;    /* weight of the last batch in the running statistics; default 0.1 */
    bool affine;        /* with weight and bias; default false */
    bool no_bias;       /* with .affine: without bias; default false */
    bool running_stats; /* with buffers, whose statistics are used in evaluation mode; default false */
    wk_dtype dtype;     /* default f32; of lazy layers that of the first input */
    wk_device device;   /* default WK_DEVICE, else the CPU; of lazy layers that of the first input */
} wk_nn_instance_norm_options;
/* wk_nn_instance_norm1d(features), wk_nn_instance_norm2d(features), wk_nn_instance_norm3d(features): Create a layer
 * that normalises each channel of each sample. With .affine it has parameters weight (1) and bias (0), with
 * .running_stats the buffers of wk_nn_batch_norm2d, all of shape (features). Without both, features is not used. See
 * wk_instance_norm.
 *     out = (x - mean) / sqrt(var + eps) weight + bias
 * Shapes:    1d: (N, C, L) or (C, L); 2d: (N, C, H, W) or (C, H, W); 3d: (N, C, D, H, W) or (C, D, H, W)
 * Errors:    WK_ERR_ARGUMENT if features or .eps is negative; forward: WK_ERR_SHAPE if the input has another shape or
 *            one element per channel of a sample, unless running statistics are used
 * PyTorch:   torch.nn.InstanceNorm1d, InstanceNorm2d, InstanceNorm3d */
WK_RESULT_API wk_module *wk_nn_instance_norm1d_at(wk_site site, int64_t features,
                                                  const wk_nn_instance_norm_options *options);
WK_RESULT_API wk_module *wk_nn_instance_norm2d_at(wk_site site, int64_t features,
                                                  const wk_nn_instance_norm_options *options);
WK_RESULT_API wk_module *wk_nn_instance_norm3d_at(wk_site site, int64_t features,
                                                  const wk_nn_instance_norm_options *options);
/* wk_nn_lazy_instance_norm1d(), wk_nn_lazy_instance_norm2d(), wk_nn_lazy_instance_norm3d(): Create a layer whose
 * features is the number of channels of the first input; see wk_nn_lazy_batch_norm2d.
 * Errors:    WK_ERR_ARGUMENT if dims is not in [1, 3] or .eps is negative
 * PyTorch:   torch.nn.LazyInstanceNorm1d, LazyInstanceNorm2d, LazyInstanceNorm3d */
WK_RESULT_API wk_module *wk_nn_lazy_instance_norm_at(wk_site site, int dims,
                                                     const wk_nn_instance_norm_options *options);

typedef struct wk_nn_group_norm_options {
    size_t size;
    wk_by_name by_name;
    double eps;       /* added to the variance; default 1e-5 */
    bool no_affine;   /* without weight and bias; default false */
    bool no_bias;     /* without bias; default false */
    wk_dtype dtype;   /* default f32 */
    wk_device device; /* default WK_DEVICE, else the CPU */
} wk_nn_group_norm_options;
/* wk_nn_group_norm(groups, channels): Creates a layer that normalises each group of adjacent channels of each sample,
 * with parameters weight (1) and bias (0) of shape (channels). See wk_group_norm.
 * Shapes:    (N, channels, ...)
 * Errors:    WK_ERR_ARGUMENT if groups does not divide channels or .eps is negative
 * PyTorch:   torch.nn.GroupNorm */
WK_RESULT_API wk_module *wk_nn_group_norm_at(wk_site site, int64_t groups, int64_t channels,
                                             const wk_nn_group_norm_options *options);

typedef struct wk_nn_rms_norm_options {
    size_t size;
    wk_by_name by_name;
    double eps;     /* added to the mean square; default the distance between 1 and the next number: see wk_rms_norm */
    bool no_affine; /* without weight; default false */
    wk_dtype dtype; /* default f32 */
    wk_device device; /* default WK_DEVICE, else the CPU */
} wk_nn_rms_norm_options;
/* wk_nn_rms_norm((shape)): Creates a layer that divides by the root of the mean square over the last dimensions, whose
 * sizes are shape, with a parameter weight (1) of this shape. See wk_rms_norm.
 * Errors:    WK_ERR_SHAPE if the shape is empty; WK_ERR_ARGUMENT if .eps is negative
 * PyTorch:   torch.nn.RMSNorm */
WK_RESULT_API wk_module *wk_nn_rms_norm_at(wk_site site, const int64_t *shape, int ndim,
                                           const wk_nn_rms_norm_options *options);

typedef struct wk_nn_local_response_norm_options {
    size_t size;
    wk_by_name by_name;
    double alpha; /* default 1e-4 */
    double beta;  /* default 0.75 */
    double k;     /* default 1 */
} wk_nn_local_response_norm_options;
/* wk_nn_local_response_norm(size): Creates a layer that divides each element by a power of the squares in size adjacent
 * channels; see wk_local_response_norm.
 * Errors:    WK_ERR_ARGUMENT if size is less than 1
 * PyTorch:   torch.nn.LocalResponseNorm */
WK_RESULT_API wk_module *wk_nn_local_response_norm_at(wk_site site, int64_t size,
                                                      const wk_nn_local_response_norm_options *options);

typedef struct wk_nn_embedding_options {
    size_t size;
    wk_by_name by_name;
    double padding_idx;      /* row that is 0 and gets no gradient, negative from the end; default none */
    double max_norm;         /* largest norm of a row; default none */
    double norm_type;        /* p of that norm; default 2 */
    wk_dtype dtype;          /* default f32 */
    wk_device device;        /* default WK_DEVICE, else the CPU */
    bool scale_grad_by_freq; /* divide the gradient of a row by how often the input has it; default false */
    char reserved[3];
} wk_nn_embedding_options;
/* wk_nn_embedding(n, dim): Creates a layer that selects rows of its parameter weight (n, dim), initialised from the
 * standard normal distribution. See wk_embedding.
 * Shapes:    integers (...) -> (..., dim)
 * Errors:    WK_ERR_ARGUMENT if .padding_idx is out of range or .max_norm is negative
 * PyTorch:   torch.nn.Embedding */
WK_RESULT_API wk_module *wk_nn_embedding_at(wk_site site, int64_t n, int64_t dim,
                                            const wk_nn_embedding_options *options);

typedef struct wk_nn_embedding_bag_options {
    size_t size;
    wk_by_name by_name;
    double padding_idx;       /* row that is 0 and left out, negative from the end; default none */
    double max_norm;          /* largest norm of a row; default none */
    double norm_type;         /* p of that norm; default 2 */
    const char *mode;         /* "mean", "sum" or "max"; default "mean" */
    wk_dtype dtype;           /* default f32 */
    wk_device device;         /* default WK_DEVICE, else the CPU */
    bool scale_grad_by_freq;  /* divide the gradient of a row by how often the input has it; default false */
    bool include_last_offset; /* the last offset is the end of the last bag; default false */
    char reserved[2];
} wk_nn_embedding_bag_options;
/* wk_nn_embedding_bag(n, dim): Creates a layer that combines rows of its parameter weight (n, dim), initialised from
 * the standard normal distribution, by bags. See wk_embedding_bag.
 * Inputs:    the index; then the offsets of the bags for a vector, and the factors of the rows
 * Shapes:    integers (bags, n), or (n) and offsets (bags) -> (bags, dim)
 * Errors:    WK_ERR_ARGUMENT if .padding_idx is out of range, .max_norm is negative or .mode is unknown
 * PyTorch:   torch.nn.EmbeddingBag */
WK_RESULT_API wk_module *wk_nn_embedding_bag_at(wk_site site, int64_t n, int64_t dim,
                                                const wk_nn_embedding_bag_options *options);

/* ---- initialisation: torch.nn.init ------------------------------------------------------------------------------- */

/* wk_init_uniform_(x, low, high), wk_init_normal_(x, mean, std), wk_init_constant_(x, value), wk_init_zeros_(x),
 * wk_init_ones_(x): Overwrite x, a leaf or not, without recording a graph.
 * Returns:   x; NULL on error
 * Errors:    WK_ERR_ARGUMENT if high is less than low or std is negative */
WK_API wk_tensor *wk_init_uniform__at(wk_site site, wk_tensor *x, double low, double high);
WK_API wk_tensor *wk_init_normal__at(wk_site site, wk_tensor *x, double mean, double std);
WK_API wk_tensor *wk_init_constant__at(wk_site site, wk_tensor *x, double value);
WK_API wk_tensor *wk_init_zeros__at(wk_site site, wk_tensor *x);
WK_API wk_tensor *wk_init_ones__at(wk_site site, wk_tensor *x);

/* Of a weight (out, in, ...) fan_in is in times the sizes that follow, fan_out out times those. */
typedef struct wk_init_options {
    size_t size;
    wk_by_name by_name;
    double gain;  /* default 1 for xavier, sqrt(2 / (1 + a^2)) for kaiming */
    double a;     /* kaiming: slope of the leaky relu after the layer; default 0 */
    bool fan_out; /* kaiming: use fan_out, which keeps the variance of gradients; default fan_in */
    char reserved[7];
} wk_init_options;
/* wk_init_xavier_uniform_(x), wk_init_xavier_normal_(x): Overwrite x with variance gain^2 2 / (fan_in + fan_out).
 * Return x; NULL on error. */
WK_API wk_tensor *wk_init_xavier_uniform__at(wk_site site, wk_tensor *x, const wk_init_options *options);
WK_API wk_tensor *wk_init_xavier_normal__at(wk_site site, wk_tensor *x, const wk_init_options *options);
/* wk_init_kaiming_uniform_(x), wk_init_kaiming_normal_(x): Overwrite x with variance gain^2 / fan. Return x; NULL
 * on error. */
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
#define wk_parameter_count(m)               wk_parameter_count_at(WK_HERE, m)
#define wk_module_str(m)                    wk_module_str_at(WK_HERE, m)
#define wk_module_print(m)                  wk_module_print_at(WK_HERE, m)
#define wk_module_apply(m, function, user)  wk_module_apply_at(WK_HERE, m, function, user)
#define wk_module_replace(m, path, child)   wk_module_replace_at(WK_HERE, m, path, child)
#define wk_module_slice(m, from, to)        WK_NEW_MODULE_(wk_module_slice_at(WK_HERE, m, from, to))
#define wk_module_to_dtype(m, dtype)        wk_module_to_dtype_at(WK_HERE, m, dtype)
#define wk_module_train(m, training)        wk_module_train_at(WK_HERE, m, training)
#define wk_nn_hardsigmoid()                 WK_NEW_MODULE_(wk_nn_activation_at(WK_HERE, "hardsigmoid", NULL))
#define wk_nn_hardswish()                   WK_NEW_MODULE_(wk_nn_activation_at(WK_HERE, "hardswish", NULL))
#define wk_nn_log_sigmoid()                 WK_NEW_MODULE_(wk_nn_activation_at(WK_HERE, "log_sigmoid", NULL))
#define wk_nn_mish()                        WK_NEW_MODULE_(wk_nn_activation_at(WK_HERE, "mish", NULL))
#define wk_nn_relu()                        WK_NEW_MODULE_(wk_nn_activation_at(WK_HERE, "relu", NULL))
#define wk_nn_relu6()                       WK_NEW_MODULE_(wk_nn_activation_at(WK_HERE, "relu6", NULL))
#define wk_nn_selu()                        WK_NEW_MODULE_(wk_nn_activation_at(WK_HERE, "selu", NULL))
#define wk_nn_sigmoid()                     WK_NEW_MODULE_(wk_nn_activation_at(WK_HERE, "sigmoid", NULL))
#define wk_nn_silu()                        WK_NEW_MODULE_(wk_nn_activation_at(WK_HERE, "silu", NULL))
#define wk_nn_softsign()                    WK_NEW_MODULE_(wk_nn_activation_at(WK_HERE, "softsign", NULL))
#define wk_nn_tanh()                        WK_NEW_MODULE_(wk_nn_activation_at(WK_HERE, "tanh", NULL))
#define wk_nn_tanhshrink()                  WK_NEW_MODULE_(wk_nn_activation_at(WK_HERE, "tanhshrink", NULL))
#define wk_nn_activation(name)              WK_NEW_MODULE_(wk_nn_activation_at(WK_HERE, name, NULL))
#define wk_nn_softmax(dim)                  WK_NEW_MODULE_(wk_nn_softmax_at(WK_HERE, dim))
#define wk_nn_softmin(dim)                  WK_NEW_MODULE_(wk_nn_softmin_at(WK_HERE, dim))
#define wk_nn_log_softmax(dim)              WK_NEW_MODULE_(wk_nn_log_softmax_at(WK_HERE, dim))
#define wk_nn_threshold(threshold, value)   WK_NEW_MODULE_(wk_nn_threshold_at(WK_HERE, threshold, value))
#define wk_nn_function(function, user)      WK_NEW_MODULE_(wk_nn_function_at(WK_HERE, function, user))
#define wk_nn_dropout(p)                    WK_NEW_MODULE_(wk_nn_dropout_at(WK_HERE, p))
#define wk_nn_dropout1d(p)                  WK_NEW_MODULE_(wk_nn_dropout1d_at(WK_HERE, p))
#define wk_nn_dropout2d(p)                  WK_NEW_MODULE_(wk_nn_dropout2d_at(WK_HERE, p))
#define wk_nn_dropout3d(p)                  WK_NEW_MODULE_(wk_nn_dropout3d_at(WK_HERE, p))
#define wk_nn_alpha_dropout(p)              WK_NEW_MODULE_(wk_nn_alpha_dropout_at(WK_HERE, p))
#define wk_nn_feature_alpha_dropout(p)      WK_NEW_MODULE_(wk_nn_feature_alpha_dropout_at(WK_HERE, p))
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
#define wk_forward(...)   WK_NEW_TENSOR_(wk_forward_at(WK_HERE, __VA_ARGS__))
#define wk_module_to(...) wk_module_to_at(WK_HERE, __VA_ARGS__)
#else

#define wk_list(...)                                                                                                   \
    WK_NEW_TENSORS_(WK_JOIN_(WK_LIST_OF_, WK_COUNT_(__VA_ARGS__))(WK_LIST_NAME_, #__VA_ARGS__, __VA_ARGS__))

#define WK_LIST_OF_TEXT_(said)            "wk_list: write tensors in parentheses of their own: wk_list((" said "))"
#define WK_LIST_OF_WK2_(wk_l_, said, ...) WK_REFUSE_(wk_tensors *, WK_LIST_OF_TEXT_(said))
#define WK_LIST_OF_1(wk_l_, said, list)                                                                                \
    WK_LISTED_(wk_tensors *, wk_l_, list, WK_LIST_OF_TEXT_(said),                                                      \
               WK_GIVE_(wk_tensors *, wk_list_at(WK_HERE, wk_l_.at, wk_l_.count)))

#define wk_forward(...)         WK_NEW_TENSOR_(WK_JOIN_(WK_FORWARD_, WK_COUNT_4_(__VA_ARGS__))(__VA_ARGS__))
#define WK_FORWARD_1(...)       wk_forward_at(WK_HERE, __VA_ARGS__)
#define WK_FORWARD_2(...)       wk_forward_at(WK_HERE, __VA_ARGS__)
#define WK_FORWARD_3(m, ...)    WK_REFUSE_(wk_tensor *, WK_FORWARD_TEXT_)
#define WK_FORWARD_WK4_(m, ...) WK_REFUSE_(wk_tensor *, WK_FORWARD_TEXT_)
#define WK_FORWARD_TEXT_                                                                                               \
    "wk_forward: expected one input; for several call wk_forward_n(m, (x, y), out, outputs), wk_rnn_forward or "       \
    "wk_forward_attention"

#define wk_forward_n(m, list, out, outputs) WK_FORWARD_N_(m, list, out, outputs, WK_LIST_NAME_)
#define WK_FORWARD_N_(m, list, out, outputs, wk_l_)                                                                    \
    WK_LISTED_(int, wk_l_, list, "wk_forward_n: write tensors in parentheses: wk_forward_n(m, (x, y), out, outputs)",  \
               WK_GIVE_(int, wk_forward_n_at(WK_HERE, m, wk_l_.at, wk_l_.count, out, outputs)))

#define wk_module_to(...) WK_ON_DEVICE_(wk_module *, wk_module_to, __VA_ARGS__)
#define wk_summary(m, ...)                                                                                             \
    WK_SHAPED_LAST_OF_(wk_module *, wk_summary, wk_summary_options,                                                    \
                       "wk_summary: write the shape of the input in parentheses: wk_summary(m, (" #__VA_ARGS__ "))",   \
                       (m), __VA_ARGS__)
#define wk_summary_rows(m, ...)                                                                                        \
    WK_SHAPED_LAST_OF_(                                                                                                \
        const wk_summary_row *const *, wk_summary_rows, wk_summary_options,                                            \
        "wk_summary_rows: write the shape of the input in parentheses: wk_summary_rows(m, (" #__VA_ARGS__ "))", (m),   \
        __VA_ARGS__)
#define wk_nn_linear(in, ...)                                                                                          \
    WK_NEW_MODULE_(WK_OPT2_(wk_module *, wk_nn_linear, wk_nn_linear_options, "in, out", in, __VA_ARGS__))
#define wk_nn_lazy_linear(...)                                                                                         \
    WK_NEW_MODULE_(WK_OPT_(wk_module *, wk_nn_lazy_linear, wk_nn_linear_options, __VA_ARGS__))
#define wk_nn_quantized_linear(in, ...)                                                                                \
    WK_NEW_MODULE_(                                                                                                    \
        WK_OPT2_(wk_module *, wk_nn_quantized_linear, wk_nn_quantized_linear_options, "in, out", in, __VA_ARGS__))
#define wk_module_quantize(...)         WK_OPT_(wk_module *, wk_module_quantize, wk_block_options, __VA_ARGS__)
#define wk_nn_celu(...)                 WK_ACTIVATION_("celu", wk_celu_options, __VA_ARGS__)
#define wk_nn_elu(...)                  WK_ACTIVATION_("elu", wk_elu_options, __VA_ARGS__)
#define wk_nn_gelu(...)                 WK_ACTIVATION_("gelu", wk_gelu_options, __VA_ARGS__)
#define wk_nn_hardshrink(...)           WK_ACTIVATION_("hardshrink", wk_hardshrink_options, __VA_ARGS__)
#define wk_nn_hardtanh(...)             WK_ACTIVATION_("hardtanh", wk_hardtanh_options, __VA_ARGS__)
#define wk_nn_leaky_relu(...)           WK_ACTIVATION_("leaky_relu", wk_leaky_relu_options, __VA_ARGS__)
#define wk_nn_prelu(...)                WK_ACTIVATION_("prelu", wk_nn_prelu_options, __VA_ARGS__)
#define wk_nn_rrelu(...)                WK_ACTIVATION_("rrelu", wk_nn_rrelu_options, __VA_ARGS__)
#define wk_nn_softplus(...)             WK_ACTIVATION_("softplus", wk_softplus_options, __VA_ARGS__)
#define wk_nn_softshrink(...)           WK_ACTIVATION_("softshrink", wk_softshrink_options, __VA_ARGS__)

/* () or (.key = value, ...) */
#define WK_ACTIVATION_(name, type, ...) WK_ACTIVATION_OF_(WK_ACTIVATION_FIRST_(__VA_ARGS__, ), name, type, __VA_ARGS__)
#define WK_ACTIVATION_FIRST_(wk1_, ...) WK_IS_MISSING_(wk1_)
#define WK_ACTIVATION_OF_(missing, name, type, ...)                                                                    \
    WK_NEW_MODULE_(WK_JOIN_(WK_ACTIVATION_, missing)(name, type, __VA_ARGS__))
#define WK_ACTIVATION_WK2_(name, type, ...) wk_nn_activation_at(WK_HERE, name, NULL)
#define WK_ACTIVATION_1(name, type, ...)                                                                               \
    WK_CALL_OF_(wk_module *, wk_nn_activation_at, (name), type, "wk_nn_" name ": " WK_BY_NAME_TEXT_, __VA_ARGS__)

#define wk_nn_glu(...)      WK_NEW_MODULE_(WK_JOIN_(WK_NN_GLU_, WK_ACTIVATION_FIRST_(__VA_ARGS__, ))(__VA_ARGS__))
#define WK_NN_GLU_WK2_(...) wk_nn_glu_at(WK_HERE, -1)
#define WK_NN_GLU_1(...)    wk_nn_glu_at(WK_HERE, __VA_ARGS__)

#define wk_nn_sequential(...)  WK_NEW_MODULE_(WK_MODULES_(wk_nn_sequential_at, __VA_ARGS__))
#define wk_nn_module_list(...) WK_NEW_MODULE_(WK_MODULES_(wk_nn_module_list_at, __VA_ARGS__))

/* A single argument that is all in parentheses is a list of modules, of which C would take the last. Tokens after the
 * parentheses, as of a cast or a call, keep WK_COMMA_ from expanding to a comma, so that b is NOT_. */
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
        wk_module *const wk_l_[] = {NULL, __VA_ARGS__}; /* a dummy first, as the list may be empty */                  \
        WK_GIVE_(wk_module *, f(WK_HERE, wk_l_ + 1, (int)(WK_BYTES_(wk_l_) / sizeof(wk_module *)) - 1));               \
    })
/* WK_NN_FLATTEN_1 has one argument or none */
#define wk_nn_flatten(...)          WK_NEW_MODULE_(WK_JOIN_(WK_NN_FLATTEN_, WK_COUNT_4_(__VA_ARGS__))(__VA_ARGS__))
#define WK_NN_FLATTEN_1(start)      WK_NN_FLATTEN_2(WK_NN_LAST_((const int64_t[]){1, start}), -1)
#define WK_NN_FLATTEN_2(start, end) wk_nn_flatten_at(WK_HERE, start, end)
#define WK_NN_FLATTEN_3             WK_NN_FLATTEN_2
#define WK_NN_FLATTEN_WK4_          WK_NN_FLATTEN_2
#define WK_NN_LAST_(...)            ((__VA_ARGS__)[sizeof(__VA_ARGS__) / sizeof(int64_t) - 1])
#define wk_nn_unflatten(dim, sizes) WK_NEW_MODULE_(WK_NN_UNFLATTEN_(WK_INTS_NAME_, dim, sizes))
#define WK_NN_UNFLATTEN_(wk_s_, dim, sizes)                                                                            \
    WK_SIZED_(wk_module *, wk_s_, sizes, "wk_nn_unflatten: write sizes in parentheses: wk_nn_unflatten(1, (2, 3))",    \
              WK_GIVE_(wk_module *, wk_nn_unflatten_at(WK_HERE, dim, wk_s_.at, wk_s_.count)))
#define wk_nn_layer_norm(...)                                                                                          \
    WK_NEW_MODULE_(WK_SHAPED_(wk_module *, wk_nn_layer_norm, wk_nn_layer_norm_options, #__VA_ARGS__, __VA_ARGS__))
#define wk_nn_batch_norm1d(...)                                                                                        \
    WK_NEW_MODULE_(WK_OPT_(wk_module *, wk_nn_batch_norm1d, wk_nn_batch_norm_options, __VA_ARGS__))
#define wk_nn_batch_norm2d(...)                                                                                        \
    WK_NEW_MODULE_(WK_OPT_(wk_module *, wk_nn_batch_norm2d, wk_nn_batch_norm_options, __VA_ARGS__))
#define wk_nn_batch_norm3d(...)                                                                                        \
    WK_NEW_MODULE_(WK_OPT_(wk_module *, wk_nn_batch_norm3d, wk_nn_batch_norm_options, __VA_ARGS__))
#define wk_nn_lazy_batch_norm1d(...)                                                                                   \
    WK_NEW_MODULE_(WK_OPT_AFTER_(wk_module *, wk_nn_lazy_batch_norm, (1), wk_nn_batch_norm_options, __VA_ARGS__))
#define wk_nn_lazy_batch_norm2d(...)                                                                                   \
    WK_NEW_MODULE_(WK_OPT_AFTER_(wk_module *, wk_nn_lazy_batch_norm, (2), wk_nn_batch_norm_options, __VA_ARGS__))
#define wk_nn_lazy_batch_norm3d(...)                                                                                   \
    WK_NEW_MODULE_(WK_OPT_AFTER_(wk_module *, wk_nn_lazy_batch_norm, (3), wk_nn_batch_norm_options, __VA_ARGS__))
#define wk_nn_instance_norm1d(...)                                                                                     \
    WK_NEW_MODULE_(WK_OPT_(wk_module *, wk_nn_instance_norm1d, wk_nn_instance_norm_options, __VA_ARGS__))
#define wk_nn_instance_norm2d(...)                                                                                     \
    WK_NEW_MODULE_(WK_OPT_(wk_module *, wk_nn_instance_norm2d, wk_nn_instance_norm_options, __VA_ARGS__))
#define wk_nn_instance_norm3d(...)                                                                                     \
    WK_NEW_MODULE_(WK_OPT_(wk_module *, wk_nn_instance_norm3d, wk_nn_instance_norm_options, __VA_ARGS__))
#define wk_nn_lazy_instance_norm1d(...)                                                                                \
    WK_NEW_MODULE_(WK_OPT_AFTER_(wk_module *, wk_nn_lazy_instance_norm, (1), wk_nn_instance_norm_options, __VA_ARGS__))
#define wk_nn_lazy_instance_norm2d(...)                                                                                \
    WK_NEW_MODULE_(WK_OPT_AFTER_(wk_module *, wk_nn_lazy_instance_norm, (2), wk_nn_instance_norm_options, __VA_ARGS__))
#define wk_nn_lazy_instance_norm3d(...)                                                                                \
    WK_NEW_MODULE_(WK_OPT_AFTER_(wk_module *, wk_nn_lazy_instance_norm, (3), wk_nn_instance_norm_options, __VA_ARGS__))
#define wk_nn_group_norm(groups, ...)                                                                                  \
    WK_NEW_MODULE_(                                                                                                    \
        WK_OPT2_(wk_module *, wk_nn_group_norm, wk_nn_group_norm_options, "groups, channels", groups, __VA_ARGS__))
#define wk_nn_rms_norm(...)                                                                                            \
    WK_NEW_MODULE_(WK_SHAPED_(wk_module *, wk_nn_rms_norm, wk_nn_rms_norm_options, #__VA_ARGS__, __VA_ARGS__))
#define wk_nn_local_response_norm(...)                                                                                 \
    WK_NEW_MODULE_(WK_OPT_(wk_module *, wk_nn_local_response_norm, wk_nn_local_response_norm_options, __VA_ARGS__))
#define wk_nn_embedding_bag(n, ...)                                                                                    \
    WK_NEW_MODULE_(WK_OPT2_(wk_module *, wk_nn_embedding_bag, wk_nn_embedding_bag_options, "n, dim", n, __VA_ARGS__))
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
