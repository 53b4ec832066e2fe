/* SPDX-License-Identifier: Apache-2.0 */
/* The signatures of the ops of wick/random.h: what their descriptors begin with. The compiler refuses a member that
 * the op's file sets as well. */
/* Written by scripts/generate_ops.py from src/ops/specs/random: edit those. */
#ifndef WICK_OPS_GENERATED_RANDOM_H
#define WICK_OPS_GENERATED_RANDOM_H

#include "base/options.h"
#include "ops/core/call.h"
#include <wick/call.h>
#include <wick/random.h>

/* Entries for wk_call of ops that take more than tensors. */
int wk__invoke_uniform_(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_normal_(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_bernoulli(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_dropout(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_dropout1d(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_dropout2d(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_dropout3d(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_alpha_dropout(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_feature_alpha_dropout(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_multinomial(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);

extern const wk_parameter wk__parameters_uniform_[];
extern const wk_parameter wk__parameters_normal_[];
extern const wk_parameter wk__parameters_bernoulli[];
extern const wk_parameter wk__parameters_dropout[];
extern const wk_parameter wk__parameters_alpha_dropout[];
extern const wk_parameter wk__parameters_multinomial[];

#define WK__SIGNATURE_uniform_                                                                                         \
    .name = "uniform_", .schema = "uniform_(Tensor(a!) self, float from=0, float to=1) -> Tensor(a!)",                 \
    .category = "random", .doc = "Fills x from the uniform distribution over [from, to).",                             \
    .grad_fn_name = "UniformBackward0", .dtypes = WK__FLOATS, .parameters = wk__parameters_uniform_,                   \
    .parameter_count = 3, .results = 1, .invoke = wk__invoke_uniform_

#define WK__SIGNATURE_normal_                                                                                          \
    .name = "normal_", .schema = "normal_(Tensor(a!) self, float mean=0, float std=1) -> Tensor(a!)",                  \
    .category = "random", .doc = "Fills x from the normal distribution with this mean and standard deviation.",        \
    .grad_fn_name = "NormalBackward0", .dtypes = WK__FLOATS, .parameters = wk__parameters_normal_,                     \
    .parameter_count = 3, .results = 1, .invoke = wk__invoke_normal_

#define WK__SIGNATURE_bernoulli                                                                                        \
    .name = "bernoulli", .schema = "bernoulli(Tensor self) -> Tensor", .category = "random",                           \
    .doc = "Draws 1 with probability x, else 0, for each element.", .grad_fn_name = "BernoulliBackward0",              \
    .dtypes = WK__FLOATS, .parameters = wk__parameters_bernoulli, .parameter_count = 1, .results = 1,                  \
    .invoke = wk__invoke_bernoulli

#define WK__SIGNATURE_dropout                                                                                          \
    .name = "dropout", .schema = "dropout(Tensor input, float p=0.5, bool training=True) -> Tensor",                   \
    .category = "random", .doc = "Sets each element to 0 with probability p and divides the others by 1 - p.",         \
    .grad_fn_name = "MulBackward0", .dtypes = WK__FLOATS, .parameters = wk__parameters_dropout, .parameter_count = 3,  \
    .results = 1, .invoke = wk__invoke_dropout

#define WK__SIGNATURE_dropout1d                                                                                        \
    .name = "dropout1d", .schema = "dropout1d(Tensor input, float p=0.5, bool training=True) -> Tensor",               \
    .category = "random",                                                                                              \
    .doc = "Sets each channel of each sample to 0 with probability p and divides the others by 1 - p.",                \
    .grad_fn_name = "MulBackward0", .dtypes = WK__FLOATS, .parameters = wk__parameters_dropout, .parameter_count = 3,  \
    .results = 1, .invoke = wk__invoke_dropout1d

#define WK__SIGNATURE_dropout2d                                                                                        \
    .name = "dropout2d", .schema = "dropout2d(Tensor input, float p=0.5, bool training=True) -> Tensor",               \
    .category = "random",                                                                                              \
    .doc = "Sets each channel of each sample to 0 with probability p and divides the others by 1 - p.",                \
    .grad_fn_name = "MulBackward0", .dtypes = WK__FLOATS, .parameters = wk__parameters_dropout, .parameter_count = 3,  \
    .results = 1, .invoke = wk__invoke_dropout2d

#define WK__SIGNATURE_dropout3d                                                                                        \
    .name = "dropout3d", .schema = "dropout3d(Tensor input, float p=0.5, bool training=True) -> Tensor",               \
    .category = "random",                                                                                              \
    .doc = "Sets each channel of each sample to 0 with probability p and divides the others by 1 - p.",                \
    .grad_fn_name = "MulBackward0", .dtypes = WK__FLOATS, .parameters = wk__parameters_dropout, .parameter_count = 3,  \
    .results = 1, .invoke = wk__invoke_dropout3d

#define WK__SIGNATURE_alpha_dropout                                                                                    \
    .name = "alpha_dropout", .schema = "alpha_dropout(Tensor input, float p=0.5, bool training=False) -> Tensor",      \
    .category = "random", .doc = "Sets each element to -1.7581 with probability p, then scales and shifts all.",       \
    .grad_fn_name = "AddBackward0", .dtypes = WK__FLOATS, .parameters = wk__parameters_alpha_dropout,                  \
    .parameter_count = 3, .results = 1, .invoke = wk__invoke_alpha_dropout

#define WK__SIGNATURE_feature_alpha_dropout                                                                            \
    .name = "feature_alpha_dropout",                                                                                   \
    .schema = "feature_alpha_dropout(Tensor input, float p=0.5, bool training=False) -> Tensor", .category = "random", \
    .doc = "Applies wk_alpha_dropout to each channel of each sample, that is each index of dimensions 0 and 1.",       \
    .grad_fn_name = "AddBackward0", .dtypes = WK__FLOATS, .parameters = wk__parameters_alpha_dropout,                  \
    .parameter_count = 3, .results = 1, .invoke = wk__invoke_feature_alpha_dropout

#define WK__SIGNATURE_multinomial                                                                                      \
    .name = "multinomial", .schema = "multinomial(Tensor self, int num_samples, bool replacement=False) -> Tensor",    \
    .category = "random", .doc = "Draws count indices with the probabilities in each row of x.", .dtypes = WK__FLOATS, \
    .parameters = wk__parameters_multinomial, .parameter_count = 3, .results = 1, .invoke = wk__invoke_multinomial

#endif
