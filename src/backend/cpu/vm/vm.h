/* SPDX-License-Identifier: Apache-2.0 */
/* The register VM: the interface between the code generator and the instruction sets.
 *
 * A program is an array of instructions. Each is a C function that processes one block of `lanes` values, held in
 * vector registers x0..x7, and ends in a tail call of the next; the last one returns. There is one value, the
 * accumulator: 4-byte classes (f32, i32) occupy x0..x3, 8-byte classes (f64, i64) x0..x7, so a block has the same
 * number of lanes in every class (64 with 64-byte vectors, 32 with 32, 16 with 16). Second operands come from a slot or
 * a scalar:
 *
 *     slot    memory: the block at i begins at p + i x step. If step is the size of an element, blocks are consecutive;
 *             if it is 0, the slot is a tile shared by all blocks. The iterator rebinds slots; the program is constant.
 *     scalar  one value for all lanes: an IMM, or a value common to a row.
 *
 *     LOAD x0..x3 <- slot 0 | ADD scalar 5 | EXP | MUL slot 1 | STORE slot 2 | END         is (z + 2).exp() * y
 *
 * Only the first `count` lanes of a block exist. Instructions that access memory of operands stay within them; tiles
 * are written entirely. */
#ifndef WICK_BACKEND_CPU_VM_H
#define WICK_BACKEND_CPU_VM_H

#include "ir/ir.h"
#include "backend/backend.h"

enum {
    WK__VM_MAX_LANES = 64,
    WK__VM_MAX_TILE = WK__VM_MAX_LANES * 8, /* bytes: a block of the largest class with the widest vectors */

    /* IOTA reads a pseudo-operand: elements of one byte whose address is the position. */
    WK__VM_POSITION = WK__MAX_OPERANDS,
    WK__VM_OPERANDS = WK__MAX_OPERANDS + 1,

    /* Slot numbers. */
    WK__VM_OPERAND = 0,                                 /* + operand: its elements, or a panel with copies */
    WK__VM_BASE = WK__VM_OPERAND + WK__VM_OPERANDS,     /* + operand: base addresses for LOADX and IOTA */
    WK__VM_OFFSETS = WK__VM_BASE + WK__VM_OPERANDS,     /* + operand: tile of i64 with each lane's offset from them */
    WK__VM_GATHERED = WK__VM_OFFSETS + WK__VM_OPERANDS, /* elements fetched by LOADX */
    WK__VM_TILE,                                        /* + n: scratch within a program */
    WK__VM_CARRIED = WK__VM_TILE + WK__MAX_INS,         /* + register: kept between programs */
    WK__VM_ACCUMULATOR = WK__VM_CARRIED + WK__MAX_INS,  /* + register: accumulator of a reduction */
    WK__VM_SLOTS = WK__VM_ACCUMULATOR + WK__MAX_INS
};

/* The four compute classes, as table indices. */
typedef enum wk__vm_class { WK__VM_F32, WK__VM_F64, WK__VM_I32, WK__VM_I64, WK__VM_CLASSES } wk__vm_class;

/* Source of an instruction's second operand, and its side of the operator. */
typedef enum wk__vm_form {
    WK__VM_MEMORY,      /* acc op slot; the only form of unary operations (without a slot) */
    WK__VM_SCALAR,      /* acc op scalar */
    WK__VM_MEMORY_LEFT, /* slot op acc; NULL if the operation commutes or the form is rare */
    WK__VM_SCALAR_LEFT,
    WK__VM_FORMS
} wk__vm_form;

/* Generators: IOTA, PHILOX, and NDTRI to f32 and to f64. */
typedef enum wk__vm_generator {
    WK__VM_IOTA,
    WK__VM_PHILOX,
    WK__VM_NORMAL32,
    WK__VM_NORMAL64,
    WK__VM_GENERATORS
} wk__vm_generator;

/* Function of an instruction, untyped: its vector arguments depend on the instruction set. */
typedef void wk__vm_op(void);

typedef struct wk__vm_ins {
    wk__vm_op *op;
    int16_t a, b; /* slots and scalars */
    /* LOADX: scalar with the number of valid indices, followed by the stride in elements. PHILOX: scalar of the key */
    int16_t c;
    int16_t bits; /* PHILOX */
} wk__vm_ins;

typedef struct wk__vm_slot {
    char *p;
    int64_t step; /* bytes per lane, or 0: see above */
} wk__vm_slot;

typedef union wk__vm_scalar {
    float f32;
    double f64;
    int32_t i32;
    int64_t i64;
} wk__vm_scalar;

/* State of one thread that runs programs. Large; untouched parts cost nothing. */
typedef struct wk__vm_state {
    int64_t count; /* existing lanes of the current block */
    /* run_loop: the program, the start of its last complete block, and the target of its sum */
    const wk__vm_ins *loop_start;
    int64_t loop_end;
    void *loop_accumulator;
    bool fault; /* an index was out of range: the first one and the number of valid indices */
    int64_t fault_index, fault_bound;
    wk__vm_slot place[WK__VM_SLOTS];
    wk__vm_scalar cell[WK__MAX_INS + WK__MAX_IMMS]; /* by register; then the immediates */
} wk__vm_state;

/* One kind of reduction in one class. A tile contains a partial result per lane. */
typedef struct wk__vm_reduction {
    wk__vm_op *op;     /* slot a, a tile <- itself op acc, lane by lane */
    wk__vm_op *reg_op; /* x4..x7 <- themselves op acc; NULL in 8-byte classes, which use these registers */
    /* x4..x7 <- themselves op slot a, elements of the class's own dtype, for all remaining blocks: for a program that
     * consists of this instruction and `loop`. NULL if reg_op is. */
    wk__vm_op *reg_row_op;
    /* Sets all lanes of the tile to the identity of the reduction. */
    void (*set_identity)(void *tile);
    /* into[l] <- into[l] op from[l]. */
    void (*merge)(void *into, const void *from);
    /* Lane 0 <- all lanes, folding the upper half onto the lower until one is left:
     *     0 1 2 3 4 5 6 7  ->  0+4 1+5 2+6 3+7  ->  (0+4)+(2+6) (1+5)+(3+7)  ->  their sum */
    void (*fold)(void *tile);
} wk__vm_reduction;

/* Functions of one class. */
typedef struct wk__vm_table {
    wk__vm_op *op[WK__OPCODE_COUNT][WK__VM_FORMS];
    wk__vm_op *splat;           /* acc <- scalar a */
    wk__vm_op *store_scalar;    /* scalar a <- lane 0 */
    wk__vm_op *load_tile;       /* acc <- slot a, a tile or padded row: all lanes */
    wk__vm_op *square;          /* acc <- acc x acc */
    wk__vm_op *store_tile;      /* slot a, a tile or padded row <- acc: all lanes */
    wk__vm_op *where[4];        /* acc, a condition, ? a : b; slots of this class; + 1: a is a scalar, + 2: b is one */
    wk__vm_reduction reduce[4]; /* RSUM, RPROD, RMAX, RMIN */
} wk__vm_table;

/* One instruction set. */
typedef struct wk__vm {
    int lanes;
    const wk__vm_table *table[WK__VM_CLASSES];
    /* By dtype. */
    wk__vm_op *const *load;              /* acc <- elements of slot a, widened to their class */
    wk__vm_op *const *store;             /* elements of slot a <- acc */
    wk__vm_op *const *store_nontemporal; /* likewise, bypassing the caches */
    wk__vm_op *const *gather; /* slot GATHERED <- elements at a + index (acc, i64) x stride: half of a LOADX */
    wk__vm_op *const *narrow; /* rounds or wraps within the class; NULL if not needed */
    /* By class. */
    wk__vm_op *const (*convert)[WK__VM_CLASSES]; /* [from][to]; NULL on the diagonal */
    wk__vm_op *const *to_bool;                   /* acc != 0, as bool */
    wk__vm_op *const *generate;                  /* by wk__vm_generator */
    wk__vm_op *end;

    wk__vm_op *loop;

    /* Runs the program on blocks from, from + lanes, ... below `to`; the last may be short. */
    void (*run)(const wk__vm_ins *program, wk__vm_state *state, int64_t from, int64_t to);
    /* Like run(), for a program that ends in `loop` instead of `end`: x4..x7 hold the tile `sum` between blocks. */
    void (*run_loop)(const wk__vm_ins *program, wk__vm_state *state, int64_t from, int64_t to, void *sum);
    /* Runs the program on blocks from, from + 1, ..., to - 1, each of `count` lanes. */
    void (*run_steps)(const wk__vm_ins *program, wk__vm_state *state, int64_t from, int64_t to, int64_t count);
    /* Makes non-temporal stores visible to other threads. */
    void (*fence)(void);
} wk__vm;

static inline wk__vm_class wk__vm_class_of(wk_dtype dtype)
{
    static const uint8_t classes[WK_DTYPE_COUNT] = {
        [WK_F32] = WK__VM_F32, [WK_F64] = WK__VM_F64, [WK_F16] = WK__VM_F32, [WK_BF16] = WK__VM_F32,
        [WK_I8] = WK__VM_I32,  [WK_U8] = WK__VM_I32,  [WK_I16] = WK__VM_I32, [WK_I32] = WK__VM_I32,
        [WK_I64] = WK__VM_I64, [WK_BOOL] = WK__VM_I32};
    return (wk__vm_class)classes[dtype];
}

/* Inline version of wk_dtype_size(): tiny programs run very often. */
static inline int wk__vm_size_of(int dtype)
{
    static const uint8_t sizes[WK_DTYPE_COUNT] = {
        [WK_F32] = 4, [WK_F64] = 8, [WK_F16] = 2, [WK_BF16] = 2, [WK_I8] = 1,
        [WK_U8] = 1,  [WK_I16] = 2, [WK_I32] = 4, [WK_I64] = 8,  [WK_BOOL] = 1};
    return sizes[dtype];
}

static inline int wk__vm_class_size(wk__vm_class class)
{
    return class == WK__VM_F64 || class == WK__VM_I64 ? 8 : 4;
}

#endif
