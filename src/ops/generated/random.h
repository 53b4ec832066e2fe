/* SPDX-License-Identifier: Apache-2.0 */
/* The signatures of the ops of wick/random.h: what their descriptors begin with. The compiler refuses a member that
 * the op's file sets as well. */
/* Written by scripts/generate_ops.py from src/ops/rows/random: edit those. */
#ifndef WICK_OPS_GENERATED_RANDOM_H
#define WICK_OPS_GENERATED_RANDOM_H

#include "../../base/options.h"
#include "../call.h"
#include <wick/random.h>

/* The entries for wk_call of ops that take more than tensors. */
int wk__invoke_uniform_(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_normal_(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_bernoulli(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_dropout(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_multinomial(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);

#define WK__SIGNATURE_uniform_                                                                                         \
    .name = "uniform_", .schema = "uniform_(Tensor(a!) self, float from=0, float to=1) -> Tensor(a!)",                 \
    .group = "random", .doc = "every element becomes uniform in [from, to)", .node = "UniformBackward0",               \
    .domain = WK__FLOATS,                                                                                              \
    .parameters =                                                                                                      \
        (const wk_parameter[]){                                                                                        \
            {.size = sizeof(wk_parameter), .name = "self", .doc = "", .kind = WK_VALUE_TENSOR, .written = true},       \
            {.size = sizeof(wk_parameter),                                                                             \
             .name = "from",                                                                                           \
             .doc = "",                                                                                                \
             .kind = WK_VALUE_FLOAT,                                                                                   \
             .optional = true,                                                                                         \
             .default_value = {.kind = WK_VALUE_FLOAT, .f = 0}},                                                       \
            {.size = sizeof(wk_parameter),                                                                             \
             .name = "to",                                                                                             \
             .doc = "",                                                                                                \
             .kind = WK_VALUE_FLOAT,                                                                                   \
             .optional = true,                                                                                         \
             .default_value = {.kind = WK_VALUE_FLOAT, .f = 1}}},                                                      \
    .parameter_count = 3, .results = 1, .invoke = wk__invoke_uniform_

#define WK__SIGNATURE_normal_                                                                                          \
    .name = "normal_", .schema = "normal_(Tensor(a!) self, float mean=0, float std=1) -> Tensor(a!)",                  \
    .group = "random", .doc = "every element becomes normal", .node = "NormalBackward0", .domain = WK__FLOATS,         \
    .parameters =                                                                                                      \
        (const wk_parameter[]){                                                                                        \
            {.size = sizeof(wk_parameter), .name = "self", .doc = "", .kind = WK_VALUE_TENSOR, .written = true},       \
            {.size = sizeof(wk_parameter),                                                                             \
             .name = "mean",                                                                                           \
             .doc = "",                                                                                                \
             .kind = WK_VALUE_FLOAT,                                                                                   \
             .optional = true,                                                                                         \
             .default_value = {.kind = WK_VALUE_FLOAT, .f = 0}},                                                       \
            {.size = sizeof(wk_parameter),                                                                             \
             .name = "std",                                                                                            \
             .doc = "",                                                                                                \
             .kind = WK_VALUE_FLOAT,                                                                                   \
             .optional = true,                                                                                         \
             .default_value = {.kind = WK_VALUE_FLOAT, .f = 1}}},                                                      \
    .parameter_count = 3, .results = 1, .invoke = wk__invoke_normal_

#define WK__SIGNATURE_bernoulli                                                                                        \
    .name = "bernoulli", .schema = "bernoulli(Tensor self) -> Tensor", .group = "random",                              \
    .doc = "1 with the probability that stands in x, else 0", .node = "BernoulliBackward0", .domain = WK__FLOATS,      \
    .parameters =                                                                                                      \
        (const wk_parameter[]){{.size = sizeof(wk_parameter), .name = "self", .doc = "", .kind = WK_VALUE_TENSOR}},    \
    .parameter_count = 1, .results = 1, .invoke = wk__invoke_bernoulli

#define WK__SIGNATURE_dropout                                                                                          \
    .name = "dropout", .schema = "dropout(Tensor input, float p=0.5, bool training=True) -> Tensor",                   \
    .group = "random", .doc = "0 with probability p, else x / (1 - p)", .node = "MulBackward0", .domain = WK__FLOATS,  \
    .parameters =                                                                                                      \
        (const wk_parameter[]){{.size = sizeof(wk_parameter), .name = "input", .doc = "", .kind = WK_VALUE_TENSOR},    \
                               {.size = sizeof(wk_parameter),                                                          \
                                .name = "p",                                                                           \
                                .doc = "",                                                                             \
                                .kind = WK_VALUE_FLOAT,                                                                \
                                .optional = true,                                                                      \
                                .default_value = {.kind = WK_VALUE_FLOAT, .f = 0.5}},                                  \
                               {.size = sizeof(wk_parameter),                                                          \
                                .name = "training",                                                                    \
                                .doc = "",                                                                             \
                                .kind = WK_VALUE_BOOL,                                                                 \
                                .optional = true,                                                                      \
                                .default_value = {.kind = WK_VALUE_BOOL, .i = 1}}},                                    \
    .parameter_count = 3, .results = 1, .invoke = wk__invoke_dropout

#define WK__SIGNATURE_multinomial                                                                                      \
    .name = "multinomial", .schema = "multinomial(Tensor self, int num_samples, bool replacement=False) -> Tensor",    \
    .group = "random", .doc = "places drawn with these probabilities, once each or with replacement",                  \
    .domain = WK__FLOATS,                                                                                              \
    .parameters =                                                                                                      \
        (const wk_parameter[]){{.size = sizeof(wk_parameter), .name = "self", .doc = "", .kind = WK_VALUE_TENSOR},     \
                               {.size = sizeof(wk_parameter), .name = "num_samples", .doc = "", .kind = WK_VALUE_INT}, \
                               {.size = sizeof(wk_parameter),                                                          \
                                .name = "replacement",                                                                 \
                                .doc = "a place may be drawn more than once",                                          \
                                .kind = WK_VALUE_BOOL,                                                                 \
                                .optional = true,                                                                      \
                                .default_value = {.kind = WK_VALUE_BOOL, .i = 0}}},                                    \
    .parameter_count = 3, .results = 1, .invoke = wk__invoke_multinomial

#endif
