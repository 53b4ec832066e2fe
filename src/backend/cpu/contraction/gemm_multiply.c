/* SPDX-License-Identifier: Apache-2.0 */
/* Products of matrices in cache by tiles, without packing; see gemm.h. */
#include "base/dtype.h"
#include "base/integers.h"
#include "gemm.h"

void wk__gemm_multiply(const wk__gemm *gemm, int64_t rows, int64_t columns, wk__tile all)
{
    const wk__gemm_microkernels *class = gemm->class;
    const int64_t size = (int64_t)wk_dtype_size(gemm->dtype);
    wk__tile tile = all;
    /* Tiles of equal width: one of a single vector would take as long as one of two. */
    const int64_t vectors = wk__chunk_count(columns, class->lanes), most = class->columns / class->lanes;
    const int64_t step = wk__even_chunk(vectors, most) * class->lanes;
    for (int64_t j = 0; j < columns; j += step) {
        tile.columns = (int)wk__min_i64(columns - j, step);
        tile.b = (const char *)all.b + j * size;
        wk__tile_fn *const *function =
            class->tile + (wk__chunk_count(tile.columns, class->lanes) - 1) * class->rows - 1;
        for (int64_t i = 0; i < rows; i += class->rows) {
            tile.a = (const char *)all.a + i * all.a_row * size;
            tile.c = (char *)all.c + (i * all.c_row + j) * size;
            function[wk__min_i64(rows - i, class->rows)](&tile);
        }
    }
}
