/* SPDX-License-Identifier: Apache-2.0 */
/* wick/checkpoint.h: trainings that go on where they were: the state of an optimiser in a file, and a whole training.
 *
 *     wk_checkpoint *resume = wk_checkpoint_new("run.wick", net, optim, batches);
 *     if (wk_checkpoint_load(resume)) printf("goes on after step %lld\n", (long long)wk_checkpoint_step(resume));
 *     for (int64_t epoch = wk_loader_epoch(batches); epoch < 10 && !wk_error(); epoch++)
 *         WK_EACH(batch, batches) {
 *             ...
 *             wk_optim_step(optim);
 *             wk_checkpoint_every(resume, 100);
 *         }
 *     wk_checkpoint_wait(resume);
 *
 * Killed at any moment and started again, it ends with the same numbers, bit for bit.
 */
#ifndef WICK_CHECKPOINT_H
#define WICK_CHECKPOINT_H

#if !defined __cplusplus && !defined __clang__
#pragma GCC system_header /* see macros.h */
#endif

#include "data.h"
#include "io.h"
#include "optim.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct wk_checkpoint wk_checkpoint; /* a training, and the file that it goes on from */

/* ---- the state of an optimiser ----------------------------------------------------------------------------------- */

/* What an optimiser keeps for its parameters, with the names of torch's state_dict behind those that the parameters had
 * in their list: "0.weight.exp_avg", "0.weight.step". The numbers of now: later steps leave the list as it is. NULL with
 * the error recorded. */
WK_API wk_tensors *wk_optim_state_at(wk_site site, wk_optim *optim);
/* The same in a safetensors file, with kind, groups and options of the optimiser, to the bit (docs/formats.md). Refuses
 * while an error is pending, whose code it gives, and leaves an older file as it is. WK_OK or a code: WK_ERR_IO when the
 * system refuses, WK_ERR_STATE within the closure of lbfgs.
 *
 *     wk_save(net, "net.safetensors");
 *     wk_optim_save(adam, "adam.safetensors"); */
WK_API wk_code wk_optim_save_at(wk_site site, wk_optim *optim, const char *path);
/* The same back into an optimiser of the same kind, with the same parameters in the same groups, on whatever device they
 * are. Options are those of the file from then on, learning rates too, as torch's load_state_dict has it. Strict: the
 * message names the first thing in which optimiser and file differ, and nothing is changed. WK_OK or a code: WK_ERR_IO
 * when the system refuses, WK_ERR_FORMAT for a file that is no such file, WK_ERR_ARGUMENT for another kind, groups or
 * names, WK_ERR_SHAPE and WK_ERR_DTYPE for tensors that do not match. torch.optim.Optimizer.load_state_dict. */
WK_API wk_code wk_optim_load_at(wk_site site, wk_optim *optim, const char *path);

#define wk_optim_state(optim)      wk_optim_state_at(WK_HERE, optim)
#define wk_optim_save(optim, path) wk_optim_save_at(WK_HERE, optim, path)
#define wk_optim_load(optim, path) wk_optim_load_at(WK_HERE, optim, path)

#ifdef __cplusplus
}
#endif
#endif
