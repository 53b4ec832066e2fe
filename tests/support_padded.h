/* SPDX-License-Identifier: Apache-2.0 */
/* The two ways of the CPU that read a factor from padded copies, by places of the result and by places that are summed,
 * taken whether or not they pay. */
#ifndef TESTS_SUPPORT_PADDED_H
#define TESTS_SUPPORT_PADDED_H

#include "support_contraction.h"

#include "../src/backend/cpu/contraction_dots.h"
#include "../src/backend/cpu/contraction_padded.h"
#include "../src/backend/cpu/isa.h"

/* They need tiles that not every kind of CPU has. */
static inline bool has_tiles(wk_dtype dtype)
{
    return wk__cpu_gemm(dtype)->class->apart != NULL;
}

static inline bool has_product(const wk__kernel *kernel)
{
    wk__padded_product p;
    return wk__padded_product_of(&p, kernel);
}

static inline bool has_dots(const wk__kernel *kernel)
{
    wk__dots_plan p;
    return wk__dots_plan_of(&p, kernel);
}

static inline wk_code run_product(const wk__kernel *kernel, wk__fail *fail)
{
    wk__padded_product p;
    assert_true(wk__padded_product_of(&p, kernel));
    return wk__padded_product_run(&p, NULL, fail);
}

static inline wk_code run_dots(const wk__kernel *kernel, wk__fail *fail)
{
    wk__dots_plan p;
    assert_true(wk__dots_plan_of(&p, kernel));
    return wk__dots_run(&p, fail);
}

typedef bool has_way(const wk__kernel *kernel);

#endif
