/* Groups that reduce, and what run.c and run_rows.c share. */
#ifndef WICK_BACKEND_CPU_RUN_ROWS_H
#define WICK_BACKEND_CPU_RUN_ROWS_H

#include <stdatomic.h>

#include "run_walk.h"

/* What went wrong in some thread: the first bad index, or no memory. */
typedef struct wk__trouble {
    atomic_bool fault, no_memory;
    int64_t index, bound;
} wk__trouble;

void wk__trouble_note(wk__trouble *trouble, const wk__worker *worker);
wk_code wk__trouble_code(wk__trouble *trouble, const wk__group *group, wk__fail *fail);

/* Operands that are best stored past the caches, a bit each. */
uint32_t wk__stream_operands(const wk__group *group);

wk_code wk__cpu_run_rows(const wk__group *group, wk__fail *fail);

#endif
