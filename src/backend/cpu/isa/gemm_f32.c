/* Products that compute in f32: f32 itself, f16 and bf16. */
#include "gemm_isa.h"

#define T          float
#define VECTOR     f32v
#define BITS       u32v
#define BITS_AT    u32v_at
#define LOAD_PART  part_load_32
#define STORE_PART part_store_32
#define FMA        f32_fma
enum { ROWS = GEMM_FLOAT_ROWS, VECS = GEMM_FLOAT_VECS };
#define GEMM_TILES GEMM_FLOAT_TILES
#include "gemm_tile.inc"
#include "gemm_vector_product.inc"

const wk__gemm_class WK__ISA_NAME(wk__gemm_f32) = {.rows = ROWS,
                                                   .columns = VECS * SPAN,
                                                   .lanes = SPAN,
                                                   .size = sizeof(T),
                                                   .tile = tiles,
                                                   .down = down,
                                                   .along = along};
