/* SPDX-License-Identifier: Apache-2.0 */
/* What the GPU backends share: how a group, a product or a kernel along one dimension becomes launches of compiled
 * functions.
 *
 *   unit     one function of device code. A group gives one unit per structure and form; a product or such a kernel
 *            gives one per dtype, and a product that carries its tail one per dtype and structure of the tail. Shapes,
 *            strides, numbers and memory are arguments.
 *   launch   a unit with its arguments, as the planner hands it to the backend. One group is one launch as a rule; more
 *            when long rows are cut in chunks, or when indices have to be checked before anything is written.
 *
 * The text is C that OpenCL C and CUDA C both take; what they spell differently is in the prelude (prelude_dialect.c).
 */
#ifndef WICK_BACKEND_GPU_KERNEL_H
#define WICK_BACKEND_GPU_KERNEL_H

#include "base/alloc.h"
#include "backend/backend.h"

/* What the text is written in. */
typedef enum wk__gpu_dialect {
    WK__GPU_OPENCL,
    WK__GPU_CUDA /* its targets have local_memory: there are no vectors of 16 */
} wk__gpu_dialect;

/* What the planner and the printer want to know of a device. The same shape on the same kind of device always gives the
 * same launches, so the bits of a result depend on nothing else; whether a product carries its tail changes no bit. */
typedef struct wk__gpu_target {
    wk__gpu_dialect dialect; /* of the text */
    bool has_f64;
    bool exact_divide;          /* the compiler's f32 division and square root are rounded correctly */
    bool local_memory;          /* memory of a work-group is faster than the device's */
    int group_size;             /* work-items of a work-group, a power of two up to 256 */
    int64_t local_memory_bytes; /* memory that a work-group may have of its own */
    int warp_size;              /* work-items that run in step and hand each other values; 0: the dialect has no such */
    int vector_bytes;           /* bytes that an item loads at once; 0: an element */
    int loads_ahead;            /* columns that an item loads before it computes with the first of them, at least 1 */
    int max_reg_cached;         /* columns that an item may hold in registers from one pass to the next */
    int item_row_max;           /* a row up to this many columns is walked by one work-item */
    int item_line_max;          /* the same of a running sum's line, which warps do not share */
    int chunk_rows_max;         /* up to so many rows leave work-groups idle: long ones are cut in chunks */
    int item_rows_min;          /* so many neighbouring rows keep the device busy with an item each */
    int chunk_columns;          /* columns that a work-group takes of a row that is cut, */
    int max_chunks;             /* in so many at most */
    int compute_units;          /* that work-groups are spread over */
    int max_by_value_arguments; /* so many arguments fit in a struct by value; more go through memory */
    int fuse_epilogue_after;    /* a product carries its tail when the two have been met so often before
                                     (kernel_cache.h) */
} wk__gpu_target;

/* What is true of all devices of a kind: a GPU, or a CPU that OpenCL serves. The backends put in what the device itself
 * reports: compute_units, and OpenCL has_f64, exact_divide, local, local_memory_bytes and max_by_value_arguments,
 * too. */
wk__gpu_target wk__gpu_target_of(wk__gpu_dialect dialect, bool is_gpu);

/* Who walks a row; where nothing is reduced, each element is a row, and items walk them. */
typedef enum wk__gpu_row_mapping {
    WK__GPU_ROW_PER_ITEM,    /* a work-item */
    WK__GPU_ROW_PER_WARP,    /* a warp: its items reduce by handing each other values */
    WK__GPU_STRIP_PER_GROUP, /* WK__GPU_STRIP neighbouring rows, a work-group: item k is in row k % WK__GPU_STRIP of
                                them */
    WK__GPU_ROW_PER_GROUP    /* a work-group, with local memory for the reductions */
} wk__gpu_row_mapping;

enum { WK__GPU_STRIP = 32 };

typedef struct wk__gpu_kernel_config {
    uint8_t mapping;
    uint8_t vector_width; /* elements that an item takes, side by side, where nothing is reduced; 0 is 1 */
    uint8_t loads_ahead;  /* columns that an item loads before it computes with them; 0 is 1 */
    bool reg_cached;      /* these are all that it has of the row: what it knows of them it keeps from pass to pass */
    bool chunked; /* strips and groups: several work-groups share a row, each pass is a launch, with partial results in
                      scratch memory */
    uint8_t pass; /* chunked: the pass over the row that this launch makes */
    bool index32; /* positions and offsets fit in 32 bits */
    bool check_only;    /* stores nothing: only looks whether the indices are in range */
    bool skip_on_fault; /* writes what it also reads: leaves it alone once an index was out of range */
    bool elide_result;  /* of a product with a tail: the result is not stored, as the tail alone reads it */
} wk__gpu_kernel_config;

/* A kernel whose text does not depend on a group; T, STORAGE, LOAD and STORE in it stand for a dtype (kernel_source.c).
 * It may carry a tail (codegen_epilogue.h). */
typedef struct wk__gpu_template {
    const char *name;
    const char *const *text;                           /* the body in pieces, NULL at the end */
    unsigned needs;                                    /* of the prelude, beside what its dtype does */
    const struct wk__gpu_epilogue_slot *epilogue_slot; /* NULL: it takes no tail */
    int min_groups_per_unit; /* work-groups that a compute unit is to hold, where sums have 4 bytes; 0: as the compiler
                                likes */
} wk__gpu_template;

enum {
    WK__GPU_GROUP_ARGUMENTS = 8 + WK__MAX_DIMS + WK__MAX_OPERANDS * (WK__MAX_DIMS + 1) + 2 * WK__MAX_INS,
    WK__GPU_TEMPLATE_ARGUMENTS = 192, /* most that a fixed kernel has; a tail's follow */
    WK__GPU_MAX_ARGUMENTS = WK__GPU_TEMPLATE_ARGUMENTS + WK__GPU_GROUP_ARGUMENTS,
    WK__GPU_MAX_MEMORY = WK__MAX_OPERANDS + WK__WORK_OPERANDS /* pieces, scratch memory included */
};

typedef struct wk__gpu_kernel_spec {
    const wk__program *group;                /* a group's structure in a form, or ... */
    const wk__gpu_template *source_template; /* ... this, for a dtype; and then `group` is the tail that it carries,
                                                NULL: none */
    wk__gpu_kernel_config config;
    uint8_t dtype;
    bool per_group; /* launched by work-groups, which meet at barriers; else by work-items */
    int nmemory;    /* pieces of memory, scratch memory included */
    int narguments;
} wk__gpu_kernel_spec;

typedef struct wk__gpu_launch {
    wk__gpu_kernel_spec unit;
    void *block[WK__GPU_MAX_MEMORY]; /* of the pieces of memory; the scratch memory is the backend's and comes last */
    int64_t scratch;                 /* bytes of scratch memory wanted, 0: none */
    int64_t argument[WK__GPU_MAX_ARGUMENTS]; /* [0] is the backend's: where this part of the launch begins */
    int64_t count;                           /* work-groups or work-items */
    bool writes;                             /* to the memory of the group, not to scratch memory only */
} wk__gpu_launch;

typedef wk_code wk__gpu_launch_fn(void *user, const wk__gpu_launch *launch, wk__fail *fail);

/* Each hands its launches to `emit` in order and stops at the first that fails. */
wk_code wk__gpu_lower_program(const wk__gpu_target *target, const wk__program *group, wk__gpu_launch_fn *emit,
                              void *user, wk__fail *fail);
/* What wk__backend.supports says. */
bool wk__gpu_supports(const wk__gpu_target *target, int family, wk_dtype dtype, wk__layout layout);
/* Work that is no program, with its tail if it names one, which must be one that kernels can carry. */
wk_code wk__gpu_lower_work(const wk__gpu_target *target, const wk__work *work, wk__gpu_launch_fn *emit, void *user,
                           wk__fail *fail);

/* A hash of what makes a unit what it is, and whether two are the same. */
uint64_t wk__gpu_kernel_spec_hash(const wk__gpu_kernel_spec *unit);
bool wk__gpu_kernel_spec_equal(const wk__gpu_kernel_spec *a, const wk__gpu_kernel_spec *b);
/* Appends the body of the unit's function: statements that use F (the fault word), m0, m1, ... (memory), A(k)
 * (arguments) and idx (the type of positions). */
void wk__gpu_codegen_body(wk__text *text, const wk__gpu_kernel_spec *unit);
/* Appends a kernel of that name around a unit's body. Parameters: the fault word, the unit's memory, then the arguments
 * as a struct by value or, when they are many, as memory. */
void wk__gpu_codegen_function(wk__text *text, const wk__gpu_target *target, const wk__gpu_kernel_spec *unit,
                              const char *name, const char *body);
static inline bool wk__gpu_arguments_by_value(const wk__gpu_target *target, const wk__gpu_kernel_spec *unit)
{
    return unit->narguments <= target->max_by_value_arguments;
}
/* Appends one kernel for many bodies that have no barriers. Parameters: the fault word, `nmemory` pieces of memory, the
 * arguments as memory, and which body to run. To compile costs little more than one kernel does, to run costs more. */
void wk__gpu_codegen_switch(wk__text *text, const char *name, int nmemory, const char *const bodies[], int count);

/* What a program needs of the prelude. */
enum { WK__GPU_NEEDS_F64 = 1, WK__GPU_NEEDS_NDTRI32 = 2, WK__GPU_NEEDS_NDTRI64 = 4, WK__GPU_NEEDS_WIDE = 8 };
unsigned wk__gpu_prelude_flags(const wk__gpu_kernel_spec *unit);
void wk__gpu_prelude(wk__text *text, const wk__gpu_target *target, unsigned needs);

/* ---- shared by the files of this folder -------------------------------------------------------------------------- */

/* Places of a group's arguments. -1: not there (a stride of 0 or 1 needs none). */
typedef struct wk__gpu_layout {
    int shape, columns, chunks, tag;
    int offset[WK__MAX_OPERANDS];
    int stride[WK__MAX_OPERANDS][WK__MAX_DIMS];
    int value[WK__MAX_INS]; /* IMM: its bits; PHILOX: key; LOADX: bound, then stride */
    int count;
} wk__gpu_layout;

/* They begin at place `first`: WK__GPU_ROWS + 1, behind the number of the first row ([0]) and that of rows, or behind
 * what a product has. */
enum { WK__GPU_ROWS = 1 };
void wk__gpu_layout_of(const wk__program *group, int first, wk__gpu_layout *layout);
/* Fills them in, but for the number of chunks. */
void wk__gpu_fill_program(const wk__program *group, const wk__gpu_layout *layout, int64_t *argument);
/* Do positions and places of all operands fit in 32 bits? */
bool wk__gpu_fits_index32(const wk__program *group);
bool wk__gpu_uses_doubles(const wk__program *group);

/* Which instruction runs when.
 *   loop   false: once a row; true: for each column
 *   pass   in a loop: the pass over the row that it belongs to; else how many passes must be over before it is known */
typedef struct wk__gpu_schedule {
    bool in_loop[WK__MAX_INS];
    uint8_t pass[WK__MAX_INS];
    int passes; /* loops over the row, at least 1 when anything is of element level */
    int reductions;
} wk__gpu_schedule;

void wk__gpu_schedule_of(const wk__program *group, wk__gpu_schedule *schedule);

/* Launches that a row in chunks takes, less one: the last stores. What is known only when all passes are over needs one
 * more than there are passes. */
int wk__gpu_last_pass(const wk__program *group, const wk__gpu_schedule *schedule);

/* C type of a class, of a dtype in memory; the suffix that the prelude's functions have for a class. */
const char *wk__gpu_class_type(wk_dtype dtype);
const char *wk__gpu_storage_type(wk_dtype dtype);
const char *wk__gpu_suffix(wk_dtype dtype);

bool wk__gpu_is_reduction(int code);
bool wk__gpu_has_instruction(const wk__program *group, int code);

void wk__gpu_codegen_program(wk__text *text, const wk__program *group, wk__gpu_kernel_config form);

/* WK_ERR_UNSUPPORTED in words. */
wk_code wk__gpu_fail_no_f64(wk__fail *fail);

/* An operand's start in elements of its dtype. */
int64_t wk__gpu_first_element(const wk__operand *operand);

#endif
