/* What one flush carries along; see execute.c. */
#ifndef WICK_ENGINE_EXECUTE_H
#define WICK_ENGINE_EXECUTE_H

#include "../tensor/large.h"
#include "ring.h"

typedef struct wk__run {
    wk_context *owner;
    wk__ring *ring;
    wk__record *scratch[WK__MAX_INS]; /* the records of the group that runs: each has an instruction at least */
    wk__building building;
    const wk__record *culprit; /* whose output found no memory; NULL: not known */
} wk__run;

/* Logs which ops ran where: the records of one group, before it runs. Only when the log wants to know. */
void wk__tell(wk__record *const record[], int records);

#endif
