/* SPDX-License-Identifier: Apache-2.0 */
/* What one flush carries along; see execute.c. */
#ifndef WICK_ENGINE_EXECUTE_H
#define WICK_ENGINE_EXECUTE_H

#include "tensor/large_values.h"
#include "op_queue.h"

/* A target of a call that happens whole: what it gets, and what it had. Both are held. */
typedef struct wk__undo {
    wk__value *out, *old;
} wk__undo;

/* A value that has the numbers of before, as the call in place that was to give it failed in this flush; or one that is
 * computed from such. */
typedef struct wk__stale {
    wk__value *value;
    wk__failure *failure; /* why; NULL: there was no memory to say */
} wk__stale;

typedef struct wk__execution {
    wk_context *owner;
    wk__op_queue *ring;
    wk__record *scratch[WK__MAX_INS]; /* the records of the group that runs, and of its prologue: each has an operand */
    wk__lowering building, ahead;     /* ahead: of a product that computes a factor on the way */
    const wk__record *failed_record;  /* whose output found no memory; NULL: not known */
    int32_t txn, txn_checked, txn_aborted; /* numbers of calls that happen whole: see transaction.c */
    int32_t txn_in_place_group;            /* group of the one that has begun which writes in place; -1:
                                                       none */
    wk__record *const *txn_mixed_end;      /* where the groups of that one end of which any may fail */
    int64_t failed_at_check;               /* values that had failed or were stale when `looked` was */
    wk__failure *abort_cause;              /* why it does not happen */
    wk__undo *undo;                        /* of the one that has begun */
    int64_t undos, undo_capacity;
    wk__stale *stale;
    int64_t stales, stale_capacity;
    int64_t stale_total;  /* how many there are, */
    bool stale_list_full; /* and there was no memory for one of them: each value may be one */
} wk__execution;

/* execute.c. What a backend is asked for by records that share a kernel: a program that has been built, or what
 * the first says, for which `kernel` is filled in, with what has been built of the others as its tail. Memory may come
 * later. */
wk__work wk__work_from_lowering(wk__lowering *b, wk__work_args *kernel);

/* failure.c. The outputs of a group that could not run fail, or keep the old numbers where an op in place was
 * to write. */
void wk__fail_group(wk__execution *run, wk__record **record, int records, const wk__fail *fail);
/* Records whose operands have failed fail with the same cause and leave the group; returns how many stay. */
int wk__drop_failed(wk__execution *run, wk__record **record, int records);
/* Why a call that happens whole, such as a step, must not use the value: it has failed, or is stale. Then *failure,
 * which may be NULL. Other calls use what a target has, but a program that hears of errors at once would not have come
 * to the step. */
bool wk__blocks_transaction(const wk__execution *run, const wk__value *value, wk__failure **failure);
void wk__stale_free(wk__execution *run);
/* Why the record could not run, in words. */
wk__failure *wk__failure_of_record(const wk__record *r, const wk__fail *fail);

/* output_memory.c: memory for what a group stores, its own or taken over from what dies. */
wk_code wk__alloc_program_outputs(wk__execution *run, wk__lowering *b, wk__fail *fail);
wk_code wk__alloc_kernel_outputs(wk__execution *run, wk__record *r, wk__work_args *kernel, wk__fail *fail);
/* A product that is not wanted itself goes where one of its epilogue's results will be, if one fits. */
wk_code wk__alloc_contraction_output(wk__lowering *b, wk__value *product, wk__fail *fail);

/* The last stored state of the target of an op in place; NULL: there is none. */
wk__value *wk__rollback_value(const wk__record *r);

/* transaction.c. Looks at the groups from here on, of which there are `live` records: if the first belongs to a call
 * that happens whole, what that call needs is put before it, and it begins. True: the first group is another one
 * now. */
bool wk__transaction_prepare_group(wk__execution *run, wk__record **record, int64_t live);
/* A record of it has failed: none of its targets changes. */
void wk__transaction_abort(wk__execution *run, int32_t whole, wk__failure *failure);
void wk__transaction_free_undo(wk__execution *run);

/* Logs which ops ran where: the records of one group, before it runs. Only when the log wants to know. */
void wk__log_placement(wk__record *const record[], int records);
/* The same of the kernels: what one group became; each place of the program once. */
void wk__log_kernel(const wk__record *r, const wk__work *work);

#endif
