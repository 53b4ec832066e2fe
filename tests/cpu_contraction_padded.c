/* SPDX-License-Identifier: Apache-2.0 */
/* Contractions that the CPU reads from padded copies, by places of the result and by places that are summed: against
 * element by element, whether or not that pays; which can be computed so; when it pays; their tails and memory. */
#include "ir_build.h"
#include "support_contraction.h"

#include "../src/backend/cpu/contraction_dots.h"
#include "../src/backend/cpu/contraction_padded.h"
#include "../src/backend/cpu/isa.h"
#include "../src/base/alloc.h"

static bool has_product(const wk__kernel *kernel)
{
    wk__padded_product p;
    return wk__padded_product_of(&p, kernel);
}

static bool has_dots(const wk__kernel *kernel)
{
    wk__dots_plan p;
    return wk__dots_plan_of(&p, kernel);
}

static wk_code run_product(const wk__kernel *kernel, wk__fail *fail)
{
    wk__padded_product p;
    assert_true(wk__padded_product_of(&p, kernel));
    return wk__padded_product_run(&p, NULL, fail);
}

static wk_code run_dots(const wk__kernel *kernel, wk__fail *fail)
{
    wk__dots_plan p;
    assert_true(wk__dots_plan_of(&p, kernel));
    return wk__dots_run(&p, fail);
}

typedef bool has_way(const wk__kernel *kernel);

/* ---- results ----------------------------------------------------------------------------------------------------- */

/* Strides, dilation, padding, groups, one to three dimensions. */
static const convolution small[] = {
    {1, 2, 1, 3, 4, {9}, {3}, {1}, {1}, {1}},
    {1, 2, 2, 3, 2, {11}, {4}, {3}, {2}, {1}},
    {1, 1, 1, 1, 1, {30}, {5}, {2}, {4}, {3}},
    {1, 1, 1, 2, 2, {3}, {7}, {1}, {3}, {1}},  /* a kernel longer than its input */
    {1, 2, 1, 2, 3, {40}, {3}, {8}, {2}, {1}}, /* some remainders are of no tap */
    {1, 1, 1, 1, 1, {6}, {2}, {1}, {9}, {5}},  /* places beyond the input on both sides */
    {1, 1, 1, 1, 2, {200}, {90}, {1}, {0}, {2}},
    {2, 2, 1, 3, 5, {8, 7}, {3, 3}, {1, 1}, {1, 1}, {1, 1}},
    {2, 1, 3, 2, 4, {9, 10}, {3, 2}, {2, 3}, {1, 0}, {1, 2}},
    {2, 2, 8, 1, 1, {9, 20}, {3, 3}, {1, 1}, {1, 1}, {1, 1}}, /* depthwise */
    {2, 2, 8, 1, 1, {9, 40}, {3, 3}, {2, 2}, {1, 1}, {1, 1}},
    {2, 2, 1, 5, 9, {8, 34}, {1, 1}, {2, 2}, {0, 0}, {1, 1}},   /* one part of four is copied */
    {2, 1, 1, 2, 2, {1, 9}, {3, 3}, {1, 1}, {1, 1}, {1, 1}},    /* one row of places */
    {2, 1, 1, 60, 11, {6, 21}, {3, 3}, {1, 1}, {1, 1}, {1, 1}}, /* several blocks of the sum */
    {3, 2, 1, 3, 4, {5, 6, 7}, {3, 3, 3}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}},
    {3, 1, 2, 2, 3, {5, 6, 7}, {2, 3, 1}, {2, 1, 3}, {1, 2, 0}, {2, 1, 1}},
};
enum { SMALL = sizeof small / sizeof *small };

/* `has` says whether it is one, which is so if `must`. Returns that. */
static bool expect_convolution(const convolution *of, wk_dtype dtype, layout layout, direction way, has_way *has,
                               run_kernel *run, bool must)
{
    convolution_case t;
    wk__kernel kernel;
    wk__sum sum;
    char what[128];
    convolution_new(&t, of, dtype, layout);
    fill_small(&t.x), fill_small(&t.w), fill_small(&t.y);
    describe(&t, way, &kernel, &sum);
    snprintf(what, sizeof what, "%s, layout %d, direction %d, %d dims of %d, kernel %d, stride %d", wk_dtype_str(dtype),
             (int)layout, (int)way, of->dims, (int)of->size[0], (int)of->kernel[0], (int)of->stride[0]);
    const bool is = has(&kernel), may = wk__cpu_gemm(dtype)->class->apart; /* f32, on CPUs with wide vectors */
    if (is && !may) fail_msg("%s is computed without tiles for it", what);
    if (must && may && !is) fail_msg("%s cannot be computed so", what);
    if (is) expect_exactly(&kernel, result_of(&t, way), run, what);
    convolution_free(&t);
    return is;
}

static void convolutions_forward(void **state)
{
    (void)state;
    static const wk_dtype dtypes[] = {WK_F32, WK_F64, WK_I32, WK_I64};
    for (int k = 0; k < SMALL; k++)
        for (int dtype = 0; dtype < 4; dtype++) {
            expect_convolution(&small[k], dtypes[dtype], ROWS, FORWARD, has_product, run_product, true);
            expect_convolution(&small[k], dtypes[dtype], COLUMNS, FORWARD, has_product, run_product, true);
            expect_convolution(&small[k], dtypes[dtype], GAPS, FORWARD, has_product, run_product, true);
            expect_convolution(&small[k], dtypes[dtype], BACKWARDS, FORWARD, has_product, run_product, false);
        }
}

/* Their gradients by x are convolutions, of a kernel that is walked from its end, where the stride is 1. */
static void gradients_by_the_input(void **state)
{
    (void)state;
    int seen = 0;
    for (int k = 0; k < SMALL; k++) {
        bool ones = true;
        for (int d = 0; d < small[k].dims; d++) ones = ones && small[k].stride[d] == 1;
        seen += expect_convolution(&small[k], WK_F32, ROWS, OF_INPUT, has_product, run_product, ones) && !ones;
    }
    assert_int_equal(seen, 0);
}

static void gradients_by_the_kernel(void **state)
{
    (void)state;
    for (int k = 0; k < SMALL; k++)
        for (int dtype = 0; dtype < 2; dtype++) {
            const wk_dtype of = dtype ? WK_F64 : WK_F32;
            expect_convolution(&small[k], of, ROWS, OF_WEIGHT, has_dots, run_dots, true);
            expect_convolution(&small[k], of, COLUMNS, OF_WEIGHT, has_dots, run_dots, true);
            expect_convolution(&small[k], of, GAPS, OF_WEIGHT, has_dots, run_dots, true);
            assert_false(expect_convolution(&small[k], of, BACKWARDS, OF_WEIGHT, has_dots, run_dots, false));
        }
}

/* Several pieces by rows, channels and places, and blocks of what is summed; the last of each is smaller. */
static const convolution large[] = {
    {2, 2, 1, 24, 130, {21, 37}, {3, 3}, {1, 1}, {1, 1}, {1, 1}},
    {2, 1, 1, 3, 5, {90, 211}, {5, 5}, {2, 2}, {2, 2}, {1, 1}},
    {2, 1, 1, 2, 2, {190, 1030}, {3, 3}, {1, 1}, {1, 1}, {1, 1}},
    {1, 1, 1, 2, 70, {5003}, {9}, {3}, {4}, {1}},
    {2, 1, 1, 210, 67, {14, 14}, {3, 3}, {1, 1}, {1, 1}, {1, 1}},
    {3, 1, 1, 5, 9, {9, 40, 41}, {3, 3, 3}, {2, 1, 1}, {1, 1, 1}, {1, 1, 1}},
};
enum { LARGE = sizeof large / sizeof *large };

static void pieces_of_products(void **state)
{
    (void)state;
    for (int k = 0; k < LARGE; k++)
        expect_convolution(&large[k], WK_F32, ROWS, FORWARD, has_product, run_product, true);
}

static void pieces_of_dots(void **state)
{
    (void)state;
    for (int k = 0; k < LARGE; k++) expect_convolution(&large[k], WK_F32, ROWS, OF_WEIGHT, has_dots, run_dots, true);
}

static void other_instruction_sets(void **state)
{
    (void)state;
    const wk__cpu_isa *before = wk__cpu_isa_current();
    for (int k = 0; wk__cpu_isa_at(k); k++) {
        wk__cpu_isa_use(wk__cpu_isa_at(k));
        for (int c = 0; c < SMALL; c++) {
            expect_convolution(&small[c], WK_F32, ROWS, FORWARD, has_product, run_product, true);
            expect_convolution(&small[c], WK_I64, ROWS, FORWARD, has_product, run_product, true);
            expect_convolution(&small[c], WK_F32, ROWS, OF_WEIGHT, has_dots, run_dots, true);
            expect_convolution(&small[c], WK_F64, ROWS, OF_WEIGHT, has_dots, run_dots, true);
        }
    }
    wk__cpu_isa_use(before);
}

/* Of whatever indices and coordinates: those of the result are b, i, p, q, summed ones o, u, v. */
static void coordinates_of_any_kind(void **state)
{
    (void)state;
    int products = 0, dots = 0;
    for (int round = 0; round < 6000; round++) {
        const wk_dtype dtype = WK_F32;
        const int64_t shape[] = {1 + random_below(3), 1 + random_below(11), 1 + random_below(9), 1 + random_below(40)};
        const int64_t summed[] = {1 + random_below(4), 1 + random_below(4), 1 + random_below(20)};
        const int64_t places[] = {1 + random_below(9), 1 + random_below(30)};
        const int64_t of_a[] = {shape[0], shape[1], summed[0], summed[1], summed[2]},
                      of_b[] = {shape[0], summed[0], places[0], places[1]};
        array a, b, c;
        array_new(&a, dtype, 5, of_a, random_below(4) ? ROWS : (layout)random_below(LAYOUTS));
        array_new(&b, dtype, 4, of_b, (layout)random_below(LAYOUTS));
        array_new(&c, dtype, 4, shape, random_below(4) ? ROWS : (layout)random_below(LAYOUTS));
        fill_small(&a), fill_small(&b);
        wk__sum sum = {.dtype = (uint8_t)dtype, .indices = 3, .coordinates = {0, 2}};
        wk__kernel kernel = {.ndim = 4, .sum = &sum, .tag = -1};
        memcpy(kernel.shape, shape, sizeof shape);
        memcpy(sum.extent, summed, sizeof summed);
        take_operand(&kernel, &sum, 0, &c, 4, (const int[]){0, 1, 2, 3});
        take_operand(&kernel, &sum, 1, &a, 5, (const int[]){0, 1, 4, 5, 6});
        take_operand(&kernel, &sum, 2, &b, 4, (const int[]){0, 4, -1, -1});
        for (int k = 0; k < 2; k++) {
            wk__coordinate *q = &sum.coordinate[1][k];
            *q = (wk__coordinate){.offset = random_below(15) - 7,
                                  .divisor = 1 + (random_below(16) == 0),
                                  .extent = places[k],
                                  .stride = b.operand.stride[2 + k]};
            q->coefficient[2 + k] = random_below(4) - (random_below(8) == 0);
            if (random_below(16) == 0) q->coefficient[3 - k] = 1;
            for (int s = 5; s < 7; s++) q->coefficient[s] = random_below(3) > 0 ? random_below(7) - 3 : 0;
        }
        assert_null(wk__sum_check(&sum, 4, shape));
        char what[32];
        snprintf(what, sizeof what, "round %d", round);
        if (has_product(&kernel)) expect_exactly(&kernel, &c, run_product, what), products++;
        if (has_dots(&kernel)) expect_exactly(&kernel, &c, run_dots, what), dots++;
        free(a.data), free(b.data), free(c.data);
    }
    if (products < 1000 || dots < 100) fail_msg("%d products, %d dots", products, dots);
}

/* Vectors reach beyond rows and copies, into what an earlier contraction has left: an infinity there is multiplied with
 * nothing. */
static void only_what_is_summed_is_multiplied(void **state)
{
    (void)state;
    const convolution of = {2, 1, 1, 2, 3, {7, 21}, {3, 3}, {2, 2}, {0, 0}, {1, 1}};
    for (direction way = FORWARD; way <= OF_WEIGHT; way += OF_WEIGHT)
        for (int round = 0; round < 2; round++) {
            convolution_case t;
            wk__kernel kernel;
            wk__sum sum;
            wk__fail fail;
            convolution_new(&t, &of, WK_F32, ROWS);
            describe(&t, way, &kernel, &sum);
            const array *in[] = {&t.x, &t.w, &t.y}, *out = result_of(&t, way);
            for (int k = 0; k < 3; k++)
                for (int64_t at = 0; at < in[k]->bytes / 4; at++)
                    put_rounded(WK_F32, in[k]->data + 4 * at, round == 0 ? INFINITY : 1, 0);
            assert_int_equal((way == FORWARD ? run_product : run_dots)(&kernel, &fail), WK_OK);
            for (int64_t k = 3; k < out->bytes / 4 && round == 1; k++)
                assert_true(isfinite(get_real(WK_F32, out->data + 4 * k)));
            convolution_free(&t);
        }
}

/* ---- which can be computed so ------------------------------------------------------------------------------------ */

/* C[b, i, p] = sum over o, u of A[b, i, o, u] B[b, o, 2 p + u - 1], by places of the result; and, with A[b, i, p] and
 * C[b, i, o, u], by places that are summed. Changes of them. */
enum { AT_B, AT_I, AT_P, AT_O, AT_U };
typedef struct general {
    array a, b, c;
    wk__sum sum;
    wk__kernel kernel;
    int at[5]; /* the number of each index */
} general;

static void general_new(general *t, bool summed)
{
    static const int forward[] = {0, 1, 2, 3, 4}, by_w[] = {0, 1, 4, 2, 3};
    const int64_t extent[] = {2, 3, 9, 4, 3}, length = 18;
    memset(t, 0, sizeof *t);
    memcpy(t->at, summed ? by_w : forward, sizeof t->at);
    const int *at = t->at, ndim = summed ? 4 : 3;
    t->sum = (wk__sum){.dtype = WK_F32, .indices = (int8_t)(5 - ndim), .coordinates = {0, 1}};
    t->kernel = (wk__kernel){.ndim = ndim, .sum = &t->sum, .tag = -1};
    for (int k = 0; k < 5; k++) *(at[k] < ndim ? &t->kernel.shape[at[k]] : &t->sum.extent[at[k] - ndim]) = extent[k];
    const int64_t of_w[] = {2, 3, 4, 3}, of_y[] = {2, 3, 9}, of_x[] = {2, 4, length};
    const int w[] = {at[AT_B], at[AT_I], at[AT_O], at[AT_U]}, y[] = {at[AT_B], at[AT_I], at[AT_P]},
              x[] = {at[AT_B], at[AT_O], -1};
    array_new(&t->a, WK_F32, summed ? 3 : 4, summed ? of_y : of_w, ROWS);
    array_new(&t->b, WK_F32, 3, of_x, ROWS);
    array_new(&t->c, WK_F32, summed ? 4 : 3, summed ? of_w : of_y, ROWS);
    fill_small(&t->a), fill_small(&t->b);
    take_operand(&t->kernel, &t->sum, 0, &t->c, summed ? 4 : 3, summed ? w : y);
    take_operand(&t->kernel, &t->sum, 1, &t->a, summed ? 3 : 4, summed ? y : w);
    take_operand(&t->kernel, &t->sum, 2, &t->b, 3, x);
    wk__coordinate *q = &t->sum.coordinate[1][0];
    *q = (wk__coordinate){.offset = -1, .divisor = 1, .extent = length, .stride = 1};
    q->coefficient[at[AT_P]] = 2;
    q->coefficient[at[AT_U]] = 1;
}

static void general_free(general *t)
{
    free(t->a.data);
    free(t->b.data);
    free(t->c.data);
}

static void turn_factors(general *t)
{
    wk__sum *sum = &t->sum;
    const wk__operand a = t->kernel.operand[1];
    t->kernel.operand[1] = t->kernel.operand[2];
    t->kernel.operand[2] = a;
    for (int s = 0; s < sum->indices; s++) {
        const int64_t stride = sum->stride[0][s];
        sum->stride[0][s] = sum->stride[1][s];
        sum->stride[1][s] = stride;
    }
    sum->coordinate[0][0] = sum->coordinate[1][0];
    sum->coordinates[0] = 1;
    sum->coordinates[1] = 0;
}

static int64_t *extent_of(general *t, int index)
{
    const int i = t->at[index];
    return i < t->kernel.ndim ? &t->kernel.shape[i] : &t->sum.extent[i - t->kernel.ndim];
}

/* What changes how far operands reach keeps within them. */
static void change(general *t, int k)
{
    wk__coordinate *q = &t->sum.coordinate[1][0];
    const int *at = t->at, ndim = t->kernel.ndim;
    const int64_t far = (int64_t)1 << 27;
    switch (k) {
    case 1: turn_factors(t); break;
    case 2: *extent_of(t, AT_U) = 1; break;
    case 3: *extent_of(t, AT_O) = 1; break;
    case 4: *extent_of(t, AT_I) = 1; break;
    case 5: q->coefficient[at[AT_U]] = -7; break;
    case 6: q->coefficient[at[AT_P]] = 8; break;
    case 7: q->offset = -100; break; /* nothing is inside */
    case 8: q->offset = far; break;
    case 9: q->coefficient[at[AT_U]] = far; break; /* the copy would be as long */
    case 10: q->coefficient[at[AT_P]] = 9; break;
    case 11: q->coefficient[at[AT_P]] = -1; break;
    case 12: q->divisor = 2; break;
    case 13: q->extent = 0; break;
    case 14: *extent_of(t, AT_B) = 0; break;
    case 15: *extent_of(t, AT_P) = 1; break;
    case 16: t->sum.coordinates[0] = 1, t->sum.coordinate[0][0] = (wk__coordinate){.divisor = 1, .extent = 1}; break;
    case 17: t->sum.coordinates[1] = 0; break;
    case 18: q->coefficient[at[AT_P]] = 0; break;
    case 19: q->coefficient[at[AT_B]] = 1; break; /* an index of the places' kind that A depends on, or two of them */
    case 20: t->kernel.operand[0].dtype = WK_F16; break;
    case 21: /* places that are neighbours neither in C nor in A */
        *(at[AT_P] < ndim ? &t->kernel.operand[0].stride[at[AT_P]] : &t->sum.stride[0][at[AT_P] - ndim]) = 2;
        *extent_of(t, AT_P) = 5;
        break;
    case 22: take_stride(&t->kernel, &t->sum, 2, at[AT_U], 1), q->extent = 10; break; /* B walks along it besides */
    case 23: take_stride(&t->kernel, &t->sum, 2, at[AT_P], 1), q->extent = 6; break;
    default: break;
    }
}

static void which_are_copied(void **state)
{
    (void)state;
    enum { CHANGES = 24, SO = 9 }; /* the first ones are computed so */
    for (int summed = 0; summed < 2; summed++)
        for (int k = 0; k < CHANGES; k++) {
            general t;
            char what[48];
            has_way *has = summed ? has_dots : has_product;
            general_new(&t, summed);
            change(&t, k);
            snprintf(what, sizeof what, "change %d, %s", k, summed ? "summed" : "of the result");
            const char *wrong = wk__sum_check(&t.sum, t.kernel.ndim, t.kernel.shape);
            if (wrong) fail_msg("%s: %s", what, wrong);
            if (has(&t.kernel) != (k < SO)) fail_msg("%s can%s be computed so", what, k < SO ? "not" : "");
            if (k < SO) expect_exactly(&t.kernel, &t.c, summed ? run_dots : run_product, what);
            general_free(&t);
        }
}

/* Copies and tables that have no room. */
static void what_is_too_large(void **state)
{
    (void)state;
    static const struct {
        convolution of;
        bool forward, of_weight;
    } cases[] = {
        {{1, 1, 1, 1, 1, {4000}, {1024}, {1}, {0}, {1}}, true, true}, /* taps */
        {{1, 1, 1, 1, 1, {4000}, {1025}, {1}, {0}, {1}}, false, false},
        {{2, 1, 1, 1, 1, {8, 2000}, {1, 3}, {1, 1}, {0, 1}, {1, 1}}, true, true}, /* vectors, of any kind of CPU */
        {{2, 1, 1, 1, 1, {8, 70000}, {1, 3}, {1, 1}, {0, 1}, {1, 1}}, false, false},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
        for (int summed = 0; summed < 2; summed++) {
            convolution_case t;
            wk__kernel kernel;
            wk__sum sum;
            convolution_new(&t, &cases[k].of, WK_F32, ROWS);
            describe(&t, summed ? OF_WEIGHT : FORWARD, &kernel, &sum);
            const bool has = (summed ? has_dots : has_product)(&kernel);
            if (has != (summed ? cases[k].of_weight : cases[k].forward)) fail_msg("case %d, %d", (int)k, summed);
            convolution_free(&t);
        }
}

/* Measured: docs/design.md has the figures. What is close to even is not here. */
static void when_it_pays(void **state)
{
    (void)state;
    static const struct {
        convolution of;
        bool forward, of_input, of_weight;
    } cases[] = {
        {{2, 64, 1, 1, 6, {28, 28}, {5, 5}, {1, 1}, {2, 2}, {1, 1}}, true, true, true},
        {{2, 64, 1, 6, 16, {14, 14}, {5, 5}, {1, 1}, {0, 0}, {1, 1}}, true, true, true},
        {{2, 32, 1, 3, 16, {32, 32}, {3, 3}, {1, 1}, {1, 1}, {1, 1}}, true, true, true},
        {{2, 1, 1, 3, 64, {224, 224}, {7, 7}, {2, 2}, {3, 3}, {1, 1}}, true, false, true},
        {{2, 2, 1, 128, 128, {28, 28}, {3, 3}, {1, 1}, {1, 1}, {1, 1}}, true, false, false},
        {{2, 2, 1, 256, 256, {14, 14}, {3, 3}, {1, 1}, {1, 1}, {1, 1}}, true, false, false}, /* by x, w is turned */
        {{2, 2, 1, 512, 512, {7, 7}, {3, 3}, {1, 1}, {1, 1}, {1, 1}}, false, false, false},  /* rows of half a vector */
        {{2, 2, 1, 64, 256, {56, 56}, {1, 1}, {1, 1}, {0, 0}, {1, 1}}, false, false, false}, /* there is one tap */
        {{2, 2, 1, 64, 128, {56, 56}, {1, 1}, {2, 2}, {0, 0}, {1, 1}}, false, false, false},
        {{2, 2, 256, 1, 1, {28, 28}, {3, 3}, {1, 1}, {1, 1}, {1, 1}}, true, true, true},
        {{1, 2, 1, 1, 32, {16000}, {80}, {4}, {38}, {1}}, true, false, true},
        {{3, 2, 1, 8, 16, {16, 16, 16}, {3, 3, 3}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}}, true, true, true},
    };
    const wk__cpu_isa *before = wk__cpu_isa_current();
    for (int k = 0; wk__cpu_isa_at(k); k++)
        if (strcmp(wk__cpu_isa_at(k)->name, "avx512") == 0) wk__cpu_isa_use(wk__cpu_isa_at(k));
    for (size_t k = 0; k < sizeof cases / sizeof *cases && strcmp(wk__cpu_isa_current()->name, "avx512") == 0; k++)
        for (direction way = FORWARD; way < DIRECTIONS; way++) {
            convolution_case t;
            wk__kernel kernel;
            wk__sum sum;
            wk__padded_product product;
            wk__dots_plan dots;
            convolution_new(&t, &cases[k].of, WK_F32, ROWS);
            describe(&t, way, &kernel, &sum);
            const bool padded = wk__padded_product_of(&product, &kernel) && wk__padded_product_pays(&product);
            const bool summed = wk__dots_plan_of(&dots, &kernel) && wk__dots_pay(&dots);
            const bool want = way == FORWARD    ? cases[k].forward
                              : way == OF_INPUT ? cases[k].of_input
                                                : cases[k].of_weight;
            if ((way == OF_WEIGHT ? summed : padded) != want) fail_msg("case %d, direction %d", (int)k, (int)way);
            if (way != OF_WEIGHT && summed) fail_msg("case %d, direction %d: no sum of places", (int)k, (int)way);
            convolution_free(&t);
        }
    wk__cpu_isa_use(before);
}

/* What pays is computed so: by the bits of floating sums, which are those of that order. */
static void what_pays_is_done(void **state)
{
    (void)state;
    const convolution of = {2, 4, 1, 3, 4, {20, 32}, {5, 5}, {1, 1}, {2, 2}, {1, 1}};
    wk__fail fail;
    for (direction way = FORWARD; way <= OF_WEIGHT; way += OF_WEIGHT) {
        convolution_case t;
        wk__kernel kernel;
        wk__sum sum;
        convolution_new(&t, &of, WK_F32, ROWS);
        describe(&t, way, &kernel, &sum);
        const array *out = result_of(&t, way);
        assert_int_equal((way == FORWARD ? run_product : run_dots)(&kernel, &fail), WK_OK);
        char *want = array_copy(out);
        for (int threads = 1; threads <= 2; threads++) {
            wk__set_threads(threads);
            for (int64_t k = 3; k < out->bytes / 4; k++) put_random(WK_F32, out->data + 4 * k);
            assert_int_equal(wk__cpu_contraction(&(wk__work){.family = WK__CONTRACTION, .kernel = &kernel}, &fail),
                             WK_OK);
            assert_memory_equal(want, out->data, (size_t)out->bytes);
        }
        wk__set_threads(1);
        free(want);
        convolution_free(&t);
    }
}

/* ---- tails and memory -------------------------------------------------------------------------------------------- */

/* Boxes in which a tail runs hold each element once, and begin where its sum does. */
typedef struct boxes {
    const wk__kernel *kernel;
    int64_t elements, count;
} boxes;

static void see_box(void *user, const wk__piece *box)
{
    boxes *seen = user;
    const wk__kernel *kernel = seen->kernel;
    int64_t first = kernel->operand[0].offset, elements = 1;
    for (int d = 0; d < kernel->ndim; d++) {
        first += box->start[d] * kernel->operand[0].stride[d];
        elements *= box->size[d];
        assert_true(box->start[d] >= 0 && box->size[d] > 0 && box->start[d] + box->size[d] <= kernel->shape[d]);
    }
    assert_int_equal(box->first, first);
    assert_int_equal(box->rows * box->columns, elements);
    for (int64_t i = 0; i < box->rows; i++) /* marked: nothing is there twice */
        for (int64_t j = 0; j < box->columns; j++) {
            float *at =
                (float *)kernel->operand[0].memory->host + box->first + i * box->row_step + j * box->column_step;
            assert_true(*at == 0);
            *at = 1;
        }
    seen->elements += elements;
    seen->count++;
}

static void boxes_of_tails(void **state)
{
    (void)state;
    static const struct {
        convolution of;
        int64_t boxes;
        bool gaps; /* between rows of C */
    } cases[] = {
        {{2, 2, 1, 3, 5, {8, 20}, {3, 3}, {1, 1}, {1, 1}, {1, 1}}, 2, false},
        {{2, 2, 1, 3, 5, {8, 20}, {3, 3}, {1, 1}, {1, 1}, {1, 1}}, 16, true},
        {{2, 1, 1, 3, 97, {8, 20}, {1, 3}, {1, 1}, {0, 1}, {1, 1}}, 2, false}, /* blocks of 96 rows */
        {{3, 1, 2, 3, 5, {3, 4, 20}, {1, 3, 3}, {1, 1, 1}, {0, 1, 1}, {1, 1, 1}}, 2, false},
        {{3, 1, 1, 3, 5, {3, 4, 20}, {1, 3, 3}, {1, 1, 1}, {0, 1, 1}, {1, 1, 1}}, 12, true},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        convolution_case t;
        wk__kernel kernel;
        wk__sum sum;
        wk__group g;
        wk__padded_product p;
        convolution_new(&t, &cases[k].of, WK_F32, ROWS);
        describe(&t, FORWARD, &kernel, &sum);
        if (cases[k].gaps) kernel.shape[kernel.ndim - 1]--; /* the last place of each row is none of C's */
        memset(t.y.data, 0, (size_t)t.y.bytes);
        ir_space(&g, kernel.ndim, kernel.shape, 0);
        assert_true(wk__padded_product_of(&p, &kernel));
        boxes seen = {.kernel = &kernel};
        wk__padded_product_pieces(&p, &g, see_box, &seen);
        assert_int_equal(seen.elements, elements_of(&kernel));
        if (seen.count != cases[k].boxes) fail_msg("case %d: %lld boxes", (int)k, (long long)seen.count);
        wk__padded_product_pieces(&p, NULL, see_box, &seen);
        assert_int_equal(seen.elements, elements_of(&kernel));
        convolution_free(&t);
    }
}

/* A request for memory that fails fails the contraction, before anything of C is written. */
static void short_memory(void **state)
{
    (void)state;
    const convolution of = {2, 4, 1, 30, 100, {30, 30}, {3, 3}, {1, 1}, {1, 1}, {1, 1}};
    for (direction way = FORWARD; way <= OF_WEIGHT; way += OF_WEIGHT) {
        convolution_case t;
        wk__kernel kernel;
        wk__sum sum;
        convolution_new(&t, &of, WK_F32, ROWS);
        describe(&t, way, &kernel, &sum);
        char *before = array_copy(result_of(&t, way));
        for (int threads = 1; threads <= 2; threads++) {
            wk__set_threads(threads);
            for (int request = 1; request <= threads; request++) {
                wk__fail fail = {0};
                wk__cpu_matmul_trim();
                wk__alloc_fail_at(request);
                const wk_code code = (way == FORWARD ? run_product : run_dots)(&kernel, &fail);
                wk__alloc_fail_at(0);
                assert_int_equal(code, WK_ERR_MEMORY);
                assert_int_equal(fail.code, code);
                assert_memory_equal(before, result_of(&t, way)->data, (size_t)result_of(&t, way)->bytes);
            }
        }
        wk__set_threads(1);
        free(before);
        convolution_free(&t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(convolutions_forward),
        cmocka_unit_test(gradients_by_the_input),
        cmocka_unit_test(gradients_by_the_kernel),
        cmocka_unit_test(pieces_of_products),
        cmocka_unit_test(pieces_of_dots),
        cmocka_unit_test(other_instruction_sets),
        cmocka_unit_test(coordinates_of_any_kind),
        cmocka_unit_test(only_what_is_summed_is_multiplied),
        cmocka_unit_test(which_are_copied),
        cmocka_unit_test(what_is_too_large),
        cmocka_unit_test(when_it_pays),
        cmocka_unit_test(what_pays_is_done),
        cmocka_unit_test(boxes_of_tails),
        cmocka_unit_test(short_memory),
    };
    return cmocka_run_group_tests(tests, NULL, trim_products);
}
