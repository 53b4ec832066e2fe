/* SPDX-License-Identifier: Apache-2.0 */
/* Groups that GPU backends compute, as lists of cases: some tests run them on devices, others only have a compiler take
 * their text. */
#ifndef WICK_TESTS_SUPPORT_GPU_CASES_H
#define WICK_TESTS_SUPPORT_GPU_CASES_H

#include "support/group/group_case.h"

typedef struct gpu_cases {
    int local; /* work-items of the smallest work-group: sums are rounded accordingly */
    int count;
    group_case *at[2048];
} gpu_cases;
typedef void gpu_add_cases(gpu_cases *list);

/* The list that `add` makes; gpu_cases_free frees it, and the cases. */
gpu_cases *gpu_cases_of(int local, gpu_add_cases *add);
void gpu_cases_free(gpu_cases *cases);
/* Takes the case over, and returns it. */
group_case *gpu_cases_add(gpu_cases *list, group_case *c);

/* support_gpu_codes.c */
gpu_add_cases gpu_usual_numbers, gpu_extreme_numbers, gpu_narrow_dtypes, gpu_casts, gpu_choices, gpu_random_numbers;
/* support_gpu_reductions.c */
gpu_add_cases gpu_layouts, gpu_reductions, gpu_several_passes, gpu_softmaxes, gpu_positions_and_rows,
    gpu_many_arguments;
/* support_gpu_traversals.c: rows that lie beside each other; rows that are gone over more than once; elements that
 * items take by vectors; rows so long that an item adds up several runs. */
gpu_add_cases gpu_strips, gpu_held, gpu_vectors, gpu_long_runs;
/* out = x + number, elementwise; `in_place`: out is x; `indexed`: + table[index], too, of five elements. */
group_case *gpu_plus_case(int64_t rows, int64_t columns, double number, bool in_place, bool indexed);

#endif
