/* SPDX-License-Identifier: Apache-2.0 */
/* wick.h: includes all of Wick, a deep-learning library in plain C.
 *
 *     #include <wick.h>
 *
 *     int main(void)
 *     {
 *         WK_SCOPE;                                             // frees everything created below at the closing brace
 *         wk_device gpu = wk_try_gpu(0);                        // cuda:0, else opencl:0, else cpu
 *         wk_tensor *x = wk_ones((2, 3), .device = gpu);        // keyword arguments
 *         wk_tensor *y = wk_rand((2, 3), .device = gpu);
 *         wk_print(wk_mul(wk_exp(wk_add(x, 2)), y));            // no temporaries to free, one fused kernel
 *         return wk_error() ? wk_report_error(stderr) : 0;      // the first error
 *     }
 *
 * Read in this order: core.h (call sites, dtypes, errors), device.h, tensor.h (scopes, creating, reading), creation.h
 * (factories, copies), ops.h, autograd.h, nn.h, nn_recurrent.h, nn_vision.h, nn_transformer.h, nn_bert.h, nn_lora.h,
 * models.h, language.h, optim.h, schedule.h, data.h, progress.h, text.h, io.h, plot.h and tensorboard.h (curves),
 * image.h, checkpoint.h, parallel.h (several devices), dist.h (several processes); then log.h and event.h (logging,
 * timing), and for bindings call.h (every op by name) and dlpack.h (memory shared with other libraries). */
#ifndef WICK_H
#define WICK_H

#include "wick/core.h"
#include "wick/device.h"
#include "wick/tensor.h"
#include "wick/ops.h"
#include "wick/autograd.h"
#include "wick/nn.h"
#include "wick/nn_recurrent.h"
#include "wick/nn_vision.h"
#include "wick/nn_transformer.h"
#include "wick/nn_bert.h"
#include "wick/nn_lora.h"
#include "wick/models.h"
#include "wick/language.h"
#include "wick/optim.h"
#include "wick/schedule.h"
#include "wick/data.h"
#include "wick/progress.h"
#include "wick/text.h"
#include "wick/io.h"
#include "wick/plot.h"
#include "wick/tensorboard.h"
#include "wick/image.h"
#include "wick/checkpoint.h"
#include "wick/parallel.h"
#include "wick/dist.h"
#include "wick/log.h"
#include "wick/event.h"
#include "wick/call.h"
#include "wick/dlpack.h"

#endif
