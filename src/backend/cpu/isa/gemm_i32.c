/* Products that compute in i32, unsigned so that they wrap: i8, u8, i16 and i32. */
#include "gemm_isa.h"

#define T uint32_t
#define V v_u32
#define BITS_V v_u32
#define BITS_V_AT v_u32_at
#define LOAD_PART part_load_32
#define STORE_PART part_store_32
#define FMA fma_u32
enum { ROWS = 6, VECS = 2 };
#define GEMM_TILES GEMM_TILES_6_2
#include "gemm_tile.inc"

const wk__gemm_class GEMM_NAME(wk__gemm_i32) = {
    .rows = ROWS, .columns = VECS * LANES, .lanes = LANES, .size = sizeof(T), .tile = tiles};
