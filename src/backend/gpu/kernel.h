/* SPDX-License-Identifier: Apache-2.0 */
/* Common part of the GPU backends: lowers programs, contractions and kernels along one dimension to launches of
 * compiled kernels.
 *
 *    kernel spec   identifies one kernel: a program's structure with a kernel config; or a template with a dtype and,
 *                  if fused, the structure of an epilogue. Shapes, strides, constants and memory are arguments.
 *    launch        a kernel spec with its arguments, passed to the backend. A program usually becomes one launch; more
 *                  if long rows are split into chunks, or if indices must be checked before anything is written.
 *
 * The source is C that is valid as OpenCL C and CUDA C; differences are in the prelude (codegen/prelude_dialect.c).
 * Functions here are stateless, so any thread may call them. */
#ifndef WICK_BACKEND_GPU_KERNEL_H
#define WICK_BACKEND_GPU_KERNEL_H

#include "base/alloc.h"
#include "backend/backend.h"

/* Language of the source. */
typedef enum wk__gpu_dialect {
    WK__GPU_OPENCL,
    WK__GPU_CUDA /* requires local memory; has no vectors of 16 */
} wk__gpu_dialect;

/* Properties of a device that lowering and code generation depend on. The same shape on the same kind of device always
 * gives the same launches, and results depend on nothing else; fusing an epilogue changes no bit. */
typedef struct wk__gpu_target {
    wk__gpu_dialect dialect;
    bool has_f64;
    bool exact_divide;          /* f32 division and square root are correctly rounded */
    bool local_memory;          /* local memory is faster than device memory */
    int group_size;             /* work-items per work-group, a power of two up to 256 */
    int64_t local_memory_bytes; /* maximum local memory of a work-group */
    int warp_size;              /* work-items per warp (lockstep, shuffles); 0: the dialect has none */
    int vector_bytes;           /* size of vector loads; 0: one element */
    int loads_ahead;            /* columns that an item loads before it computes with the first, at least 1 */
    int max_reg_cached;         /* maximum columns that an item may keep in registers between passes */
    int item_row_max;           /* maximum columns of a row that is processed by one work-item */
    int item_line_max;          /* the same for lines of a scan, which warps can't share */
    int chunk_rows_max;         /* if there are at most this many rows, long ones are split into chunks */
    int item_rows_min;          /* with this many adjacent rows, one item per row keeps the device busy */
    int chunk_columns;          /* columns per chunk */
    int max_chunks;             /* maximum chunks per row */
    int compute_units;          /* compute units, for load balancing */
    int max_by_value_arguments; /* maximum arguments in a struct passed by value; more are passed in memory */
    /* number of uses of an epilogue after which it is fused into the contraction (kernel_cache.h) */
    int fuse_epilogue_after;
} wk__gpu_target;

/* Returns the defaults for a kind of device: a GPU, or a CPU driven by OpenCL. Backends then set the properties that
 * the device reports: compute_units and, for OpenCL, has_f64, exact_divide, local_memory, local_memory_bytes and
 * max_by_value_arguments. */
wk__gpu_target wk__gpu_target_of(wk__gpu_dialect dialect, bool is_gpu);

/* Assignment of rows to items. Without reductions, each element is a row, and rows are assigned to items. */
typedef enum wk__gpu_row_mapping {
    WK__GPU_ROW_PER_ITEM, /* one work-item */
    WK__GPU_ROW_PER_WARP, /* one warp, which reduces with shuffles */
    /* one work-group per WK__GPU_STRIP adjacent rows: item k processes row k % WK__GPU_STRIP of them */
    WK__GPU_STRIP_PER_GROUP,
    WK__GPU_ROW_PER_GROUP /* one work-group, which reduces in local memory */
} wk__gpu_row_mapping;

enum { WK__GPU_STRIP = 32 };

typedef struct wk__gpu_kernel_config {
    uint8_t mapping;
    uint8_t vector_width; /* without reductions: contiguous elements per item; 0 means 1 */
    uint8_t loads_ahead;  /* columns that an item loads before it computes; 0 means 1 */
    bool reg_cached;      /* these are all of the item's columns, and it keeps them in registers between passes */
    /* for strips and groups: several work-groups share a row; each pass is a launch, with partial results in scratch
     * memory */
    bool chunked;
    uint8_t pass;       /* if chunked: index of the pass that this launch computes */
    bool index32;       /* positions and offsets fit in 32 bits */
    bool check_only;    /* stores nothing, only checks indices */
    bool skip_on_fault; /* writes memory that it also reads: does nothing after a fault */
    bool elide_result;  /* contraction with an epilogue: the result is not stored, because only the epilogue reads it */
    uint8_t block_format; /* of products with quantised blocks: a wk_block_format */
} wk__gpu_kernel_config;

/* A kernel whose source does not depend on a program; T, STORAGE, LOAD and STORE depend on the dtype (kernel_source.c).
 * May include an epilogue (codegen_epilogue.h) and a decoder of blocks (codegen_blocks.h). */
typedef struct wk__gpu_template {
    const char *name;
    const char *const *text;                           /* the body, as a NULL-terminated list of strings */
    unsigned needs;                                    /* prelude flags, in addition to those of the dtype */
    const struct wk__gpu_epilogue_slot *epilogue_slot; /* NULL: cannot include an epilogue */
    /* minimum work-groups per compute unit, for 4-byte accumulators; 0: default of the compiler */
    int min_groups_per_unit;
} wk__gpu_template;

enum {
    WK__GPU_GROUP_ARGUMENTS = 8 + WK__MAX_DIMS + WK__MAX_OPERANDS * (WK__MAX_DIMS + 1) + 2 * WK__MAX_INS,
    WK__GPU_TEMPLATE_ARGUMENTS = 192, /* maximum of a template; those of an epilogue follow */
    WK__GPU_MAX_ARGUMENTS = WK__GPU_TEMPLATE_ARGUMENTS + WK__GPU_GROUP_ARGUMENTS,
    WK__GPU_MAX_MEMORY = WK__MAX_OPERANDS + WK__WORK_OPERANDS /* buffers, including scratch memory */
};

typedef struct wk__gpu_kernel_spec {
    /* a program's structure for this config; or the epilogue of source_template, NULL: none */
    const wk__program *group;
    /* a template, for a dtype; NULL: a program */
    const wk__gpu_template *source_template;
    wk__gpu_kernel_config config;
    uint8_t dtype;
    bool per_group; /* launched in work-groups, which use barriers; otherwise in work-items */
    int nmemory;    /* number of buffers, including scratch memory */
    int narguments;
} wk__gpu_kernel_spec;

typedef struct wk__gpu_launch {
    wk__gpu_kernel_spec spec;
    void *block[WK__GPU_MAX_MEMORY];         /* buffers; the backend appends scratch memory, if any */
    int64_t scratch;                         /* bytes of scratch memory; 0: none */
    int64_t argument[WK__GPU_MAX_ARGUMENTS]; /* [0] is set by the backend: start of this part of the launch */
    int64_t count;                           /* number of work-groups or work-items */
    bool writes;                             /* writes output memory, not only scratch memory */
} wk__gpu_launch;

typedef wk_code wk__gpu_launch_fn(void *user, const wk__gpu_launch *launch, wk__fail *fail);

/* These call emit() for each launch in order and stop at the first failure. */
wk_code wk__gpu_lower_program(const wk__gpu_target *target, const wk__program *group, wk__gpu_launch_fn *emit,
                              void *user, wk__fail *fail);
/* Implements wk__backend.supports(). */
bool wk__gpu_supports(const wk__gpu_target *target, int family, wk_dtype dtype, wk__layout layout);
/* Lowers work other than programs, with its epilogue, if any; the epilogue must be one that kernels can include
 * (wk__gpu_can_fuse_epilogue()). */
wk_code wk__gpu_lower_work(const wk__gpu_target *target, const wk__work *work, wk__gpu_launch_fn *emit, void *user,
                           wk__fail *fail);

/* Hash and equality of kernel specs. */
uint64_t wk__gpu_kernel_spec_hash(const wk__gpu_kernel_spec *spec);
bool wk__gpu_kernel_spec_equal(const wk__gpu_kernel_spec *a, const wk__gpu_kernel_spec *b);
/* Appends the body of the kernel: statements that use F (the fault record), m0, m1, ... (buffers), A(k) (arguments) and
 * idx (type of positions). */
void wk__gpu_codegen_body(wk__text *text, const wk__gpu_kernel_spec *spec);
/* Appends a kernel with this name and body. Parameters: the fault record, the buffers, and the arguments, as a struct
 * by value or, if there are many, in memory. */
void wk__gpu_codegen_function(wk__text *text, const wk__gpu_target *target, const wk__gpu_kernel_spec *spec,
                              const char *name, const char *body);
static inline bool wk__gpu_arguments_by_value(const wk__gpu_target *target, const wk__gpu_kernel_spec *spec)
{
    return spec->narguments <= target->max_by_value_arguments;
}
/* Appends one kernel that selects one of several bodies without barriers. Parameters: the fault record, `nmemory`
 * buffers, the arguments in memory, and the index of the body. Compiles almost as fast as a single kernel, but runs
 * slower. */
void wk__gpu_codegen_switch(wk__text *text, const char *name, int nmemory, const char *const bodies[], int count);

/* Features that a kernel requires from the prelude. */
enum { WK__GPU_NEEDS_F64 = 1, WK__GPU_NEEDS_NDTRI32 = 2, WK__GPU_NEEDS_NDTRI64 = 4, WK__GPU_NEEDS_WIDE = 8 };
unsigned wk__gpu_prelude_flags(const wk__gpu_kernel_spec *spec);
void wk__gpu_prelude(wk__text *text, const wk__gpu_target *target, unsigned needs);

/* ---- shared by the files of this folder -------------------------------------------------------------------------- */

/* Argument indices of a program; -1: absent (strides 0 and 1 are constants). */
typedef struct wk__gpu_layout {
    int shape, columns, chunks, tag;
    int offset[WK__MAX_OPERANDS];
    int stride[WK__MAX_OPERANDS][WK__MAX_DIMS];
    int value[WK__MAX_INS]; /* IMM: bits of the value; PHILOX: key; LOADX: bound, then stride */
    int count;
} wk__gpu_layout;

/* Assigns argument indices, starting at `first`: WK__GPU_ROWS + 1, after the first row ([0]) and the number of rows; or
 * after the arguments of a contraction. */
enum { WK__GPU_ROWS = 1 };
void wk__gpu_layout_of(const wk__program *group, int first, wk__gpu_layout *layout);
/* Sets the arguments, except the number of chunks. */
void wk__gpu_fill_program(const wk__program *group, const wk__gpu_layout *layout, int64_t *argument);
/* Returns true if positions and offsets of all operands fit in 32 bits. */
bool wk__gpu_fits_index32(const wk__program *group);
bool wk__gpu_uses_doubles(const wk__program *group);

/* Schedule of instructions.
 *
 *   loop   false: runs once per row; true: for each column
 *   pass   in a loop: the pass over the row in which it runs; otherwise the number of passes after which it is
 * available */
typedef struct wk__gpu_schedule {
    bool in_loop[WK__MAX_INS];
    uint8_t pass[WK__MAX_INS];
    int passes; /* loops over the row; at least 1 if there are element-level instructions */
    int reductions;
} wk__gpu_schedule;

void wk__gpu_schedule_of(const wk__program *group, wk__gpu_schedule *schedule);

/* Returns the index of the last launch of a chunked row, which stores the results. If a value depends on all passes,
 * this is the number of passes. */
int wk__gpu_last_pass(const wk__program *group, const wk__gpu_schedule *schedule);

/* Return the C type of a dtype's class, the C type of its storage, and the suffix of its class in prelude functions. */
const char *wk__gpu_class_type(wk_dtype dtype);
const char *wk__gpu_storage_type(wk_dtype dtype);
const char *wk__gpu_suffix(wk_dtype dtype);

bool wk__gpu_is_reduction(int code);
bool wk__gpu_has_instruction(const wk__program *group, int code);

void wk__gpu_codegen_program(wk__text *text, const wk__program *group, wk__gpu_kernel_config form);

/* Fails with WK_ERR_UNSUPPORTED. */
wk_code wk__gpu_fail_no_f64(wk__fail *fail);

/* Returns an operand's start in elements of its dtype. */
int64_t wk__gpu_first_element(const wk__operand *operand);

#endif
