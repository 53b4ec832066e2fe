/* Products that compute in i64, unsigned so that they wrap: i64, and bool, which counts. */
#include "gemm_isa.h"

#define T uint64_t
#define V v_u64
#define BITS_V v_u64
#define BITS_V_AT v_u64_at
#define LOAD_PART part_load_64
#define STORE_PART part_store_64
#define FMA fma_u64
enum { ROWS = 6, VECS = 2 };
#define GEMM_TILES GEMM_TILES_6_2
#include "gemm_tile.inc"

const wk__gemm_class GEMM_NAME(wk__gemm_i64) = {
    .rows = ROWS, .columns = VECS * LANES, .lanes = LANES, .size = sizeof(T), .tile = tiles};
