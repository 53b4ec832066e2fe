/* Products that compute in i32, unsigned so that they wrap: i8, u8, i16 and i32. */
#include "gemm_isa.h"

#define T          uint32_t
#define VECTOR     u32v
#define BITS       u32v
#define BITS_AT    u32v_at
#define LOAD_PART  part_load_32
#define STORE_PART part_store_32
#define FMA        u32_fma
enum { ROWS = 6, VECS = 2 };
#define GEMM_TILES GEMM_TILES_6_2
#include "gemm_tile.inc"

const wk__gemm_class WK__ISA_NAME(wk__gemm_i32) = {
    .rows = ROWS, .columns = VECS * SPAN, .lanes = SPAN, .size = sizeof(T), .tile = tiles};
