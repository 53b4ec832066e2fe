/* SPDX-License-Identifier: Apache-2.0 */
/* Programs: the intermediate representation of one fused kernel. The CPU interprets it; the GPU backends generate
 * source from it.
 *
 *   iteration space   shape[0..ndim-1] in row-major order; the last `nreduce` dimensions are reduced (0: none).
 *                     rows = product of the other sizes, columns = product of the reduced ones (1 if there are none).
 *
 *   instructions      static single assignment: the result of instruction k is register k. Each has the dtype of its
 *                     result, which determines the class it computes in:
 *                         f32  <- f32, f16, bf16      (a value of dtype bf16 is an f32 that has been rounded to bf16)
 *                         f64  <- f64
 *                         i32  <- i8, u8, i16, i32, bool   (bool is 0 or 1; a value of dtype i8 has been
 *                                                          wrapped to 8 bits)
 *                         i64  <- i64
 *                     Arithmetic requires operands of its own class and does not round or wrap to a narrower dtype;
 *                     CAST does.
 *
 *   two levels        a register is of row level if it is the same for all columns of a row: an IMM, a LOAD whose
 *                     strides over the reduced dimensions are 0, the result of a reduction, and arithmetic on only such
 *                     registers. All others are of element level. An element-level instruction may use any earlier
 *                     row-level register, including reduction results. Softmax is
 *                         r0 LOAD x  r1 RMAX r0  r2 SUB r0 r1  r3 EXP r2  r4 RSUM r3  r5 DIV r3 r4  STORE y r5
 *                     which takes three passes over a row: up to r1, up to r4, the rest. Values that a later pass needs
 *                     from an earlier one are kept or recomputed, with the same bits.
 *                     A STORE of a row-level register requires strides of 0 over the reduced dimensions. With
 *                     nreduce = 0 there is one pass.
 *
 *   operands          memory with a dtype, an offset and a stride (both in elements) per dimension. Strides of loads
 *                     may be 0 or negative; no two elements of a stored operand share an address. A stored operand may
 *                     be loaded in the same program only with the same offset and strides, and before the store. No
 *                     other two operands overlap if one of them is stored.
 *
 *   arguments         shapes, offsets, strides, IMM values and memory are arguments; only what wk__program_hash()
 *                     hashes is structure. So a training loop compiles its kernels once. */
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

/* One instruction. Arguments by opcode:
 *   arithmetic   arg[0..arity-1] registers
 *   WHERE        registers: condition (bool), then, else
 *   CAST         register; from that register's dtype to `dtype`: float to float rounds to nearest even, float to
 *                integer truncates towards zero (out of range or NaN: as C on x86-64 does for int64, then wraps),
 *                integer to a narrower one wraps, anything to bool is != 0
 *   IOTA         i64: index in the iteration space, row-major, from 0. Element level.
 *   PHILOX       register of an i64 counter c >= 0 -> i64; arg[1] = IMM index of the key (64 bits), arg[2] = 32 or 64:
 *                word 0 of Philox4x32-10(counter (lo, hi, 0, 0), key) as 0..2^32-1, or words 0 | 1 << 32 as i64 bits
 *   NDTRI        register of i64 random bits (32 of them -> f32, 64 -> f64): the normal deviate of that quantile
 *   IMM          arg[0] index into imm[]: .f for the floating classes, .i for integers and bool
 *   LOAD         arg[0] operand
 *   LOADX        arg[0] register of an i64 index, arg[1] operand, arg[2] IMM index j: imm[j].i = number n of valid
 *                indices, imm[j + 1].i = stride in elements. Reads the operand at its usual address + index x stride. A
 *                negative index counts from the end, but is out of range if imm[j].i is -n. An index out of range reads
 *                nothing, yields 0 and raises a fault.
 *   STORE        arg[0] operand, arg[1] register of the same class; narrows to the operand's dtype (already rounded)
 *   RSUM ...     register, reduced over the columns in the class of `dtype` */
typedef struct wk__ins {
    uint8_t code;  /* wk__opcode */
    uint8_t dtype; /* wk_dtype of the result */
    int16_t arg[3];
} wk__ins;

typedef union wk__imm {
    double f;
    int64_t i;
} wk__imm;

/* Device memory, allocated by a backend; see backend.h. */
typedef struct wk__memory wk__memory;

typedef struct wk__operand {
    wk__memory *memory;
    int64_t offset; /* elements of dtype, from the start of the memory */
    int64_t stride[WK__MAX_DIMS];
    uint8_t dtype;
    bool stored;        /* the program writes it */
    bool skip_on_fault; /* the store overwrites a part of an old value: skipped once the device has faulted */
    bool partial;       /* stored: a part of the previous contents remains, so those must be valid */
    /* stored by an in-place op: memory with the old contents of the target, this or another, in case the program cannot
     * run; NULL: none */
    const wk__memory *rollback;
} wk__operand;

typedef struct wk__program {
    int nins, noperands, nimms;
    int ndim, nreduce;
    int64_t shape[WK__MAX_DIMS];
    wk__ins ins[WK__MAX_INS];
    wk__imm imm[WK__MAX_IMMS];
    wk__operand operand[WK__MAX_OPERANDS];
    /* In the layout that the reduced input has in memory, or would have if its own kernel stored it, adjacent rows are
     * contiguous and columns are not. A device may choose its loop order by this, and so the order of a sum, but not by
     * the operands, which differ if the input is fused. */
    bool outer_reduction;
    bool is_epilogue; /* operand 0 is the result of the contraction of the same work, and no old value */
    /* tag of the first LOADX; each further LOADX has the next one. Returned by the backend with a bad index */
    int64_t tag;
} wk__program;

/* Returns the class a dtype computes in: WK_F32, WK_F64, WK_I32 or WK_I64. */
wk_dtype wk__compute_class(wk_dtype dtype);
/* Per opcode: number of register operands, kind letter ('A', 'F', 'I', 'C', 'S'), name, and GPU source text. */
extern const uint8_t wk__opcode_arity[WK__OPCODE_COUNT];
extern const char wk__opcode_kind[WK__OPCODE_COUNT];
extern const char *const wk__opcode_name[WK__OPCODE_COUNT];
extern const char *const wk__opcode_text[WK__OPCODE_COUNT];

/* Returns true if the operand varies along the columns. With nreduce = 0 the entire space is one row. Strides over
 * dimensions of size 1 are ignored; those of size 0 count, since such a loop has no elements while a row value has
 * one. */
bool wk__operand_varies_by_column(const wk__program *group, const wk__operand *operand);
/* Computes the level (0 row, 1 element) and the pass of every instruction: the first pass over the row in which an
 * element-level instruction can run or a row-level register is available (an IMM: 0; a reduction over pass 0: 1, since
 * it is complete before pass 1). Execution runs, for each pass p, the row-level instructions of p and then the
 * element-level ones for all columns. A STORE to memory that the program also loads is moved to the last pass, because
 * recomputation loads again. With nreduce = 0 the entire space is one row in pass 0, and stores are of element level.
 * Strides over dimensions of size 1 are ignored. */
void wk__program_levels(const wk__program *group, uint8_t level[], uint8_t pass[]);
/* Returns the row-level register c under which a pass can be skipped, or -1. It exists if every reduction of the pass
 * takes WHERE(c, x, n) with the same c and IMMs n: in a row where c is 0, and if each n is its reduction's identity,
 * the results equal those of no columns. The caller checks for stores and for values that later passes need. */
int wk__program_pass_condition(const wk__program *group, const uint8_t level[], const uint8_t pass[], int number);
/* Returns the operands that are stored to and whose memory the program also loads, a bit each. wk__program_levels()
 * depends on these, on the structure, and on which dimensions have size 1. */
uint32_t wk__program_overwritten(const wk__program *group);
/* Like wk__program_levels(), but does not move such STOREs: for a coalesced program the result depends on the structure
 * alone. */
void wk__program_levels_by_structure(const wk__program *group, uint8_t level[], uint8_t pass[]);
/* Drops dimensions of size 1 and merges adjacent dimensions that are contiguous in every operand, never across the
 * border between kept and reduced dimensions. Afterwards ndim may be 0 (one element); a program with reduced dimensions
 * keeps at least one. If that one has size 1, all strides over it are 0, so that levels depend on the structure alone.
 * */
void wk__program_coalesce(wk__program *group);
/* Like wk__program_coalesce(), but only for the first `dims` dimensions of a program without reductions. */
void wk__program_coalesce_outer(wk__program *group, int dims);
/* Hashes or compares the structure: instructions, dtypes, ndim, nreduce, and per operand and dimension whether the
 * stride is 0, 1 or other. Programs of equal structure share a compiled kernel. */
uint64_t wk__program_hash(const wk__program *group);
bool wk__program_same_structure(const wk__program *a, const wk__program *b);
/* Checks the rules above as far as possible; returns NULL or a description of the error. Called before each run in
 * debug builds and tests. */
const char *wk__program_verify(const wk__program *group);
/* Returns the program as text, one instruction per line, for logs and tests; the caller frees it with wk__free(). */
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
