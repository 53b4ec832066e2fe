/* Products that compute in f64. */
#include "gemm_isa.h"

#define T double
#define V v_f64
#define BITS_V v_u64
#define BITS_V_AT v_u64_at
#define LOAD_PART part_load_64
#define STORE_PART part_store_64
#define FMA fma_f64
enum { ROWS = GEMM_FLOAT_ROWS, VECS = GEMM_FLOAT_VECS };
#define GEMM_TILES GEMM_FLOAT_TILES
#include "gemm_tile.inc"
#include "gemm_vector_product.inc"

const wk__gemm_class GEMM_NAME(wk__gemm_f64) = {
    .rows = ROWS, .columns = VECS * LANES, .lanes = LANES, .size = sizeof(T), .tile = tiles, .down = down, .along = along};
