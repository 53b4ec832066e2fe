/* SPDX-License-Identifier: Apache-2.0 */
/* State of one flush while its groups run (execute.c), and the functions of the files that it calls. Only the thread
 * that flushes uses it, with the queue locked. */
#ifndef WICK_ENGINE_EXECUTE_H
#define WICK_ENGINE_EXECUTE_H

#include "tensor/large_values.h"
#include "op_queue.h"

/* Undo entry of a transaction: a target's new and old value. Owns a reference to both. */
typedef struct wk__undo {
    wk__value *out, *old;
} wk__undo;

/* A value with outdated contents: the in-place call that computes it failed in this flush, or it was computed from such
 * a value. Owns both references. */
typedef struct wk__stale {
    wk__value *value;
    wk__failure *failure; /* reason; NULL: out of host memory */
} wk__stale;

typedef struct wk__execution {
    wk_context *owner;
    wk__op_queue *queue;
    wk__record *scratch[WK__MAX_INS]; /* records of the running group and of its prologue: each has an operand */
    wk__lowering building, ahead;     /* ahead: program of the group's prologue */
    const wk__record *failed_record;  /* its output could not be allocated; NULL: unknown */
    /* transactions: the current one, the last that was checked, the aborted one; 0: none. See transaction.c */
    int32_t txn, txn_checked, txn_aborted;
    /* group of the current transaction that is moved last and writes in place; -1: none */
    int32_t txn_in_place_group;
    wk__record *const *txn_mixed_end; /* end of the groups of the current transaction that may fail */
    int64_t failed_at_check;          /* number of failed and stale values at the last check */
    wk__failure *abort_cause;         /* reason of the abort */
    wk__undo *undo;                   /* undo entries of the current transaction */
    int64_t undos, undo_capacity;
    wk__stale *stale;
    int64_t stales, stale_capacity;
    int64_t stale_total;  /* number of stale values */
    bool stale_list_full; /* the list could not grow, so any value may be stale */
} wk__execution;

/* execute.c. Describes a lowered group to a backend: its program; or, for other families, the first record's work, for
 * which it fills in `kernel`, with the program of the other records as the epilogue. Operands may get their memory
 * later. */
wk__work wk__work_from_lowering(wk__lowering *b, wk__work_args *kernel);

/* failure.c. Marks the outputs of a group that could not run as failed; targets of in-place calls keep their old
 * contents. */
void wk__fail_group(wk__execution *run, wk__record **record, int records, const wk__fail *fail);
/* Fails records with failed operands, for the same reason, and removes them from the array; returns how many remain. */
int wk__drop_failed(wk__execution *run, wk__record **record, int records);
/* Returns true if a transaction must not use the value because it has failed or is stale; *failure is the reason, or
 * NULL if unknown. Calls outside transactions do use stale values. A program that handles errors immediately would not
 * have reached the optimiser step. */
bool wk__blocks_transaction(const wk__execution *run, const wk__value *value, wk__failure **failure);
void wk__stale_free(wk__execution *run);
/* Returns the failure of a record, with a message. */
wk__failure *wk__failure_of_record(const wk__record *r, const wk__fail *fail);

/* output_memory.c: allocates memory for the outputs of a group, or reuses memory of values that die in it. */
wk_code wk__alloc_program_outputs(wk__execution *run, wk__lowering *b, wk__fail *fail);
wk_code wk__alloc_kernel_outputs(wk__execution *run, wk__record *r, wk__work_args *kernel, wk__fail *fail);
/* Gives a contraction's unstored result the memory of an output of its epilogue, if one fits. */
wk_code wk__alloc_contraction_output(wk__lowering *b, wk__value *product, wk__fail *fail);

/* Returns the last stored value of an in-place call's target; NULL if there is none. */
wk__value *wk__rollback_value(const wk__record *r);

/* transaction.c. Prepares the group at the front of the `live` remaining records. If it belongs to a transaction that
 * has not begun, reorders the groups that the transaction consists of and begins it. Returns true if this changed which
 * group is first. */
bool wk__transaction_prepare_group(wk__execution *run, wk__record **record, int64_t live);
/* Aborts a transaction after one of its records failed: none of its targets changes. */
void wk__transaction_abort(wk__execution *run, int32_t txn, wk__failure *failure);
void wk__transaction_free_undo(wk__execution *run);

/* Logs the ops of one group and their device, before it runs. Call only if placement is logged. */
void wk__log_placement(wk__record *const record[], int records);
/* Logs the kernel of a group, once per call site of the program. */
void wk__log_kernel(const wk__record *r, const wk__work *work);

#endif
