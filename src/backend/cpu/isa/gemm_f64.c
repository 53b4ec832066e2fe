/* Products that compute in f64. */
#include "gemm_isa.h"

#define T          double
#define VECTOR     f64v
#define BITS       u64v
#define BITS_AT    u64v_at
#define LOAD_PART  part_load_64
#define STORE_PART part_store_64
#define FMA        f64_fma
enum { ROWS = GEMM_FLOAT_ROWS, VECS = GEMM_FLOAT_VECS };
#define GEMM_TILES GEMM_FLOAT_TILES
#include "gemm_tile.inc"
#include "gemm_vector_product.inc"

const wk__gemm_class WK__ISA_NAME(wk__gemm_f64) = {.rows = ROWS,
                                                   .columns = VECS * SPAN,
                                                   .lanes = SPAN,
                                                   .size = sizeof(T),
                                                   .tile = tiles,
                                                   .down = down,
                                                   .along = along};
