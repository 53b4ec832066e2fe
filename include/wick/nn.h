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

/* wk_nn_sequential(a, b, ...) or wk_nn_sequential((a, b, ...)): Creates a module that calls its children "0", "1",
 * ... in order. For an array: wk_nn_sequential_at(WK_HERE, modules, count).
 * PyTorch:   torch.nn.Sequential */
WK_RESULT_API wk_module *wk_nn_sequential_at(wk_site site, wk_module *const *modules, int count);
/* wk_nn_module_list(a, b, ...): Creates a container of modules, without forward.
 * PyTorch:   torch.nn.ModuleList */
WK_RESULT_API wk_module *wk_nn_module_list_at(wk_site site, wk_module *const *modules, int count);

/* wk_nn_flatten(): Merges all dimensions but the first.
 * Shapes:    (B, ...) -> (B, product of the rest) */
WK_RESULT_API wk_module *wk_nn_flatten_at(wk_site site);
/* Activations: see wk_relu, wk_sigmoid, wk_tanh and wk_gelu. */
WK_RESULT_API wk_module *wk_nn_relu_at(wk_site site);
WK_RESULT_API wk_module *wk_nn_sigmoid_at(wk_site site);
WK_RESULT_API wk_module *wk_nn_tanh_at(wk_site site);
WK_RESULT_API wk_module *wk_nn_gelu_at(wk_site site);
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
    bool no_running_stats; /* without buffers: evaluation, too, uses the statistics of its input; default false */
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
    wk_dtype dtype;   /* default f32 */
    wk_device device; /* default WK_DEVICE, else the CPU */
    char reserved[4];
} wk_nn_embedding_options;
/* wk_nn_embedding(n, dim): Creates a layer that selects rows of its parameter weight (n, dim), initialised from the
 * standard normal distribution.
 * Shapes:    integers (...) -> (..., dim)
 * PyTorch:   torch.nn.Embedding */
WK_RESULT_API wk_module *wk_nn_embedding_at(wk_site site, int64_t n, int64_t dim,
                                            const wk_nn_embedding_options *options);

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
#define wk_forward(...)                     WK_NEW_TENSOR_(wk_forward_at(WK_HERE, __VA_ARGS__))
#define wk_module_train(m, training)        wk_module_train_at(WK_HERE, m, training)
#define wk_nn_flatten()                     WK_NEW_MODULE_(wk_nn_flatten_at(WK_HERE))
#define wk_nn_relu()                        WK_NEW_MODULE_(wk_nn_relu_at(WK_HERE))
#define wk_nn_sigmoid()                     WK_NEW_MODULE_(wk_nn_sigmoid_at(WK_HERE))
#define wk_nn_tanh()                        WK_NEW_MODULE_(wk_nn_tanh_at(WK_HERE))
#define wk_nn_gelu()                        WK_NEW_MODULE_(wk_nn_gelu_at(WK_HERE))
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
#define wk_module_to(...) wk_module_to_at(WK_HERE, __VA_ARGS__)
#else

#define wk_list(...)                                                                                                   \
    WK_NEW_TENSORS_(WK_JOIN_(WK_LIST_OF_, WK_COUNT_(__VA_ARGS__))(WK_LIST_NAME_, #__VA_ARGS__, __VA_ARGS__))

#define WK_LIST_OF_TEXT_(said)            "wk_list: write tensors in parentheses of their own: wk_list((" said "))"
#define WK_LIST_OF_WK2_(wk_l_, said, ...) WK_REFUSE_(wk_tensors *, WK_LIST_OF_TEXT_(said))
#define WK_LIST_OF_1(wk_l_, said, list)                                                                                \
    WK_LISTED_(wk_tensors *, wk_l_, list, WK_LIST_OF_TEXT_(said),                                                      \
               WK_GIVE_(wk_tensors *, wk_list_at(WK_HERE, wk_l_.at, wk_l_.count)))

#define wk_forward_n(m, list, out, outputs) WK_FORWARD_N_(m, list, out, outputs, WK_LIST_NAME_)
#define WK_FORWARD_N_(m, list, out, outputs, wk_l_)                                                                    \
    WK_LISTED_(int, wk_l_, list, "wk_forward_n: write tensors in parentheses: wk_forward_n(m, (x, y), out, outputs)",  \
               WK_GIVE_(int, wk_forward_n_at(WK_HERE, m, wk_l_.at, wk_l_.count, out, outputs)))

/* The doubles of each struct of options whose default may be other than 0 (macros.h). */
#define wk_nn_linear_options_numbers_(wk_do_, wk_o_)
#define wk_nn_layer_norm_options_numbers_(wk_do_, wk_o_)    wk_do_(wk_o_, eps)
#define wk_nn_batch_norm_options_numbers_(wk_do_, wk_o_)    wk_do_(wk_o_, eps) wk_do_(wk_o_, momentum)
#define wk_nn_instance_norm_options_numbers_(wk_do_, wk_o_) wk_do_(wk_o_, eps) wk_do_(wk_o_, momentum)
#define wk_nn_group_norm_options_numbers_(wk_do_, wk_o_)    wk_do_(wk_o_, eps)
#define wk_nn_rms_norm_options_numbers_(wk_do_, wk_o_)      wk_do_(wk_o_, eps)
#define wk_nn_local_response_norm_options_numbers_(wk_do_, wk_o_)                                                      \
    wk_do_(wk_o_, alpha) wk_do_(wk_o_, beta) wk_do_(wk_o_, k)
#define wk_nn_embedding_options_numbers_(wk_do_, wk_o_)
#define wk_init_options_numbers_(wk_do_, wk_o_) wk_do_(wk_o_, gain)

#define wk_module_to(...) WK_ON_DEVICE_(wk_module *, wk_module_to, __VA_ARGS__)
#define wk_nn_linear(in, ...)                                                                                          \
    WK_NEW_MODULE_(WK_OPT2_(wk_module *, wk_nn_linear, wk_nn_linear_options, "in, out", in, __VA_ARGS__))
#define wk_nn_lazy_linear(...)                                                                                         \
    WK_NEW_MODULE_(WK_OPT_(wk_module *, wk_nn_lazy_linear, wk_nn_linear_options, __VA_ARGS__))
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
