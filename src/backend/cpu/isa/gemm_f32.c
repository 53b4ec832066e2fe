/* Products that compute in f32: f32 itself, f16 and bf16. */
#include "gemm_isa.h"

#define T float
#define V v_f32
#define BITS_V v_u32
#define BITS_V_AT v_u32_at
#define LOAD_PART part_load_32
#define STORE_PART part_store_32
#define FMA fma_f32
enum { ROWS = GEMM_FLOAT_ROWS, VECS = GEMM_FLOAT_VECS };
#define GEMM_TILES GEMM_FLOAT_TILES
#include "gemm_tile.inc"
#include "gemm_vector_product.inc"

const wk__gemm_class GEMM_NAME(wk__gemm_f32) = {
    .rows = ROWS, .columns = VECS * LANES, .lanes = LANES, .size = sizeof(T), .tile = tiles, .down = down, .along = along};
