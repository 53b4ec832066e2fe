/* SPDX-License-Identifier: Apache-2.0 */
/* wick/parallel.h: several devices in one process: one network on all of them, and collectives among them.
 *
 *     wk_device devices[8];
 *     int n = wk_try_all_gpus(devices, 8);
 *     wk_module *many = wk_mirrored(net, devices, n);
 *     wk_optim *sgd = wk_optim_sgd(wk_parameters(many), .lr = 0.1);
 *     WK_EACH(batch, batches) {
 *         wk_tensor *loss = wk_cross_entropy(wk_forward(many, batch->x), batch->y);
 *         wk_optim_zero_grad(sgd);
 *         wk_backward(loss);
 *         wk_optim_step(sgd);
 *     }
 *
 * Kinds may be mixed: cpu, opencl:0 and cuda:1. */
#ifndef WICK_PARALLEL_H
#define WICK_PARALLEL_H

#if !defined __cplusplus && !defined __clang__
#pragma GCC system_header /* see macros.h */
#endif

#include "nn.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- one network on several devices ------------------------------------------------------------------------------ */

enum { WK_MIRRORED_DEVICES = 16 }; /* maximum number of devices of a mirrored network */

/* The value of a buffer (wk_module_set_buffer) that replicas have changed in forward. */
typedef enum wk_mirrored_buffers {
    WK_BUFFERS_FIRST, /* that of the first device, as torch.nn.DataParallel */
    WK_BUFFERS_MEAN   /* the mean of floating buffers, else the first; as tf.distribute.MirroredStrategy */
} wk_mirrored_buffers;

typedef struct wk_mirrored_options {
    size_t size;
    wk_by_name by_name;
    wk_device output;            /* of the results; default that of the input */
    wk_mirrored_buffers buffers; /* default WK_BUFFERS_FIRST */
    bool balance;                /* shares by measured speed of the devices; default false: equal shares */
    char reserved[3];
} wk_mirrored_options;

/* wk_mirrored(model, devices, n): Creates a module whose forward runs model on n devices, each with its share of
 * the batch.
 *
 * Batch:     dimension 0 of the first input that has one. Inputs of this size are split, 96 over 5 devices as 20,
 *            19, 19, 19, 19; others are copied to each device entirely. With fewer samples than devices the last
 *            devices are idle. Results are joined along dimension 0 (those without dimensions are stacked), so a
 *            loss of the entire batch needs no change. A loss computed inside the model comes once per device; with
 *            equal shares the mean of them is that of the batch.
 *
 * Parameters:there is one set, that of model under its names, so files of both are interchangeable. It moves to
 *            devices[0]; wk_module_to moves it elsewhere, and the devices that compute stay. In a replica a
 *            parameter's handle is a copy on its device, made again after the parameter has changed. A write to a
 *            copy in place is lost, except on the parameter's own device.
 *
 * Gradients: are added in the order of devices, so results are the same bits each time. CUDA devices send those
 *            above 2 MB during backward, which takes n - 1 times the bytes of these parameters until it ends. A
 *            step equals that of one device up to rounding, as sums have another order; training may amplify the
 *            difference.
 *
 * Forward:   tensors without a device are created on the replica's device if the default device is one of devices.
 *            Tensors that a custom module keeps must be parameters or buffers. Random numbers (dropout) are drawn
 *            by one replica after another: accelerators in the order of devices, then the CPU. The first forward of
 *            a model with lazy layers runs on devices[0] alone. Only one thread at a time may run forward. model
 *            alone remains usable.
 * Errors:    WK_ERR_ARGUMENT if n is 0 or greater than WK_MIRRORED_DEVICES, a device is listed twice, or model
 *            contains a mirrored module; WK_ERR_DEVICE if a device does not exist
 * PyTorch:   torch.nn.DataParallel */
WK_RESULT_API wk_module *wk_mirrored_at(wk_site site, wk_module *model, const wk_device *devices, int n,
                                        const wk_mirrored_options *options);

/* The path of copies between the devices of a mirrored network. */
typedef enum wk_copy_path {
    WK_COPY_NONE, /* one device, no copies */
    WK_COPY_PEER, /* from device to device, by driver or backend */
    WK_COPY_HOST  /* through host memory between the first device and at least one other, of another kind or without
                   * peer access */
} wk_copy_path;

/* Measurements of a mirrored network. Times and rates are means over three training steps after the eighth, in
 * which the host waits between the parts of a step and copies do not overlap with computing; 0 before that. */
typedef struct wk_mirrored_stats {
    size_t size; /* sizeof(wk_mirrored_stats), set by the caller */
    int32_t devices;
    wk_copy_path path;
    wk_device device[WK_MIRRORED_DEVICES];
    double share[WK_MIRRORED_DEVICES];   /* of the batch, adding up to 1 */
    double forward[WK_MIRRORED_DEVICES]; /* seconds of forward */
    int64_t steps;                       /* number of forwards with gradients on several devices */
    int64_t copied_bytes;                /* bytes of parameters, inputs and results copied between devices so far */
    double all_reduce_bandwidth;         /* bytes of gradients reduced per second */
    /* fractions of a step; the rest is the host's: loss, optimiser, the program's own work */
    double compute, communication, input_wait;
} wk_mirrored_stats;
/* wk_mirrored_stats_of(many, stats): Fills *stats, whose size the caller sets. WICK_LOG=parallel logs the same once
 * for each network.
 * Returns:   WK_OK or an error code
 * Errors:    WK_ERR_ARGUMENT if many is not mirrored */
WK_API wk_code wk_mirrored_stats_of_at(wk_site site, const wk_module *many, wk_mirrored_stats *stats);

typedef struct wk_data_parallel_options {
    size_t size;
    wk_by_name by_name;
    const wk_device *devices; /* [count]; default all GPUs, as by wk_try_all_gpus */
    int32_t count;
    wk_device output; /* of the results; default the first of devices */
    char reserved[4];
} wk_data_parallel_options;
/* wk_nn_data_parallel(model): Creates a mirrored module with PyTorch's defaults.
 * PyTorch:   torch.nn.DataParallel */
WK_RESULT_API wk_module *wk_nn_data_parallel_at(wk_site site, wk_module *model,
                                                const wk_data_parallel_options *options);

/* ---- collectives among devices ----------------------------------------------------------------------------------- */

/* As torch.cuda.comm. Each call starts the recorded work (wk_flush), so that devices compute while the host
 * continues. All but the one in place are differentiable. A returned list owns its tensors. n is the number of
 * devices. */

/* wk_devices_scatter(x, devices, n): Splits x along dimension 0, as wk_mirrored does, with one part on each device;
 * with fewer samples than devices there are as many parts as samples.
 * Returns:   the list of parts; NULL on error
 * Errors:    WK_ERR_SHAPE if x has no dimensions */
WK_RESULT_API wk_tensors *wk_devices_scatter_at(wk_site site, wk_tensor *x, const wk_device *devices, int n);
/* wk_devices_gather(list, device): Concatenates the tensors of a list along dimension 0 on device; those without
 * dimensions are stacked.
 * Returns:   the tensor; NULL on error */
WK_RESULT_API wk_tensor *wk_devices_gather_at(wk_site site, const wk_tensors *list, wk_device device);
/* wk_devices_broadcast(x, devices, n): Copies x to each device; on its own device the copy shares its memory.
 * Gradients are added in the order of devices.
 * Returns:   the list of copies; NULL on error */
WK_RESULT_API wk_tensors *wk_devices_broadcast_at(wk_site site, wk_tensor *x, const wk_device *devices, int n);
/* wk_devices_all_reduce(list): Adds the tensors of a list in its order (f16 and bf16 in f32), with the sum on the
 * device of each.
 * Returns:   the list of sums; NULL on error
 * Errors:    WK_ERR_SHAPE if shapes differ; WK_ERR_DTYPE if dtypes differ */
WK_RESULT_API wk_tensors *wk_devices_all_reduce_at(wk_site site, const wk_tensors *list);
/* wk_devices_all_reduce_(list): The same in place: overwrites each tensor.
 * Returns:   list; NULL on error
 * Errors:    as wk_devices_all_reduce; WK_ERR_STATE if a tensor requires grad or its elements share memory
 * Example:   wk_devices_all_reduce_(wk_list((wk_grad_of(a), wk_grad_of(b)))); */
WK_API wk_tensors *wk_devices_all_reduce__at(wk_site site, wk_tensors *list);

#define wk_devices_scatter(x, devices, n)   WK_NEW_TENSORS_(wk_devices_scatter_at(WK_HERE, x, devices, n))
#define wk_devices_gather(list, device)     WK_NEW_TENSOR_(wk_devices_gather_at(WK_HERE, list, device))
#define wk_devices_broadcast(x, devices, n) WK_NEW_TENSORS_(wk_devices_broadcast_at(WK_HERE, x, devices, n))
#define wk_devices_all_reduce(list)         WK_NEW_TENSORS_(wk_devices_all_reduce_at(WK_HERE, list))
#define wk_devices_all_reduce_(list)        wk_devices_all_reduce__at(WK_HERE, list)
#define wk_mirrored_stats_of(module, stats) wk_mirrored_stats_of_at(WK_HERE, module, stats)

#ifndef __cplusplus
#define wk_mirrored(model, devices, ...)                                                                               \
    WK_NEW_MODULE_(                                                                                                    \
        WK_OPT3_(wk_module *, wk_mirrored, wk_mirrored_options, "model, devices, n", model, devices, __VA_ARGS__))
#define wk_nn_data_parallel(...)                                                                                       \
    WK_NEW_MODULE_(WK_OPT_(wk_module *, wk_nn_data_parallel, wk_data_parallel_options, __VA_ARGS__))
#endif

#ifdef __cplusplus
}
#endif
#endif
