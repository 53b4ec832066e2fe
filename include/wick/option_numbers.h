/* SPDX-License-Identifier: Apache-2.0 */
/* wick/option_numbers.h: the doubles of each struct of options that a header of this folder declares; see macros.h. */
/* Written by scripts/generate_ops.py from those structs: edit those. */
#ifndef WICK_OPTION_NUMBERS_H
#define WICK_OPTION_NUMBERS_H

#ifndef __cplusplus
#define wk_backward_options_numbers_(wk_do_, wk_o_)
#define wk_call_options_numbers_(wk_do_, wk_o_)
#define wk_checkpoint_options_numbers_(wk_do_, wk_o_)
#define wk_data_parallel_options_numbers_(wk_do_, wk_o_)
#define wk_ddp_options_numbers_(wk_do_, wk_o_) wk_do_(wk_o_, bucket_cap_mb)
#define wk_dist_call_options_numbers_(wk_do_, wk_o_)
#define wk_dist_reduce_options_numbers_(wk_do_, wk_o_)
#define wk_grad_options_numbers_(wk_do_, wk_o_)
#define wk_hook_options_numbers_(wk_do_, wk_o_)
#define wk_load_options_numbers_(wk_do_, wk_o_) wk_do_(wk_o_, strict)
#define wk_mirrored_options_numbers_(wk_do_, wk_o_)
#endif

#endif
