/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of programs for GPU backends. Some tests run them on devices, others only compile their source. */
#ifndef WICK_TESTS_SUPPORT_GPU_CASES_H
#define WICK_TESTS_SUPPORT_GPU_CASES_H

#include "support/group/group_case.h"

typedef struct gpu_cases {
    int local; /* work-items in the smallest work-group, which determines the tolerance of sums */
    int count;
    group_case *at[2048];
} gpu_cases;
typedef void gpu_add_cases(gpu_cases *list);

/* Returns the list that add fills; gpu_cases_free frees the list and its cases. */
gpu_cases *gpu_cases_of(int local, gpu_add_cases *add);
void gpu_cases_free(gpu_cases *cases);
/* Adds a case, which the list then owns, and returns it. */
group_case *gpu_cases_add(gpu_cases *list, group_case *c);

/* gpu_codes.c */
gpu_add_cases gpu_usual_numbers, gpu_extreme_numbers, gpu_narrow_dtypes, gpu_casts, gpu_choices, gpu_random_numbers;
/* gpu_reductions.c */
gpu_add_cases gpu_layouts, gpu_reductions, gpu_several_passes, gpu_softmaxes, gpu_positions_and_rows,
    gpu_many_arguments;
/* gpu_traversals.c: neighbouring rows per work-group; rows that are traversed more than once; vector loads; rows so
 * long that an item adds several runs. */
gpu_add_cases gpu_strips, gpu_held, gpu_vectors, gpu_long_runs;
/* out = x + number, elementwise. in_place: out is x. indexed: adds table[index] as well, from a table of five
 * elements. */
group_case *gpu_plus_case(int64_t rows, int64_t columns, double number, bool in_place, bool indexed);

#endif
