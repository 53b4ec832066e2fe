/* SPDX-License-Identifier: Apache-2.0 */
/* wick/parallel.h: several devices in one process: one network on all of them, and tensors that are handed round.
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
 * Devices of any kinds go together: cpu, opencl:0 and cuda:1, say. */
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

enum { WK_MIRRORED_DEVICES = 16 }; /* most devices of one mirrored network */

/* What becomes of a buffer (wk_module_set_buffer) that the replicas have changed in forward. */
typedef enum wk_mirrored_buffers {
    WK_BUFFERS_FIRST, /* that of the first device is kept: torch.nn.DataParallel */
    WK_BUFFERS_MEAN   /* of floats the mean over the devices, else the first: tf.distribute.MirroredStrategy */
} wk_mirrored_buffers;

typedef struct wk_mirrored_options {
    size_t size;
    wk_by_name by_name;
    wk_device output;            /* where results are gathered; default where the input was */
    wk_mirrored_buffers buffers; /* default WK_BUFFERS_FIRST */
    bool balance;                /* shares by the devices' speed, which the first steps measure; default equal ones */
    char reserved[3];
} wk_mirrored_options;

/* A module whose forward runs `model` on n devices, each with its share of the batch: dimension 0 of the first input
 * that has one. Inputs of that size there are split, 96 over 5 devices as 20, 19, 19, 19, 19; others go to each device
 * whole. With fewer samples than devices the last ones are idle. Results are gathered along dimension 0 (those without
 * dimensions are stacked), so that a loss over the whole batch is computed as ever; a loss that the model itself gives
 * comes once for each device, and its mean is that of the batch where shares are equal.
 *
 * There is one set of parameters: wk_parameters(many) are the model's, under the same names, so files of the one can
 * be loaded into the other. They are moved to devices[0]; wk_module_to moves them elsewhere, while the devices that
 * compute stay. While a replica runs, a parameter's handle stands for a copy on its device, which is made anew when the
 * parameter has changed. Gradients are added in the order of devices: the same bits each time. CUDA devices send those
 * of more than 2 MB to the parameters' device while backward goes on, where they lie until it ends: n - 1 times the
 * bytes of these parameters. Copies are there to be read; what forward writes into one in place is lost, but on the
 * parameter's own device.
 *
 * A step is that of one device but for rounding, as sums over shares add up in another order; what training makes of
 * that grows with the number of steps.
 *
 * In forward, tensors that name no device are made on that of the replica, if the program's default device is one of
 * `devices`. Tensors that a module of one's own keeps must be parameters or buffers, as others stay where they are.
 * Random numbers (dropout) are drawn by one replica after the other: accelerators in the order of `devices`, then the
 * CPU. The first forward of a model with lazy layers runs on devices[0] alone. Forward may run in one thread at a time.
 *
 * WK_ERR_ARGUMENT for no device, more than WK_MIRRORED_DEVICES, one that is named twice, a model that is or has a
 * mirrored one; WK_ERR_DEVICE for one that is not there. The model stays usable by itself. */
WK_RESULT_API wk_module *wk_mirrored_at(wk_site site, wk_module *model, const wk_device *devices, int n,
                                        const wk_mirrored_options *options);

/* How copies go from one of its devices to another. */
typedef enum wk_copy_path {
    WK_COPY_NONE, /* there is one device */
    WK_COPY_PEER, /* by the driver, or the backend, from device to device */
    WK_COPY_HOST  /* through the host's memory, between the first and one other at least: that is of another kind, or a
                   * card without peer access */
} wk_copy_path;

/* What a mirrored network does. Times and rates are means over three steps of training after the eighth, in which the
 * devices are waited for between the parts of a step, and no copy goes beside computing; before that they are 0. */
typedef struct wk_mirrored_stats {
    size_t size; /* sizeof(wk_mirrored_stats), set by the caller */
    int32_t devices;
    wk_copy_path path;
    wk_device device[WK_MIRRORED_DEVICES];
    double share[WK_MIRRORED_DEVICES];   /* of a batch that each is given; together 1 */
    double forward[WK_MIRRORED_DEVICES]; /* seconds of its share's forward */
    int64_t steps;                       /* forwards with gradients on more than one device so far */
    int64_t copied_bytes;        /* bytes of parameters, inputs and results that were copied between devices so far */
    double all_reduce_bandwidth; /* bytes of gradients added and brought together in a second */
    /* shares of a step; what is left of 1 is the host's: the loss, the optimiser, the program's own work */
    double compute, communication, input_wait;
} wk_mirrored_stats;
/* WK_OK or a code: WK_ERR_ARGUMENT for a module that is not mirrored. With WICK_LOG=parallel the same is a line of the
 * log, once for each network. */
WK_API wk_code wk_mirrored_stats_of_at(wk_site site, const wk_module *many, wk_mirrored_stats *stats);

typedef struct wk_data_parallel_options {
    size_t size;
    wk_by_name by_name;
    const wk_device *devices; /* [count]; default all GPUs (wk_try_all_gpus) */
    int32_t count;
    wk_device output; /* default the first of devices, as in PyTorch */
    char reserved[4];
} wk_data_parallel_options;
/* torch.nn.DataParallel: wk_mirrored with PyTorch's defaults. */
WK_RESULT_API wk_module *wk_nn_data_parallel_at(wk_site site, wk_module *model,
                                                const wk_data_parallel_options *options);

/* ---- by hand ----------------------------------------------------------------------------------------------------- */

/* torch.cuda.comm and the book's chapter on several GPUs. All begin what was recorded so far (wk_flush), so that the
 * devices are at work while the host goes on; all have gradients, but for the one in place. What is made belongs to the
 * list. */

/* x split along dimension 0 as wk_mirrored does, a part on each device; with fewer samples than devices there are as
 * many parts as samples. WK_ERR_SHAPE for x without dimensions. */
WK_RESULT_API wk_tensors *wk_devices_scatter_at(wk_site site, wk_tensor *x, const wk_device *devices, int n);
/* The tensors of a list one behind the other along dimension 0, on `device`; those without dimensions are stacked. */
WK_RESULT_API wk_tensor *wk_devices_gather_at(wk_site site, const wk_tensors *list, wk_device device);
/* x on each device; where it is already, the same memory. Gradients are added in the order of devices. */
WK_RESULT_API wk_tensors *wk_devices_broadcast_at(wk_site site, wk_tensor *x, const wk_device *devices, int n);
/* The sum of all tensors of a list, in its order, on the device of each (f16 and bf16 are added in f32).
 * WK_ERR_SHAPE, WK_ERR_DTYPE when they differ. */
WK_RESULT_API wk_tensors *wk_devices_all_reduce_at(wk_site site, const wk_tensors *list);
/* The same in place: each tensor is written over. Returns the list.
 *
 *     wk_devices_all_reduce_(wk_list((wk_grad_of(a), wk_grad_of(b)))); */
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
