/* SPDX-License-Identifier: Apache-2.0 */
/* The signatures of the ops of wick/creation.h: what their descriptors begin with. The compiler refuses a member
 * that the op's file sets as well. */
/* Written by scripts/generate_ops.py from src/ops/specs/creation: edit those. */
#ifndef WICK_OPS_GENERATED_CREATION_H
#define WICK_OPS_GENERATED_CREATION_H

#include "base/options.h"
#include "ops/core/call.h"
#include <wick/call.h>
#include <wick/creation.h>

/* Entries for wk_call of ops that take more than tensors. */
int wk__invoke_zeros(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_ones(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_empty(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_full(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_zeros_like(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_ones_like(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_empty_like(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_full_like(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_arange(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_linspace(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_eye(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_rand(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_rand_like(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_randn(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_randn_like(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_randint(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_randperm(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_to(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_to_dtype(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_clone(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_copy_(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);
int wk__invoke_fill_(const wk__op *op, wk_site site, const wk_value *args, wk_tensor **out);

/* Entries defined in the files of the ops. */
wk_tensor *wk__full(wk_site site, const int64_t *shape, int ndim, wk__arg value, const wk_tensor_options *options);
wk_tensor *wk__full_like(wk_site site, wk_tensor *x, wk__arg value, const wk_tensor_options *options);
wk_tensor *wk__arange(wk_site site, wk__arg start, wk__arg end, wk__arg step, const wk_tensor_options *options);
wk_tensor *wk__fill_(wk_site site, wk_tensor *x, wk__arg value);

extern const wk_parameter wk__parameters_zeros[];
extern const wk_parameter wk__parameters_ones[];
extern const wk_parameter wk__parameters_full[];
extern const wk_parameter wk__parameters_zeros_like[];
extern const wk_parameter wk__parameters_full_like[];
extern const wk_parameter wk__parameters_arange[];
extern const wk_parameter wk__parameters_linspace[];
extern const wk_parameter wk__parameters_eye[];
extern const wk_parameter wk__parameters_randint[];
extern const wk_parameter wk__parameters_to[];
extern const wk_parameter wk__parameters_to_dtype[];
extern const wk_parameter wk__parameters_clone[];
extern const wk_parameter wk__parameters_copy_[];
extern const wk_parameter wk__parameters_fill_[];

#define WK__SIGNATURE_zeros                                                                                            \
    .name = "zeros", .schema = "zeros(int[] size, *, dtype? dtype=None, Device? device=None) -> Tensor",               \
    .category = "creation", .doc = "Creates a tensor of zeros.", .parameters = wk__parameters_zeros,                   \
    .parameter_count = 3, .results = 1, .invoke = wk__invoke_zeros

#define WK__SIGNATURE_ones                                                                                             \
    .name = "ones", .schema = "ones(int[] size, *, dtype? dtype=None, Device? device=None) -> Tensor",                 \
    .category = "creation", .doc = "Creates a tensor of ones.", .parameters = wk__parameters_ones,                     \
    .parameter_count = 3, .results = 1, .invoke = wk__invoke_ones

#define WK__SIGNATURE_empty                                                                                            \
    .name = "empty", .schema = "empty(int[] size, *, dtype? dtype=None, Device? device=None) -> Tensor",               \
    .category = "creation",                                                                                            \
    .doc = "Creates a tensor for a later write. Its contents are unspecified (currently zero).",                       \
    .parameters = wk__parameters_ones, .parameter_count = 3, .results = 1, .invoke = wk__invoke_empty

#define WK__SIGNATURE_full                                                                                             \
    .name = "full",                                                                                                    \
    .schema = "full(int[] size, Scalar fill_value, *, dtype? dtype=None, Device? device=None) -> Tensor",              \
    .category = "creation", .doc = "Creates a tensor in which every element is value.",                                \
    .parameters = wk__parameters_full, .parameter_count = 4, .results = 1, .invoke = wk__invoke_full

#define WK__SIGNATURE_zeros_like                                                                                       \
    .name = "zeros_like", .schema = "zeros_like(Tensor self, *, dtype? dtype=None, Device? device=None) -> Tensor",    \
    .category = "creation", .doc = "Creates a tensor of zeros like x.", .parameters = wk__parameters_zeros_like,       \
    .parameter_count = 3, .results = 1, .invoke = wk__invoke_zeros_like

#define WK__SIGNATURE_ones_like                                                                                        \
    .name = "ones_like", .schema = "ones_like(Tensor self, *, dtype? dtype=None, Device? device=None) -> Tensor",      \
    .category = "creation", .doc = "Creates a tensor of ones like x.", .parameters = wk__parameters_zeros_like,        \
    .parameter_count = 3, .results = 1, .invoke = wk__invoke_ones_like

#define WK__SIGNATURE_empty_like                                                                                       \
    .name = "empty_like", .schema = "empty_like(Tensor self, *, dtype? dtype=None, Device? device=None) -> Tensor",    \
    .category = "creation",                                                                                            \
    .doc = "Creates a tensor like x for a later write. Its contents are unspecified (currently zero).",                \
    .parameters = wk__parameters_zeros_like, .parameter_count = 3, .results = 1, .invoke = wk__invoke_empty_like

#define WK__SIGNATURE_full_like                                                                                        \
    .name = "full_like",                                                                                               \
    .schema = "full_like(Tensor self, Scalar fill_value, *, dtype? dtype=None, Device? device=None) -> Tensor",        \
    .category = "creation", .doc = "Creates a tensor like x in which every element is value.",                         \
    .parameters = wk__parameters_full_like, .parameter_count = 4, .results = 1, .invoke = wk__invoke_full_like

#define WK__SIGNATURE_arange                                                                                           \
    .name = "arange",                                                                                                  \
    .schema =                                                                                                          \
        "arange(Scalar start, Scalar? end=None, Scalar step=1, *, dtype? dtype=None, Device? device=None) -> Tensor",  \
    .category = "creation", .doc = "Creates the vector start, start + step, ... that ends before end.",                \
    .parameters = wk__parameters_arange, .parameter_count = 5, .results = 1, .invoke = wk__invoke_arange

#define WK__SIGNATURE_linspace                                                                                         \
    .name = "linspace",                                                                                                \
    .schema = "linspace(Scalar start, Scalar end, int steps, *, dtype? dtype=None, Device? device=None) -> Tensor",    \
    .category = "creation",                                                                                            \
    .doc = "Creates a vector of count evenly spaced numbers from start to end, both included.",                        \
    .parameters = wk__parameters_linspace, .parameter_count = 5, .results = 1, .invoke = wk__invoke_linspace

#define WK__SIGNATURE_eye                                                                                              \
    .name = "eye", .schema = "eye(int n, *, dtype? dtype=None, Device? device=None) -> Tensor",                        \
    .category = "creation", .doc = "Creates the identity matrix of n rows and n columns.",                             \
    .parameters = wk__parameters_eye, .parameter_count = 3, .results = 1, .invoke = wk__invoke_eye

#define WK__SIGNATURE_rand                                                                                             \
    .name = "rand", .schema = "rand(int[] size, *, dtype? dtype=None, Device? device=None) -> Tensor",                 \
    .category = "random", .doc = "Draws from the uniform distribution over [0, 1).", .dtypes = WK__FLOATS,             \
    .parameters = wk__parameters_ones, .parameter_count = 3, .results = 1, .invoke = wk__invoke_rand

#define WK__SIGNATURE_rand_like                                                                                        \
    .name = "rand_like", .schema = "rand_like(Tensor self, *, dtype? dtype=None, Device? device=None) -> Tensor",      \
    .category = "random", .doc = "Draws from the uniform distribution over [0, 1) into a tensor like x.",              \
    .dtypes = WK__FLOATS, .parameters = wk__parameters_zeros_like, .parameter_count = 3, .results = 1,                 \
    .invoke = wk__invoke_rand_like

#define WK__SIGNATURE_randn                                                                                            \
    .name = "randn", .schema = "randn(int[] size, *, dtype? dtype=None, Device? device=None) -> Tensor",               \
    .category = "random", .doc = "Draws from the standard normal distribution.", .dtypes = WK__FLOATS,                 \
    .parameters = wk__parameters_ones, .parameter_count = 3, .results = 1, .invoke = wk__invoke_randn

#define WK__SIGNATURE_randn_like                                                                                       \
    .name = "randn_like", .schema = "randn_like(Tensor self, *, dtype? dtype=None, Device? device=None) -> Tensor",    \
    .category = "random", .doc = "Draws from the standard normal distribution into a tensor like x.",                  \
    .dtypes = WK__FLOATS, .parameters = wk__parameters_zeros_like, .parameter_count = 3, .results = 1,                 \
    .invoke = wk__invoke_randn_like

#define WK__SIGNATURE_randint                                                                                          \
    .name = "randint",                                                                                                 \
    .schema = "randint(int low, int high, int[] size, *, dtype? dtype=None, Device? device=None) -> Tensor",           \
    .category = "random", .doc = "Draws integers from the uniform distribution over [low, high).",                     \
    .parameters = wk__parameters_randint, .parameter_count = 5, .results = 1, .invoke = wk__invoke_randint

#define WK__SIGNATURE_randperm                                                                                         \
    .name = "randperm", .schema = "randperm(int n, *, dtype? dtype=None, Device? device=None) -> Tensor",              \
    .category = "random", .doc = "Draws a random permutation of 0, ..., n - 1.", .parameters = wk__parameters_eye,     \
    .parameter_count = 3, .results = 1, .invoke = wk__invoke_randperm

#define WK__SIGNATURE_to                                                                                               \
    .name = "to", .schema = "to(Tensor self, Device device) -> Tensor", .category = "copy",                            \
    .doc = "Copies x to device.", .grad_fn_name = "ToCopyBackward0", .parameters = wk__parameters_to,                  \
    .parameter_count = 2, .results = 1, .invoke = wk__invoke_to

#define WK__SIGNATURE_to_dtype                                                                                         \
    .name = "to_dtype", .schema = "to_dtype(Tensor self, dtype dtype) -> Tensor", .category = "copy",                  \
    .doc = "Converts x to dtype.", .grad_fn_name = "ToCopyBackward0", .arity = 1,                                      \
    .parameters = wk__parameters_to_dtype, .parameter_count = 2, .results = 1, .invoke = wk__invoke_to_dtype

#define WK__SIGNATURE_clone                                                                                            \
    .name = "clone", .schema = "clone(Tensor self) -> Tensor", .category = "copy",                                     \
    .doc = "Copies x into a contiguous tensor with storage of its own.", .grad_fn_name = "CloneBackward0", .arity = 1, \
    .parameters = wk__parameters_clone, .parameter_count = 1, .results = 1, .invoke = wk__invoke_clone

#define WK__SIGNATURE_copy_                                                                                            \
    .name = "copy_", .schema = "copy_(Tensor(a!) self, Tensor src) -> Tensor(a!)", .category = "copy",                 \
    .doc = "Writes y into x, broadcast, converted and moved to x's device.", .grad_fn_name = "CopyBackwards",          \
    .parameters = wk__parameters_copy_, .parameter_count = 2, .results = 1, .invoke = wk__invoke_copy_

#define WK__SIGNATURE_fill_                                                                                            \
    .name = "fill_", .schema = "fill_(Tensor(a!) self, Scalar value) -> Tensor(a!)", .category = "copy",               \
    .doc = "Writes value into every element of x.", .grad_fn_name = "FillBackward0",                                   \
    .parameters = wk__parameters_fill_, .parameter_count = 2, .results = 1, .invoke = wk__invoke_fill_

#endif
