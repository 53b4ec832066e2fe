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
    int32_t reserved, refused; /* numbers of calls that happen whole: there is memory for all of it, or not */
    wk__failure *refusal;      /* why not */
} wk__run;

/* failed.c. The outputs of a group that could not run fail, or keep the old numbers where an op in place was to write. */
void wk__fail_group(wk__run *run, wk__record **record, int records, const wk__fail *fail);
/* Records whose operands have failed fail with the same cause and leave the group; returns how many stay. */
int wk__drop_failed(wk__run *run, wk__record **record, int records);
/* Why the record could not run, in words. */
wk__failure *wk__explain_record(const wk__record *r, const wk__fail *fail);

/* outputs.c: memory for what a group stores, its own or taken over from what dies. */
wk_code wk__program_outputs(wk__run *run, wk__building *b, wk__fail *fail);
wk_code wk__kernel_outputs(wk__run *run, wk__record *r, wk__fail *fail);
/* A product that is not wanted itself goes where one of its epilogue's results will be, if one fits. */
wk_code wk__product_output(wk__building *b, wk__value *product, wk__fail *fail);

/* whole.c: is there memory for all that the call of that number will store, from this group on? It is taken once and given back,
 * so that the arena has it at hand. Else the code, and for which record it was not to be had. */
wk_code wk__whole_reserve(int32_t whole, wk__record **record, int64_t live, const wk__record **culprit, wk__fail *fail);

/* Logs which ops ran where: the records of one group, before it runs. Only when the log wants to know. */
void wk__tell(wk__record *const record[], int records);
/* The same of the kernels: the program that one group became, what stands before it is `what`; each place of the program once. */
void wk__tell_kernel(const wk__record *r, const char *what, const wk__group *program);

#endif
