/* SPDX-License-Identifier: Apache-2.0 */
/* Op descriptors. A constant per op, defined in src/ops, contains everything the library knows about it. Signatures are
 * generated from src/ops/specs (docs/contributing/ops.md); src/ops/ops.def registers the op, and an entry without a
 * descriptor is a link error. References in double precision and sample calls are in tests/references. */
#ifndef WICK_IR_OP_H
#define WICK_IR_OP_H

#include "ir.h"

struct wk_tensor;
struct wk__grad_ctx;
struct wk_value;
struct wk_parameter;
typedef struct wk__op wk__op;

/* Emits the op's instructions into a program; see emit.h. Operand registers are in the class of the op's compute dtype;
 * the result is in the class given by `result`. Scalars of the call are registers too. */
struct wk__emit;
typedef int wk__expression(struct wk__emit *e, const int in[]);

/* Compute and result dtype of an elementwise op, from its promoted operands. */
typedef enum wk__result_rule {
    WK__RESULT_SAME,  /* the promoted dtype */
    WK__RESULT_FLOAT, /* the promoted dtype; integers and bool become f32 first */
    WK__RESULT_BOOL   /* computed in the promoted dtype; the result is bool */
} wk__result_rule;

/* Dtypes accepted by an op: bits 1 << dtype. */
enum {
    WK__FLOATS = 1 << WK_F32 | 1 << WK_F64 | 1 << WK_F16 | 1 << WK_BF16,
    WK__INTS = 1 << WK_I8 | 1 << WK_U8 | 1 << WK_I16 | 1 << WK_I32 | 1 << WK_I64,
    WK__BOOLS = 1 << WK_BOOL,
    WK__NUMBERS = WK__FLOATS | WK__INTS,
    WK__ANY = WK__NUMBERS | WK__BOOLS
};

/* Values of the forward call that the gradient of an operand needs: bits for the operands and for the first results. An
 * operand or result that a call does not have, NULL, is not saved. */
enum {
    WK__SAVE_0 = 1,
    WK__SAVE_1 = 2,
    WK__SAVE_2 = 4,
    WK__SAVE_3 = 8,
    WK__SAVE_OUT = 16,
    WK__SAVE_OUT_1 = 32,
    WK__SAVE_OUT_2 = 64
};

enum { WK__MAX_INPUTS = 4 };

struct wk__op {
    const char *name;         /* "add" */
    const char *schema;       /* "add(Tensor self, Tensor other) -> Tensor", in PyTorch's syntax */
    const char *category;     /* "pointwise", "reduction", ...: heading in `wick ops` and the docs */
    const char *doc;          /* one line: formula and special cases */
    const char *grad_fn_name; /* "AddBackward0": grad_fn in the printed result; NULL: not differentiable */
    /* grad_fn names of other call forms, which PyTorch numbers: operand k is a scalar (elementwise ops), dimensions are
     * given (reductions). Further forms: wk__attr.grad_fn_name. */
    const char *grad_fn_name_scalar[WK__MAX_INPUTS], *grad_fn_name_dims;

    /* elementwise ops: one record, one expression */
    wk__expression *expression;
    uint8_t arity, result;      /* number of operands; wk__result_rule */
    uint8_t instruction;        /* wk__opcode if the expression is that single instruction: wk__single_instruction */
    uint8_t own_dtype_operands; /* bits of operands that are not promoted (a condition, an index) */
    uint16_t dtypes;            /* accepted dtypes, after promotion; 0: any */
    bool saturate_scalars;      /* scalar operands out of the range of an integer dtype saturate instead of wrapping */
    /* reductions: the opcode (WK__RSUM, ...) */
    uint8_t reduction;
    bool takes_dtype;          /* accepts the option .dtype */
    bool uses_position;        /* the expression uses IOTA */
    const char *fault_message; /* error text of a LOADX that exists to reject an element; NULL: "index out of range" */
    bool index_is_label;       /* an index of such a LOADX is a class label */
    bool nonnegative_index;    /* its indices must not be negative */
    bool data_dependent_shape; /* the result's shape depends on data: the call waits for the device */

    void (*gradient)(struct wk__grad_ctx *g);
    uint8_t saves[WK__MAX_INPUTS]; /* per operand: values its gradient reads */
    uint8_t saves_by_value; /* WK__SAVE_* bits of values saved by contents, which user code may overwrite afterwards */

    const struct wk_parameter *parameters; /* of the schema; see wick/call.h */
    const char *const *result_names;       /* names of several results ([results] in the spec) */
    uint8_t parameter_count;
    int8_t results; /* number of results; -1: as result_count returns */
    bool view;      /* results may share memory with the first argument */
    /* Entry points of wk_call for NAME and NAME_ (NULL: none). Arguments are in schema order; fill out[] and return the
     * number of results, or -1. */
    int (*invoke)(const wk__op *op, wk_site site, const struct wk_value *args, struct wk_tensor **out);
    int (*invoke_in_place)(const wk__op *op, wk_site site, const struct wk_value *args, struct wk_tensor **out);
    /* Returns the number of results if it depends on the arguments; -1 on error, recorded. */
    int (*result_count)(const wk__op *op, wk_site site, const struct wk_value *args);
};

#endif
