/* SPDX-License-Identifier: Apache-2.0 */
/* The register VM: what the planner writes and the instruction sets execute.
 *
 * A program is an array of instructions. Each is a C function that works on one block of `lanes` values, held in vector
 * registers x0..x7, and ends in a jump to the next; the last one returns. There is one value, the accumulator: classes
 * of 4 bytes (f32, i32) live in x0..x3, those of 8 bytes (f64, i64) in x0..x7, so a block has as many lanes in every
 * class (64 with 64-byte vectors, 32 with 32, 16 with 16). Second operands come from a place or a cell:
 *
 *     place   memory: the block at i begins at p + i x step. With step = the size of an element blocks follow one
 *             another; with step = 0 it is a tile, for whatever block is at hand. The walk over the iteration space
 *             moves places, the program never changes.
 *     cell    one number for all lanes: an IMM, or a value that is the same for a whole row.
 *
 *     LOAD x0..x3 <- place 0 | ADD cell 5 | EXP | MUL place 1 | STORE place 2 | END        is (z + 2).exp() * y
 *
 * Only the first `count` lanes of a block exist. Instructions that touch memory of an operand keep inside them; tiles
 * are written whole. */
#ifndef WICK_BACKEND_CPU_VM_H
#define WICK_BACKEND_CPU_VM_H

#include "ir/ir.h"
#include "backend/backend.h"

enum {
    WK__VM_MAX_LANES = 64,
    WK__VM_MAX_TILE = WK__VM_MAX_LANES * 8, /* bytes: a block of the largest class with the widest vectors */

    /* What IOTA gives is an operand of its own: elements of one byte, whose address is the position. */
    WK__VM_POSITION = WK__MAX_OPERANDS,
    WK__VM_OPERANDS = WK__MAX_OPERANDS + 1,

    /* Places, by number. */
    WK__VM_OPERAND = 0,                                 /* + operand: where its elements are, or a copy of them */
    WK__VM_BASE = WK__VM_OPERAND + WK__VM_OPERANDS,     /* + operand: addresses for LOADX and IOTA */
    WK__VM_OFFSETS = WK__VM_BASE + WK__VM_OPERANDS,     /* + operand: tile of i64, what each lane adds to them */
    WK__VM_GATHERED = WK__VM_OFFSETS + WK__VM_OPERANDS, /* what LOADX has fetched */
    WK__VM_TILE,                                        /* + n: scratch of one program */
    WK__VM_CARRIED = WK__VM_TILE + WK__MAX_INS,         /* + register: kept between programs */
    WK__VM_ACCUMULATOR = WK__VM_CARRIED + WK__MAX_INS,  /* + register: what a reduction has added up */
    WK__VM_SLOTS = WK__VM_ACCUMULATOR + WK__MAX_INS
};

/* The four classes, as indices of tables. */
typedef enum wk__vm_class { WK__VM_F32, WK__VM_F64, WK__VM_I32, WK__VM_I64, WK__VM_CLASSES } wk__vm_class;

/* Where the second operand of an instruction comes from, and on which side of the operator it stands. */
typedef enum wk__vm_form {
    WK__VM_MEMORY,      /* acc op place; the only form of an operation with one operand (no place) */
    WK__VM_SCALAR,      /* acc op cell */
    WK__VM_MEMORY_LEFT, /* place op acc; NULL where the operation commutes or the form is rare */
    WK__VM_SCALAR_LEFT,
    WK__VM_FORMS
} wk__vm_form;

/* Values from nothing or from bits: IOTA, PHILOX, and NDTRI to f32 and to f64. */
typedef enum wk__vm_generator {
    WK__VM_IOTA,
    WK__VM_PHILOX,
    WK__VM_NORMAL32,
    WK__VM_NORMAL64,
    WK__VM_GENERATORS
} wk__vm_generator;

/* An instruction's function, without its type: the vectors of its arguments belong to the instruction set. */
typedef void wk__vm_op(void);

typedef struct wk__vm_ins {
    wk__vm_op *op;
    int16_t a, b; /* numbers of places and cells */
    int16_t c;    /* cell of LOADX's number of valid indices, before its stride in elements; of PHILOX's key */
    int16_t bits; /* PHILOX */
} wk__vm_ins;

typedef struct wk__vm_slot {
    char *p;
    int64_t step; /* bytes from lane to lane, or 0: see above */
} wk__vm_slot;

typedef union wk__vm_scalar {
    float f32;
    double f64;
    int32_t i32;
    int64_t i64;
} wk__vm_scalar;

/* What one thread needs to run programs. Large, but only what a program uses is ever touched. */
typedef struct wk__vm_state {
    int64_t count;                /* lanes of the current block that exist */
    const wk__vm_ins *loop_start; /* of run_loop: the program, where its last whole block is, and where its sum goes */
    int64_t loop_end;
    void *loop_accumulator;
    bool fault; /* an index was out of range: the first one and the number of valid indices */
    int64_t fault_index, fault_bound;
    wk__vm_slot place[WK__VM_SLOTS];
    wk__vm_scalar cell[WK__MAX_INS + WK__MAX_IMMS]; /* by register; then the immediates as they are */
} wk__vm_state;

/* One kind of reduction in one class. A tile holds a partial result per lane. */
typedef struct wk__vm_reduction {
    wk__vm_op *op;     /* place a, a tile <- itself with acc, lane by lane */
    wk__vm_op *reg_op; /* x4..x7 <- themselves with acc; NULL in classes of 8 bytes, which need these registers */
    /* x4..x7 <- themselves with place a, elements of the class's own dtype, block after block up to the last one: for a
     * program that is this instruction and `again`. NULL where `held` is. */
    wk__vm_op *reg_row_op;
    /* All lanes of the tile become the value that a reduction starts with. */
    void (*set_identity)(void *tile);
    /* into[l] <- into[l] with from[l]. */
    void (*merge)(void *into, const void *from);
    /* Lane 0 <- all lanes. The upper half is folded onto the lower one until one is left:
     *     0 1 2 3 4 5 6 7  ->  0+4 1+5 2+6 3+7  ->  (0+4)+(2+6) (1+5)+(3+7)  ->  their sum */
    void (*fold)(void *tile);
} wk__vm_reduction;

/* The functions of one class. */
typedef struct wk__vm_table {
    wk__vm_op *op[WK__OPCODE_COUNT][WK__VM_FORMS];
    wk__vm_op *splat;           /* acc <- cell a */
    wk__vm_op *store_scalar;    /* cell a <- lane 0 */
    wk__vm_op *load_tile;       /* acc <- place a, a tile or padded row: all lanes */
    wk__vm_op *square;          /* acc <- acc x acc */
    wk__vm_op *store_tile;      /* place a, a tile or padded row <- acc: all lanes */
    wk__vm_op *where[4];        /* acc, a condition, ? a : b; places of this class; + 1: a is a cell, + 2: b is one */
    wk__vm_reduction reduce[4]; /* RSUM, RPROD, RMAX, RMIN */
} wk__vm_table;

/* One instruction set. */
typedef struct wk__vm {
    int lanes;
    const wk__vm_table *table[WK__VM_CLASSES];
    /* By dtype. */
    wk__vm_op *const *load;              /* acc <- elements of place a, widened to their class */
    wk__vm_op *const *store;             /* elements of place a <- acc */
    wk__vm_op *const *store_nontemporal; /* the same, past the caches */
    wk__vm_op *const *gather;            /* place FETCHED <- elements at a + index (acc, i64) x stride: half a LOADX */
    wk__vm_op *const *narrow;            /* rounds or wraps within the class; NULL where nothing is to be done */
    /* By class. */
    wk__vm_op *const (*convert)[WK__VM_CLASSES]; /* [from][to]; NULL on the diagonal */
    wk__vm_op *const *to_bool;                   /* acc != 0, as bool */
    wk__vm_op *const *generate;                  /* by wk__vm_generator */
    wk__vm_op *end;

    wk__vm_op *loop;

    /* Runs the program on blocks from, from + lanes, ... below `to`; the last may be short. */
    void (*run)(const wk__vm_ins *program, wk__vm_state *state, int64_t from, int64_t to);
    /* The same for a program that ends in `again` instead of `end`: x4..x7 hold the tile `sum` from block to block. */
    void (*run_loop)(const wk__vm_ins *program, wk__vm_state *state, int64_t from, int64_t to, void *sum);
    /* Runs the program on blocks from, from + 1, ..., to - 1, all of the same `count` lanes. */
    void (*run_steps)(const wk__vm_ins *program, wk__vm_state *state, int64_t from, int64_t to, int64_t count);
    /* Makes streamed stores visible to other threads. */
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

/* wk_dtype_size without the call: tiny groups are run by the million. */
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
