/* SPDX-License-Identifier: Apache-2.0 */
/* The descriptor of an op: everything that the library knows of it, in one constant, defined in src/ops/NAME.c. Its
 * signature comes from a row (docs/design.md, section 7); src/ops/ops.def makes it known, and a name there without its
 * file is a link error. What it computes in double precision, and calls to try, the tests know (tests/references). */
#ifndef WICK_IR_OP_H
#define WICK_IR_OP_H

#include "ir.h"

struct wk_tensor;
struct wk__grad_ctx;
struct wk_value;
struct wk_parameter;
typedef struct wk__op wk__op;

/* Writes instructions into a group; see emit.h. Operand registers come in the op's compute dtype's class; the result is
 * in the class of what `result` says. Immediates of the call are registers too. */
struct wk__emit;
typedef int wk__expression(struct wk__emit *e, const int in[]);

/* What dtype an elementwise op computes in and gives, from its promoted operands. */
typedef enum wk__result_rule {
    WK__RESULT_SAME,  /* the promoted dtype */
    WK__RESULT_FLOAT, /* the promoted dtype; integers and bool become f32 first */
    WK__RESULT_BOOL   /* computed in the promoted dtype, gives bool */
} wk__result_rule;

/* Which dtypes an op takes, as bits 1 << dtype. */
enum {
    WK__FLOATS = 1 << WK_F32 | 1 << WK_F64 | 1 << WK_F16 | 1 << WK_BF16,
    WK__INTS = 1 << WK_I8 | 1 << WK_U8 | 1 << WK_I16 | 1 << WK_I32 | 1 << WK_I64,
    WK__BOOLS = 1 << WK_BOOL,
    WK__NUMBERS = WK__FLOATS | WK__INTS,
    WK__ANY = WK__NUMBERS | WK__BOOLS
};

/* What the gradient of an operand needs of the forward call: bits for operands, and one for the result. */
enum { WK__SAVE_0 = 1, WK__SAVE_1 = 2, WK__SAVE_2 = 4, WK__SAVE_3 = 8, WK__SAVE_OUT = 16 };

enum { WK__MAX_INPUTS = 4 };

struct wk__op {
    const char *name;         /* "add" */
    const char *schema;       /* "add(Tensor self, Tensor other) -> Tensor": PyTorch's style */
    const char *category;     /* "pointwise", "reduction", ...: how `wick ops` and the docs sort them */
    const char *doc;          /* one line: formula and what is special */
    const char *grad_fn_name; /* "AddBackward0": what a result prints as grad_fn; NULL: not differentiable */
    /* PyTorch numbers the forms of a call. What a result prints when operand k is a number (elementwise ops), and when
     * dimensions are named (reductions); other forms: wk__attr.grad_fn_name. */
    const char *grad_fn_name_scalar[WK__MAX_INPUTS], *grad_fn_name_dims;

    /* elementwise ops: one record, one expression */
    wk__expression *expression;
    uint8_t arity, result;      /* operands; wk__result_rule */
    uint8_t instruction;        /* the wk__opcode of an expression that is one instruction: wk__single_instruction */
    uint8_t own_dtype_operands; /* bits of operands that keep their own dtype (a condition, an index) */
    uint16_t dtypes;            /* dtypes it takes (after promotion); 0 = any */
    bool saturate_scalars; /* numbers among its operands that an integer dtype cannot hold are the nearest: they do not
                              wrap */
    /* reductions: the code (WK__RSUM, ...) */
    uint8_t reduction;
    bool takes_dtype;          /* the option .dtype */
    bool uses_position;        /* its expression counts positions (IOTA) */
    const char *fault_message; /* what a LOADX says that is there to fault where an element is refused; NULL: that the
                                  index
                           is out of range */
    bool index_is_label;       /* an index of such a LOADX is a label, and its places are classes */
    bool nonnegative_index;    /* its indices are counted from the first place alone: none is negative */
    bool data_dependent_shape; /* its result's shape depends on data: it waits for the device (rule 8) */

    void (*gradient)(struct wk__grad_ctx *g);
    uint8_t saves[WK__MAX_INPUTS]; /* per operand: what its gradient reads */
    uint8_t saves_by_value;        /* WK__SAVE_0, ...: of that the numbers are kept, so that the program may write it
                               afterwards */

    const struct wk_parameter *parameters; /* those of the schema; see wick/call.h */
    const char *const *result_names;       /* [results], of several */
    uint8_t parameter_count;
    int8_t results; /* -1: as many as result_count says */
    bool view;      /* they may share the memory of the first argument */
    /* The entries for wk_call, of NAME and of NAME_ (NULL: there is none): arguments in the order of the schema; they
     * fill out[] and return how many, or -1. */
    int (*invoke)(const wk__op *op, wk_site site, const struct wk_value *args, struct wk_tensor **out);
    int (*invoke_in_place)(const wk__op *op, wk_site site, const struct wk_value *args, struct wk_tensor **out);
    /* How many results a call gives, where that depends on the arguments; -1 with the error recorded. */
    int (*result_count)(const wk__op *op, wk_site site, const struct wk_value *args);
};

#endif
