/* SPDX-License-Identifier: Apache-2.0 */
/* Generated functions of wick/shape.h. Section: padding and shuffling: new tensors.
 *
 *     wk__invoke_NAME        entry for wk_call: returns the number of results in out[], -1 on error */
/* Written by scripts/generate_ops.py from src/ops/specs/shape: edit those. */
#include "ops/core/entries.h"

/* ---- pad --------------------------------------------------------------------------------------------------------- */

int wk__invoke_pad(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    int count;
    const int64_t *pad = wk__value_dims(&args[1], &count);
    const int mode = wk__value_choice(site, "pad", "mode", &args[2],
                                      (const char *const[]){"constant", "reflect", "replicate", "circular", NULL});
    if (mode < 0) return -1;
    const wk_pad_options options = {.size = sizeof options, .mode = 201 + mode, .value = wk__value_option(&args[3])};
    return wk__return_one(out, wk_pad_at(site, wk__value_tensor(&args[0]), pad, count, &options));
}

/* ---- pixel_shuffle ----------------------------------------------------------------------------------------------- */

int wk__invoke_pixel_shuffle(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    return wk__return_one(out, wk_pixel_shuffle_at(site, wk__value_tensor(&args[0]), wk__value_int(&args[1], 0)));
}

/* ---- pixel_unshuffle --------------------------------------------------------------------------------------------- */

int wk__invoke_pixel_unshuffle(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    return wk__return_one(out, wk_pixel_unshuffle_at(site, wk__value_tensor(&args[0]), wk__value_int(&args[1], 0)));
}

/* ---- channel_shuffle --------------------------------------------------------------------------------------------- */

int wk__invoke_channel_shuffle(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out)
{
    (void)op;
    return wk__return_one(out, wk_channel_shuffle_at(site, wk__value_tensor(&args[0]), wk__value_int(&args[1], 0)));
}
