/* SPDX-License-Identifier: Apache-2.0 */
/* The group program: what one fused kernel does, in a form that the CPU interprets and the GPU backends print
 * as source.
 *
 *   iteration space   shape[0..ndim-1], walked in row-major order; the last `nreduce` dimensions are reduced (0: none).
 *                     rows = product of the others, columns = product of the reduced ones (1 when there are none).
 *
 *   instructions      in static single assignment: the result of instruction k is register k. Each has the dtype of its
 *                     result; the class it computes in follows from that:
 *                         f32  <- f32, f16, bf16      (a value of dtype bf16 is an f32 that has been rounded to bf16)
 *                         f64  <- f64
 *                         i32  <- i8, u8, i16, i32, bool   (bool is 0 or 1; a value of dtype i8 has been
 *                                                          wrapped to 8 bits)
 *                         i64  <- i64
 *                     Arithmetic wants operands of its own class and does not round or wrap to a narrower
 *                     dtype by itself: CAST does.
 *
 *   two levels        a register is of row level when it is the same for all columns of a row: an IMM, a LOAD whose
 *                     strides over the reduced dimensions are 0, a reduction's result, and arithmetic on only such
 *                     registers. Everything else is of element level. An element-level instruction may use row-level
 *                     registers that stand before it, reduction results too: softmax is
 *                         r0 LOAD x  r1 RMAX r0  r2 SUB r0 r1  r3 EXP r2  r4 RSUM r3  r5 DIV r3 r4  STORE y r5
 *                     which takes three passes over a row: up to r1, up to r4, the rest. What a later pass needs of an
 *                     earlier one is kept or computed again; both give the same bits.
 *                     A STORE of a row-level register goes to an operand whose strides over the reduced dimensions are
 *                     0. With nreduce = 0 everything is one pass.
 *
 *   operands          memory with a dtype, an offset and a stride (both in elements) per dimension; a stride may be 0
 *                     or negative for loads; stores have no two elements in one place. An operand that is stored to may
 *                     also be loaded from in the same group only with identical offset and strides, and the load stands
 *                     first. No other two operands of a group overlap when one of them is stored to.
 *
 *   arguments         shapes, offsets, strides, IMM values and memory are arguments; only what wk__program_hash hashes
 *                     is structure. A training step compiles its kernels once.
 */
#ifndef WICK_IR_IR_H
#define WICK_IR_IR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <wick/core.h>

enum {
    WK__MAX_DIMS = 8,
    WK__MAX_INS = 96,
    WK__MAX_OPERANDS = 24,
    WK__MAX_IMMS = 32,
};

typedef enum wk__opcode {
#define WK__OPCODE(name, arity, kind, text) WK__##name,
#include "opcodes.def"
#undef WK__OPCODE
    WK__OPCODE_COUNT
} wk__opcode;

/* One instruction. What the arguments are, by code:
 *   arithmetic   arg[0..arity-1] registers
 *   WHERE        registers: condition (bool), then, else
 *   CAST         register; from that register's dtype to `dtype`: float to float rounds to nearest even, float to
 *                integer truncates towards zero (out of range or NaN: as the C of x86-64 does for int64, then wraps),
 *                integer to a narrower one wraps, anything to bool is != 0
 *   IOTA         i64: position in the iteration space, row-major, 0 first. Element level.
 *   PHILOX       register of an i64 counter c >= 0 -> i64; arg[1] = IMM index of the key (64 bits), arg[2] = 32 or 64:
 *                word 0 of Philox4x32-10(counter (lo, hi, 0, 0), key) as 0..2^32-1, or words 0 | 1 << 32 as i64 bits
 *   NDTRI        register of i64 random bits (32 of them -> f32, 64 -> f64): the normal number of that quantile
 *   IMM          arg[0] index into imm[]: .f for the floating classes, .i for integers and bool
 *   LOAD         arg[0] operand
 *   LOADX        arg[0] register of an i64 index, arg[1] operand, arg[2] IMM index j: imm[j].i = number n of valid
 *                indices, imm[j + 1].i = stride in elements. Reads the operand at its usual address + index x stride; a
 *                negative index counts from the end, or is out of range too where imm[j].i is -n; out of range reads
 *                nothing, gives 0 and raises the fault.
 *   STORE        arg[0] operand, arg[1] register of the same class; narrows to the operand's dtype (already rounded)
 *   RSUM ...     register, reduced over the columns in the class of `dtype`
 */
typedef struct wk__ins {
    uint8_t code;  /* wk__opcode */
    uint8_t dtype; /* wk_dtype of the result */
    int16_t arg[3];
} wk__ins;

typedef union wk__imm {
    double f;
    int64_t i;
} wk__imm;

/* Memory of a device, as its backend gave it out; see backend.h. */
typedef struct wk__memory wk__memory;

typedef struct wk__operand {
    wk__memory *memory;
    int64_t offset; /* in elements of dtype, from the start of the memory */
    int64_t stride[WK__MAX_DIMS];
    uint8_t dtype;
    bool stored;        /* the group writes it */
    bool skip_on_fault; /* over an old value, of which a part stays: nothing is written once the device has faulted */
    bool partial;       /* stored: a part of what the memory held before stays, so it must be good */
    /* stored, by an op in place: where the target's old numbers are, this memory or another, for the case that the
     * group cannot be run; NULL: there are none */
    const wk__memory *rollback;
} wk__operand;

typedef struct wk__program {
    int nins, noperands, nimms;
    int ndim, nreduce;
    int64_t shape[WK__MAX_DIMS];
    wk__ins ins[WK__MAX_INS];
    wk__imm imm[WK__MAX_IMMS];
    wk__operand operand[WK__MAX_OPERANDS];
    /* What it reduces has neighbouring rows side by side in memory, and not its columns: where it is stored, or would
     * be if a kernel of its own made it. A device may choose its walk by that, and so the order of a sum, but not by
     * the operands, which are others once what is reduced is computed on the way. */
    bool outer_reduction;
    int64_t tag; /* of the first LOADX, the next has the next: handed back by the backend with the bad index */
} wk__program;

/* The class a dtype computes in: WK_F32, WK_F64, WK_I32 or WK_I64. */
wk_dtype wk__compute_class(wk_dtype dtype);
/* Operands of each code and its kind letter ('A', 'F', 'I', 'C', 'S'). */
extern const uint8_t wk__opcode_arity[WK__OPCODE_COUNT];
extern const char wk__opcode_kind[WK__OPCODE_COUNT];
extern const char *const wk__opcode_name[WK__OPCODE_COUNT];
extern const char *const wk__opcode_text[WK__OPCODE_COUNT];

/* Does the operand change along the columns? With nothing reduced the whole space counts as one row. A stride
 * over a dimension of size 1 leads nowhere; one over a dimension of size 0 does: what walks it has no elements,
 * where a row's value has one. */
bool wk__operand_varies_by_column(const wk__program *group, const wk__operand *operand);
/* Is register k the same for all columns of a row? Fills level[k] (0 row, 1 element) and pass[k] for all instructions:
 * the first pass over the row in which an element-level instruction can run, and in which a row-level register can be
 * used (an IMM: 0; a reduction over pass 0: 1, it is known before pass 1 begins). So for each p in turn: the row-level
 * instructions of pass p, then a walk over the columns with the element-level ones. A STORE to memory that the group
 * loads too is put off to the last pass, as what is computed again is loaded again. With nreduce = 0 the whole space
 * counts as one row, in pass 0, and stores are of element level. Strides over dimensions of size 1 are ignored. */
void wk__program_levels(const wk__program *group, uint8_t level[], uint8_t pass[]);
/* The condition of a pass that may be left out: every reduction that it makes takes WHERE(c, x, n), with this one
 * row-level register c and IMMs n. In a row where c is 0, and if each n is its reduction's identity, their results are
 * what they are without any column. -1: there is none. Stores, and values that later passes take, are the caller's. */
int wk__program_pass_condition(const wk__program *group, const uint8_t level[], const uint8_t pass[], int number);
/* Drops dimensions of size 1 and merges neighbours that every operand walks as one, never across the border
 * between kept and reduced dimensions. Afterwards ndim may be 0 (one element); a group with reduced
 * dimensions keeps at least one. */
void wk__program_coalesce(wk__program *group);
/* The same with the first `dims` dimensions alone, of a group that reduces nothing; the others stay. */
void wk__program_coalesce_outer(wk__program *group, int dims);
/* A 64-bit hash of the structure: instructions, dtypes, ndim, nreduce, and per operand and dimension whether
 * the stride is 0, 1 or other. Groups with equal structure may run the same compiled kernel. wk__program_same_structure
 * compares what is hashed. */
uint64_t wk__program_hash(const wk__program *group);
bool wk__program_same_structure(const wk__program *a, const wk__program *b);
/* Checks every rule above that can be checked; NULL or what is wrong. Debug builds and tests call it before
 * each run. */
const char *wk__program_verify(const wk__program *group);
/* The program as text, one instruction a line, for logs and tests; the caller frees it with wk__free. */
char *wk__program_dump(const wk__program *group);

static inline int64_t wk__program_rows(const wk__program *group)
{
    int64_t rows = 1;
    for (int d = 0; d < group->ndim - group->nreduce; d++) rows *= group->shape[d];
    return rows;
}

static inline int64_t wk__program_columns(const wk__program *group)
{
    int64_t columns = 1;
    for (int d = group->ndim - group->nreduce; d < group->ndim; d++) columns *= group->shape[d];
    return columns;
}

#endif
