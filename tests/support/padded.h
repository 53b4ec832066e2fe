/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the two CPU kernels that read a factor from padded copies (over result positions, and over summed positions)
 * without regard to the cost model. */
#ifndef TESTS_SUPPORT_PADDED_H
#define TESTS_SUPPORT_PADDED_H

#include "contraction.h"

#include "backend/cpu/contraction/contraction_k_lanes.h"
#include "backend/cpu/contraction/contraction_indirect.h"
#include "backend/cpu/isa.h"

/* Returns true if this CPU has the tiles that the kernels need. */
static inline bool has_tiles(wk_dtype dtype)
{
    return wk__cpu_gemm(dtype)->class->indirect != NULL;
}

/* Checks that the buffers of the plan are large enough for each block that is copied and summed at once. */
static inline void expect_room_of_product(const wk__indirect_plan *p)
{
    const int64_t lanes = p->class->lanes, taps = p->b.taps.places;
    int64_t channels = 0;
    wk__padded_box box;
    assert_true(wk__padded_box_init(&p->b, 0, p->piece_places, &box));
    for (int64_t l = 0; l < p->steps; l += p->k_block) {
        const int64_t last = (l + p->k_block < p->steps ? l + p->k_block : p->steps) - 1;
        if (channels < last / taps - l / taps + 1) channels = last / taps - l / taps + 1;
    }
    assert_true((channels * box.channel + lanes) * WK__PADDED_SIZE <= WK__GEMM_BUFFER_B);
    assert_true(p->k_block <= WK__PADDED_STEPS);
    assert_true(box.places[0] * box.places[1] * ((box.places[2] + lanes - 1) / lanes) <= WK__PADDED_VECTORS);
}

static inline void expect_room_of_dots(const wk__k_lanes_plan *p)
{
    wk__padded_box box;
    assert_true(wk__padded_box_init(&p->b, 0, p->block, &box));
    assert_true(p->piece_rows * p->piece_channels * p->b.taps.places * WK__GEMM_VECTOR <= WK__GEMM_BUFFER_C);
    assert_true(p->outer_block * p->piece_channels * box.channel * WK__PADDED_SIZE <= WK__GEMM_BUFFER_B);
    assert_true(p->outer_block * box.places[0] * box.places[1] <= WK__K_LANES_RUNS);
}

static inline bool has_product(const wk__work_args *kernel)
{
    wk__indirect_plan p;
    if (!wk__indirect_plan_init(&p, kernel)) return false;
    expect_room_of_product(&p);
    return true;
}

static inline bool has_dots(const wk__work_args *kernel)
{
    wk__k_lanes_plan p;
    if (!wk__k_lanes_plan_init(&p, kernel)) return false;
    expect_room_of_dots(&p);
    return true;
}

static inline wk_code run_product(const wk__work_args *kernel, wk__fail *fail)
{
    wk__indirect_plan p;
    assert_true(wk__indirect_plan_init(&p, kernel));
    return wk__indirect_run(&p, NULL, fail);
}

static inline wk_code run_dots(const wk__work_args *kernel, wk__fail *fail)
{
    wk__k_lanes_plan p;
    assert_true(wk__k_lanes_plan_init(&p, kernel));
    return wk__k_lanes_run(&p, fail);
}

typedef bool has_way(const wk__work_args *kernel);

/* Checks that the boxes in which an epilogue runs contain each element once and start at the element of the kernel's
 * sum. */
typedef struct boxes {
    const wk__work_args *kernel;
    int64_t elements, count;
} boxes;

static inline void check_box(void *user, const wk__epilogue_box *box)
{
    boxes *seen = user;
    const wk__work_args *kernel = seen->kernel;
    int64_t first = kernel->operand[0].offset, elements = 1;
    for (int d = 0; d < kernel->ndim; d++) {
        first += box->start[d] * kernel->operand[0].stride[d];
        elements *= box->size[d];
        assert_true(box->start[d] >= 0 && box->size[d] > 0 && box->start[d] + box->size[d] <= kernel->shape[d]);
    }
    assert_int_equal(box->first, first);
    assert_int_equal(box->rows * box->columns, elements);
    for (int64_t i = 0; i < box->rows; i++) /* marked: no element is twice in a box */
        for (int64_t j = 0; j < box->columns; j++) {
            float *at =
                (float *)kernel->operand[0].memory->host + box->first + i * box->row_step + j * box->column_step;
            assert_true(*at == 0);
            *at = 1;
        }
    seen->elements += elements;
    seen->count++;
}

#endif
