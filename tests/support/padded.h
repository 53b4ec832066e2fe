/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the CPU kernels that read a factor from padded copies (over result positions, over those of separate planes, and
 * over summed positions) without regard to the cost model. */
#ifndef TESTS_SUPPORT_PADDED_H
#define TESTS_SUPPORT_PADDED_H

#include "contraction.h"
#include "ir/build.h"

#include "backend/cpu/contraction/contraction_k_lanes.h"
#include "backend/cpu/contraction/contraction_indirect.h"
#include "backend/cpu/contraction/contraction_planes.h"
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
    for (int64_t l = 0; l < p->roles.steps; l += p->k_block) {
        const int64_t last = (l + p->k_block < p->roles.steps ? l + p->k_block : p->roles.steps) - 1;
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

static inline bool has_planes(const wk__work_args *kernel)
{
    wk__planes_plan p;
    wk__padded_box box;
    if (!wk__planes_plan_init(&p, kernel)) return false;
    assert_true(wk__padded_box_init(&p.b, 0, p.piece_places, &box));
    assert_true((box.channel + p.class->lanes) * WK__PADDED_SIZE <= WK__GEMM_BUFFER_B);
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

static inline wk_code run_planes(const wk__work_args *kernel, wk__fail *fail)
{
    wk__planes_plan p;
    assert_true(wk__planes_plan_init(&p, kernel));
    return wk__planes_run(&p, NULL, fail);
}

static inline wk_code run_dots(const wk__work_args *kernel, wk__fail *fail)
{
    wk__k_lanes_plan p;
    assert_true(wk__k_lanes_plan_init(&p, kernel));
    return wk__k_lanes_run(&p, fail);
}

typedef bool has_way(const wk__work_args *kernel);

/* Checks the result if the contraction can be computed so, which it must be if `must` is set. Returns whether it
 * can. */
static inline bool expect_convolution(const convolution *of, wk_dtype dtype, layout layout, direction way, has_way *has,
                                      run_kernel *run, bool must)
{
    convolution_case t;
    wk__work_args kernel;
    wk__contraction sum;
    char what[128];
    convolution_new(&t, of, dtype, layout);
    fill_small(&t.x), fill_small(&t.w), fill_small(&t.y);
    describe(&t, way, &kernel, &sum);
    snprintf(what, sizeof what, "%s, layout %d, direction %d, %d dims of %d, kernel %d, stride %d", wk_dtype_str(dtype),
             (int)layout, (int)way, of->dims, (int)of->size[0], (int)of->kernel[0], (int)of->stride[0]);
    const bool is = has(&kernel), may = has_tiles(dtype);
    if (is && !may) fail_msg("%s is computed without tiles for it", what);
    if (must && may && !is) fail_msg("%s cannot be computed so", what);
    if (is && test_takes_case(4)) expect_exactly(&kernel, result_of(&t, way), run, what);
    convolution_free(&t);
    return is;
}

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

typedef struct boxes_case {
    convolution of;
    int64_t boxes;
    bool gaps; /* gaps between rows of C */
} boxes_case;

/* Visits the boxes of the plan that the kernel has. */
typedef void visit_boxes(const wk__work_args *kernel, const wk__program *epilogue, boxes *seen);

static inline void visit_boxes_of_product(const wk__work_args *kernel, const wk__program *epilogue, boxes *seen)
{
    wk__indirect_plan p;
    assert_true(wk__indirect_plan_init(&p, kernel));
    wk__indirect_epilogue_boxes(&p, epilogue, check_box, seen);
}

static inline void visit_boxes_of_planes(const wk__work_args *kernel, const wk__program *epilogue, boxes *seen)
{
    wk__planes_plan p;
    assert_true(wk__planes_plan_init(&p, kernel));
    wk__planes_epilogue_boxes(&p, epilogue, check_box, seen);
}

/* Checks that the boxes cover C, and their number; without an epilogue there are none. */
static inline void expect_boxes(const boxes_case *c, visit_boxes *visit)
{
    convolution_case t;
    wk__work_args kernel;
    wk__contraction sum;
    wk__program g;
    convolution_new(&t, &c->of, WK_F32, ROWS);
    describe(&t, FORWARD, &kernel, &sum);
    if (c->gaps) kernel.shape[kernel.ndim - 1]--; /* C lacks the last position of each row */
    memset(t.y.data, 0, (size_t)t.y.bytes);
    ir_space(&g, kernel.ndim, kernel.shape, 0);
    boxes seen = {.kernel = &kernel};
    visit(&kernel, &g, &seen);
    assert_int_equal(seen.elements, elements_of(&kernel));
    if (seen.count != c->boxes) fail_msg("%lld boxes instead of %lld", (long long)seen.count, (long long)c->boxes);
    visit(&kernel, NULL, &seen);
    assert_int_equal(seen.elements, elements_of(&kernel));
    convolution_free(&t);
}

/* Completes an epilogue with operand c: C + table[index]. The index has these strides along the dimensions of C; valid
 * ones are less than `entries`. The tag of a bad index is 5. */
static inline void add_from_table(wk__program *g, int c, array *index, const int64_t stride[WK__MAX_DIMS], array *table,
                                  int64_t entries)
{
    const int64_t none[WK__MAX_DIMS] = {0};
    const int from = ir_operand(g, WK_I64, &index->memory, index->operand.offset, stride);
    const int to = ir_operand(g, WK_F32, &table->memory, table->operand.offset, none);
    g->tag = 5;
    g->imm[g->nimms++].i = entries;
    g->imm[g->nimms++].i = 1;
    const int value = ir_ins(g, WK__LOADX, WK_F32, ir_load(g, from), to, 0);
    ir_store(g, c, ir_binary(g, WK__ADD, ir_load(g, c), value));
    assert_null(wk__program_verify(g));
}

#endif
