/* Products that compute in i64, unsigned so that they wrap: i64, and bool, which counts. */
#include "gemm_isa.h"

#define T          uint64_t
#define VECTOR     u64v
#define BITS       u64v
#define BITS_AT    u64v_at
#define LOAD_PART  part_load_64
#define STORE_PART part_store_64
#define FMA        u64_fma
enum { ROWS = 6, VECS = 2 };
#define GEMM_TILES GEMM_TILES_6_2
#include "gemm_tile.inc"

const wk__gemm_class WK__ISA_NAME(wk__gemm_i64) = {
    .rows = ROWS, .columns = VECS * SPAN, .lanes = SPAN, .size = sizeof(T), .tile = tiles};
