/* SPDX-License-Identifier: Apache-2.0 */
/* Parameters of the ops of wick/reduce.h, as wk_op_parameter returns them (wick/call.h). Ops with equal parameters
 * share a list, which is named after the first of them. */
/* Written by scripts/generate_ops.py from src/ops/specs/reduce: edit those. */
#include "ops/core/entries.h"

const wk_parameter wk__parameters_sum[] = {
    {.size = sizeof(wk_parameter), .name = "self", .doc = "", .kind = WK_VALUE_TENSOR},
    {.size = sizeof(wk_parameter), .name = "dim", .doc = "", .kind = WK_VALUE_INTS, .optional = true},
    {.size = sizeof(wk_parameter),
     .name = "keepdim",
     .doc = "keep reduced dimensions with size 1; default false",
     .kind = WK_VALUE_BOOL,
     .optional = true,
     .default_value = {.kind = WK_VALUE_BOOL, .i = 0}},
    {.size = sizeof(wk_parameter),
     .name = "dtype",
     .doc = "of the result, for sum, mean and prod; default as PyTorch",
     .kind = WK_VALUE_DTYPE,
     .optional = true,
     .keyword_only = true}};

const wk_parameter wk__parameters_mean[] = {
    {.size = sizeof(wk_parameter), .name = "self", .doc = "", .kind = WK_VALUE_TENSOR},
    {.size = sizeof(wk_parameter), .name = "dim", .doc = "", .kind = WK_VALUE_INTS, .optional = true},
    {.size = sizeof(wk_parameter),
     .name = "keepdim",
     .doc = "",
     .kind = WK_VALUE_BOOL,
     .optional = true,
     .default_value = {.kind = WK_VALUE_BOOL, .i = 0}},
    {.size = sizeof(wk_parameter),
     .name = "dtype",
     .doc = "",
     .kind = WK_VALUE_DTYPE,
     .optional = true,
     .keyword_only = true}};

const wk_parameter wk__parameters_amax[] = {
    {.size = sizeof(wk_parameter), .name = "self", .doc = "", .kind = WK_VALUE_TENSOR},
    {.size = sizeof(wk_parameter), .name = "dim", .doc = "", .kind = WK_VALUE_INTS, .optional = true},
    {.size = sizeof(wk_parameter),
     .name = "keepdim",
     .doc = "",
     .kind = WK_VALUE_BOOL,
     .optional = true,
     .default_value = {.kind = WK_VALUE_BOOL, .i = 0}}};

const wk_parameter wk__parameters_argmax[] = {
    {.size = sizeof(wk_parameter), .name = "self", .doc = "", .kind = WK_VALUE_TENSOR},
    {.size = sizeof(wk_parameter), .name = "dim", .doc = "", .kind = WK_VALUE_INT, .optional = true},
    {.size = sizeof(wk_parameter),
     .name = "keepdim",
     .doc = "",
     .kind = WK_VALUE_BOOL,
     .optional = true,
     .default_value = {.kind = WK_VALUE_BOOL, .i = 0}}};

const wk_parameter wk__parameters_var[] = {
    {.size = sizeof(wk_parameter), .name = "self", .doc = "", .kind = WK_VALUE_TENSOR},
    {.size = sizeof(wk_parameter), .name = "dim", .doc = "", .kind = WK_VALUE_INTS, .optional = true},
    {.size = sizeof(wk_parameter),
     .name = "correction",
     .doc = "subtracted from the number of elements",
     .kind = WK_VALUE_FLOAT,
     .optional = true,
     .keyword_only = true,
     .default_value = {.kind = WK_VALUE_FLOAT, .f = 1}},
    {.size = sizeof(wk_parameter),
     .name = "keepdim",
     .doc = "",
     .kind = WK_VALUE_BOOL,
     .optional = true,
     .keyword_only = true,
     .default_value = {.kind = WK_VALUE_BOOL, .i = 0}}};

const wk_parameter wk__parameters_std[] = {
    {.size = sizeof(wk_parameter), .name = "self", .doc = "", .kind = WK_VALUE_TENSOR},
    {.size = sizeof(wk_parameter), .name = "dim", .doc = "", .kind = WK_VALUE_INTS, .optional = true},
    {.size = sizeof(wk_parameter),
     .name = "correction",
     .doc = "",
     .kind = WK_VALUE_FLOAT,
     .optional = true,
     .keyword_only = true,
     .default_value = {.kind = WK_VALUE_FLOAT, .f = 1}},
    {.size = sizeof(wk_parameter),
     .name = "keepdim",
     .doc = "",
     .kind = WK_VALUE_BOOL,
     .optional = true,
     .keyword_only = true,
     .default_value = {.kind = WK_VALUE_BOOL, .i = 0}}};

const wk_parameter wk__parameters_norm[] = {
    {.size = sizeof(wk_parameter), .name = "self", .doc = "", .kind = WK_VALUE_TENSOR},
    {.size = sizeof(wk_parameter),
     .name = "p",
     .doc = "any number, also INFINITY and -INFINITY; 0 counts the elements that are not 0",
     .kind = WK_VALUE_FLOAT,
     .optional = true,
     .default_value = {.kind = WK_VALUE_FLOAT, .f = 2}},
    {.size = sizeof(wk_parameter), .name = "dim", .doc = "", .kind = WK_VALUE_INTS, .optional = true},
    {.size = sizeof(wk_parameter),
     .name = "keepdim",
     .doc = "",
     .kind = WK_VALUE_BOOL,
     .optional = true,
     .default_value = {.kind = WK_VALUE_BOOL, .i = 0}}};

const wk_parameter wk__parameters_dist[] = {
    {.size = sizeof(wk_parameter), .name = "self", .doc = "", .kind = WK_VALUE_TENSOR},
    {.size = sizeof(wk_parameter), .name = "other", .doc = "", .kind = WK_VALUE_TENSOR},
    {.size = sizeof(wk_parameter),
     .name = "p",
     .doc = "as for wk_norm",
     .kind = WK_VALUE_FLOAT,
     .optional = true,
     .default_value = {.kind = WK_VALUE_FLOAT, .f = 2}}};

const wk_parameter wk__parameters_cosine_similarity[] = {
    {.size = sizeof(wk_parameter), .name = "x1", .doc = "", .kind = WK_VALUE_TENSOR},
    {.size = sizeof(wk_parameter), .name = "x2", .doc = "", .kind = WK_VALUE_TENSOR},
    {.size = sizeof(wk_parameter),
     .name = "dim",
     .doc = "",
     .kind = WK_VALUE_INT,
     .optional = true,
     .default_value = {.kind = WK_VALUE_INT, .i = 1}},
    {.size = sizeof(wk_parameter),
     .name = "eps",
     .doc = "smallest length that counts",
     .kind = WK_VALUE_FLOAT,
     .optional = true,
     .default_value = {.kind = WK_VALUE_FLOAT, .f = 1e-08}}};

const wk_parameter wk__parameters_softmax[] = {
    {.size = sizeof(wk_parameter), .name = "input", .doc = "", .kind = WK_VALUE_TENSOR},
    {.size = sizeof(wk_parameter), .name = "dim", .doc = "", .kind = WK_VALUE_INT}};

const wk_parameter wk__parameters_cumsum[] = {
    {.size = sizeof(wk_parameter), .name = "self", .doc = "", .kind = WK_VALUE_TENSOR},
    {.size = sizeof(wk_parameter), .name = "dim", .doc = "", .kind = WK_VALUE_INT}};

const wk_parameter wk__parameters_sort[] = {
    {.size = sizeof(wk_parameter), .name = "self", .doc = "", .kind = WK_VALUE_TENSOR},
    {.size = sizeof(wk_parameter),
     .name = "dim",
     .doc = "",
     .kind = WK_VALUE_INT,
     .optional = true,
     .default_value = {.kind = WK_VALUE_INT, .i = -1}},
    {.size = sizeof(wk_parameter),
     .name = "descending",
     .doc = "",
     .kind = WK_VALUE_BOOL,
     .optional = true,
     .default_value = {.kind = WK_VALUE_BOOL, .i = 0}}};

const wk_parameter wk__parameters_topk[] = {
    {.size = sizeof(wk_parameter), .name = "self", .doc = "", .kind = WK_VALUE_TENSOR},
    {.size = sizeof(wk_parameter), .name = "k", .doc = "", .kind = WK_VALUE_INT},
    {.size = sizeof(wk_parameter),
     .name = "dim",
     .doc = "",
     .kind = WK_VALUE_INT,
     .optional = true,
     .default_value = {.kind = WK_VALUE_INT, .i = -1}},
    {.size = sizeof(wk_parameter),
     .name = "largest",
     .doc = "",
     .kind = WK_VALUE_BOOL,
     .optional = true,
     .default_value = {.kind = WK_VALUE_BOOL, .i = 1}}};

const wk_parameter wk__parameters_kthvalue[] = {
    {.size = sizeof(wk_parameter), .name = "self", .doc = "", .kind = WK_VALUE_TENSOR},
    {.size = sizeof(wk_parameter), .name = "k", .doc = "", .kind = WK_VALUE_INT},
    {.size = sizeof(wk_parameter),
     .name = "dim",
     .doc = "",
     .kind = WK_VALUE_INT,
     .optional = true,
     .default_value = {.kind = WK_VALUE_INT, .i = -1}},
    {.size = sizeof(wk_parameter),
     .name = "keepdim",
     .doc = "",
     .kind = WK_VALUE_BOOL,
     .optional = true,
     .default_value = {.kind = WK_VALUE_BOOL, .i = 0}}};

const wk_parameter wk__parameters_unique[] = {
    {.size = sizeof(wk_parameter), .name = "self", .doc = "", .kind = WK_VALUE_TENSOR},
    {.size = sizeof(wk_parameter),
     .name = "sorted",
     .doc = "",
     .kind = WK_VALUE_BOOL,
     .optional = true,
     .default_value = {.kind = WK_VALUE_BOOL, .i = 1}},
    {.size = sizeof(wk_parameter),
     .name = "return_inverse",
     .doc = "receives the index in out of each element, shaped like x; default NULL",
     .kind = WK_VALUE_BOOL,
     .optional = true,
     .default_value = {.kind = WK_VALUE_BOOL, .i = 0}},
    {.size = sizeof(wk_parameter),
     .name = "return_counts",
     .doc = "receives the count of each element of out; default NULL",
     .kind = WK_VALUE_BOOL,
     .optional = true,
     .default_value = {.kind = WK_VALUE_BOOL, .i = 0}}};

const wk_parameter wk__parameters_isin[] = {
    {.size = sizeof(wk_parameter), .name = "elements", .doc = "", .kind = WK_VALUE_TENSOR},
    {.size = sizeof(wk_parameter), .name = "test_elements", .doc = "", .kind = WK_VALUE_TENSOR},
    {.size = sizeof(wk_parameter),
     .name = "assume_unique",
     .doc = "",
     .kind = WK_VALUE_BOOL,
     .optional = true,
     .keyword_only = true,
     .default_value = {.kind = WK_VALUE_BOOL, .i = 0}},
    {.size = sizeof(wk_parameter),
     .name = "invert",
     .doc = "test for equality with none; default false",
     .kind = WK_VALUE_BOOL,
     .optional = true,
     .keyword_only = true,
     .default_value = {.kind = WK_VALUE_BOOL, .i = 0}}};

const wk_parameter wk__parameters_batch_norm[] = {
    {.size = sizeof(wk_parameter), .name = "input", .doc = "", .kind = WK_VALUE_TENSOR},
    {.size = sizeof(wk_parameter), .name = "running_mean", .doc = "", .kind = WK_VALUE_TENSOR, .optional = true},
    {.size = sizeof(wk_parameter), .name = "running_var", .doc = "", .kind = WK_VALUE_TENSOR, .optional = true},
    {.size = sizeof(wk_parameter), .name = "weight", .doc = "", .kind = WK_VALUE_TENSOR, .optional = true},
    {.size = sizeof(wk_parameter), .name = "bias", .doc = "", .kind = WK_VALUE_TENSOR, .optional = true},
    {.size = sizeof(wk_parameter),
     .name = "training",
     .doc = "",
     .kind = WK_VALUE_BOOL,
     .optional = true,
     .default_value = {.kind = WK_VALUE_BOOL, .i = 0}},
    {.size = sizeof(wk_parameter),
     .name = "momentum",
     .doc = "",
     .kind = WK_VALUE_FLOAT,
     .optional = true,
     .default_value = {.kind = WK_VALUE_FLOAT, .f = 0.1}},
    {.size = sizeof(wk_parameter),
     .name = "eps",
     .doc = "",
     .kind = WK_VALUE_FLOAT,
     .optional = true,
     .default_value = {.kind = WK_VALUE_FLOAT, .f = 1e-05}}};

const wk_parameter wk__parameters_layer_norm[] = {
    {.size = sizeof(wk_parameter), .name = "input", .doc = "", .kind = WK_VALUE_TENSOR},
    {.size = sizeof(wk_parameter), .name = "normalized_shape", .doc = "", .kind = WK_VALUE_INTS},
    {.size = sizeof(wk_parameter), .name = "weight", .doc = "", .kind = WK_VALUE_TENSOR, .optional = true},
    {.size = sizeof(wk_parameter), .name = "bias", .doc = "", .kind = WK_VALUE_TENSOR, .optional = true},
    {.size = sizeof(wk_parameter),
     .name = "eps",
     .doc = "",
     .kind = WK_VALUE_FLOAT,
     .optional = true,
     .default_value = {.kind = WK_VALUE_FLOAT, .f = 1e-05}}};

const wk_parameter wk__parameters_mse_loss[] = {
    {.size = sizeof(wk_parameter), .name = "input", .doc = "", .kind = WK_VALUE_TENSOR},
    {.size = sizeof(wk_parameter), .name = "target", .doc = "", .kind = WK_VALUE_TENSOR},
    {.size = sizeof(wk_parameter),
     .name = "reduction",
     .doc = "",
     .kind = WK_VALUE_TEXT,
     .optional = true,
     .default_value = {.kind = WK_VALUE_TEXT, .text = "mean"},
     .choices = (const char *const[]){"mean", "sum", "none", NULL}}};

const wk_parameter wk__parameters_smooth_l1_loss[] = {
    {.size = sizeof(wk_parameter), .name = "input", .doc = "", .kind = WK_VALUE_TENSOR},
    {.size = sizeof(wk_parameter), .name = "target", .doc = "", .kind = WK_VALUE_TENSOR},
    {.size = sizeof(wk_parameter),
     .name = "reduction",
     .doc = "",
     .kind = WK_VALUE_TEXT,
     .optional = true,
     .default_value = {.kind = WK_VALUE_TEXT, .text = "mean"},
     .choices = (const char *const[]){"mean", "sum", "none", NULL}},
    {.size = sizeof(wk_parameter),
     .name = "beta",
     .doc = "",
     .kind = WK_VALUE_FLOAT,
     .optional = true,
     .default_value = {.kind = WK_VALUE_FLOAT, .f = 1.0}}};

const wk_parameter wk__parameters_huber_loss[] = {
    {.size = sizeof(wk_parameter), .name = "input", .doc = "", .kind = WK_VALUE_TENSOR},
    {.size = sizeof(wk_parameter), .name = "target", .doc = "", .kind = WK_VALUE_TENSOR},
    {.size = sizeof(wk_parameter),
     .name = "reduction",
     .doc = "",
     .kind = WK_VALUE_TEXT,
     .optional = true,
     .default_value = {.kind = WK_VALUE_TEXT, .text = "mean"},
     .choices = (const char *const[]){"mean", "sum", "none", NULL}},
    {.size = sizeof(wk_parameter),
     .name = "delta",
     .doc = "positive",
     .kind = WK_VALUE_FLOAT,
     .optional = true,
     .default_value = {.kind = WK_VALUE_FLOAT, .f = 1.0}}};

const wk_parameter wk__parameters_binary_cross_entropy[] = {
    {.size = sizeof(wk_parameter), .name = "input", .doc = "", .kind = WK_VALUE_TENSOR},
    {.size = sizeof(wk_parameter), .name = "target", .doc = "", .kind = WK_VALUE_TENSOR},
    {.size = sizeof(wk_parameter),
     .name = "weight",
     .doc = "of each element, broadcast; default none",
     .kind = WK_VALUE_TENSOR,
     .optional = true},
    {.size = sizeof(wk_parameter),
     .name = "reduction",
     .doc = "",
     .kind = WK_VALUE_TEXT,
     .optional = true,
     .default_value = {.kind = WK_VALUE_TEXT, .text = "mean"},
     .choices = (const char *const[]){"mean", "sum", "none", NULL}}};

const wk_parameter wk__parameters_binary_cross_entropy_with_logits[] = {
    {.size = sizeof(wk_parameter), .name = "input", .doc = "", .kind = WK_VALUE_TENSOR},
    {.size = sizeof(wk_parameter), .name = "target", .doc = "", .kind = WK_VALUE_TENSOR},
    {.size = sizeof(wk_parameter),
     .name = "weight",
     .doc = "of each element, broadcast; default none",
     .kind = WK_VALUE_TENSOR,
     .optional = true},
    {.size = sizeof(wk_parameter),
     .name = "pos_weight",
     .doc = "of the positive term, broadcast; default none",
     .kind = WK_VALUE_TENSOR,
     .optional = true},
    {.size = sizeof(wk_parameter),
     .name = "reduction",
     .doc = "",
     .kind = WK_VALUE_TEXT,
     .optional = true,
     .default_value = {.kind = WK_VALUE_TEXT, .text = "mean"},
     .choices = (const char *const[]){"mean", "sum", "none", NULL}}};

const wk_parameter wk__parameters_kl_div[] = {
    {.size = sizeof(wk_parameter), .name = "input", .doc = "", .kind = WK_VALUE_TENSOR},
    {.size = sizeof(wk_parameter), .name = "target", .doc = "", .kind = WK_VALUE_TENSOR},
    {.size = sizeof(wk_parameter),
     .name = "reduction",
     .doc = "",
     .kind = WK_VALUE_TEXT,
     .optional = true,
     .default_value = {.kind = WK_VALUE_TEXT, .text = "mean"},
     .choices = (const char *const[]){"mean", "sum", "none", "batchmean", NULL}},
    {.size = sizeof(wk_parameter),
     .name = "log_target",
     .doc = "target holds logarithms; default false",
     .kind = WK_VALUE_BOOL,
     .optional = true,
     .default_value = {.kind = WK_VALUE_BOOL, .i = 0}}};

const wk_parameter wk__parameters_cross_entropy[] = {
    {.size = sizeof(wk_parameter), .name = "input", .doc = "", .kind = WK_VALUE_TENSOR},
    {.size = sizeof(wk_parameter), .name = "target", .doc = "", .kind = WK_VALUE_TENSOR},
    {.size = sizeof(wk_parameter),
     .name = "weight",
     .doc = "(C), of each class; default none",
     .kind = WK_VALUE_TENSOR,
     .optional = true},
    {.size = sizeof(wk_parameter),
     .name = "reduction",
     .doc = "",
     .kind = WK_VALUE_TEXT,
     .optional = true,
     .default_value = {.kind = WK_VALUE_TEXT, .text = "mean"},
     .choices = (const char *const[]){"mean", "sum", "none", NULL}},
    {.size = sizeof(wk_parameter),
     .name = "ignore_index",
     .doc = "label that does not count",
     .kind = WK_VALUE_INT,
     .optional = true,
     .default_value = {.kind = WK_VALUE_INT, .i = -100}},
    {.size = sizeof(wk_parameter),
     .name = "label_smoothing",
     .doc = "share of each label spread over all classes",
     .kind = WK_VALUE_FLOAT,
     .optional = true,
     .default_value = {.kind = WK_VALUE_FLOAT, .f = 0.0}}};

const wk_parameter wk__parameters_nll_loss[] = {
    {.size = sizeof(wk_parameter), .name = "self", .doc = "", .kind = WK_VALUE_TENSOR},
    {.size = sizeof(wk_parameter), .name = "target", .doc = "", .kind = WK_VALUE_TENSOR},
    {.size = sizeof(wk_parameter), .name = "weight", .doc = "", .kind = WK_VALUE_TENSOR, .optional = true},
    {.size = sizeof(wk_parameter),
     .name = "reduction",
     .doc = "",
     .kind = WK_VALUE_TEXT,
     .optional = true,
     .default_value = {.kind = WK_VALUE_TEXT, .text = "mean"},
     .choices = (const char *const[]){"mean", "sum", "none", NULL}},
    {.size = sizeof(wk_parameter),
     .name = "ignore_index",
     .doc = "",
     .kind = WK_VALUE_INT,
     .optional = true,
     .default_value = {.kind = WK_VALUE_INT, .i = -100}}};
