/* SPDX-License-Identifier: Apache-2.0 */
/* State of a check, and symbolic values of records and programs. */
#ifndef WICK_ENGINE_PLAN_CHECK_VALUES_H
#define WICK_ENGINE_PLAN_CHECK_VALUES_H

#include "plan_check_workspace.h"

/* A value that the group reads or writes. */
typedef struct wk__plan_check_value {
    wk__value *value;
    wk__record *maker; /* record of this group; NULL: the value was stored before */
    /* index of the value of which it overwrites a part, and which defines the other elements; -1: none */
    int prior;
    int area; /* buffer that it is in, now or when the group starts; -1: it has no memory */
} wk__plan_check_value;

/* A memory range. Elements are counted from its start, in units of the dtype stored there. */
typedef struct wk__plan_check_buffer {
    const wk__memory *memory;
    int before;        /* value stored there when the group starts; -1: none */
    int copied;        /* value whose contents were copied there before the group; -1: none */
    bool single_store; /* only one STORE accesses it: there is no order to check */
} wk__plan_check_buffer;

typedef struct wk__plan_check_state {
    wk__lowering *b;
    const wk__work *product; /* the contraction whose epilogue the group is; NULL: none */
    wk__fail *fail;
    wk__plan_check_workspace *space;
    wk__plan_check_table results; /* (value, element) -> symbolic value after the calls in program order */
    wk__plan_check_table stores;  /* (buffer, element) -> index of its last store, plus 1 */
    int64_t stored;
    int64_t most; /* maximum visited indices per dimension */
    bool sampled; /* not all elements are visited */
    /* The group's space, with the records' order of dimensions; `order` is that of the program: kept dimensions first,
     * reduced ones last. */
    int ndim, nreduce;
    uint16_t reduce_mask;
    uint8_t order[WK__MAX_DIMS];
    int64_t shape[WK__MAX_DIMS];
    wk__program group; /* the program as the device receives it */
    uint8_t level[WK__MAX_INS], pass[WK__MAX_INS];
    int passes;               /* number of passes over the columns of a row */
    int16_t reg[WK__MAX_INS]; /* result register of record k */
    int values, areas;
    wk__plan_check_value value[WK__PLAN_CHECK_VALUES];
    wk__plan_check_buffer area[WK__PLAN_CHECK_VALUES];
    int operand[WK__MAX_OPERANDS]; /* index in `value` */
} wk__plan_check_state;

/* Sets *fail and returns false. `rule` is the rule's name in docs/contributing. */
__attribute__((format(printf, 3, 4))) bool wk__plan_check_fail(wk__plan_check_state *c, const char *rule,
                                                               const char *format, ...);
/* "add at net.c:12" */
typedef struct wk__plan_check_label {
    char text[96];
} wk__plan_check_label;
wk__plan_check_label wk__plan_check_name(const wk__record *r);
/* Returns the name of the call that computed the value, or "an earlier call". */
wk__plan_check_label wk__plan_check_maker(const wk__plan_check_state *c, int value);

/* Returns the index of a value in c->value; -1 if absent. */
int wk__plan_check_find(const wk__plan_check_state *c, const wk__value *value);
/* Returns the symbolic value of element `place` of a value after the calls in program order; UNKNOWN: the element was
 * not visited. */
wk__plan_check_value_number wk__plan_check_content(const wk__plan_check_state *c, int value, int64_t place);
/* Returns the symbolic value of an element of a buffer before the group. */
wk__plan_check_value_number wk__plan_check_initial(const wk__plan_check_state *c, int area, int64_t place);

/* Computes the strides of operand k of the record over the group's space, with the program's order of dimensions.
 * Returns 0 if the record has the group's space, 1 if it has the space of its rows, -1 if neither. */
int wk__plan_check_strides(const wk__plan_check_state *c, wk__record *r, int k, int64_t *stride);

/* Symbolic evaluation of a program over the visited indices, one row at a time; the row's tokens are in the
 * workspace. */
typedef struct wk__plan_check_eval {
    const wk__program *group;
    const uint8_t *level;
    const int *operand; /* value indices of the operands */
    int64_t rows, columns;
} wk__plan_check_eval;
void wk__plan_check_eval_start(wk__plan_check_state *c, wk__plan_check_eval *walk);
void wk__plan_check_eval_row(wk__plan_check_state *c, const wk__plan_check_eval *walk, int64_t row);
static inline wk__plan_check_value_number
wk__plan_check_register(const wk__plan_check_state *c, const wk__plan_check_eval *walk, int k, int64_t column)
{
    return c->space->token[k][walk->level[k] ? column : 0];
}
/* Returns the offset of an operand's element at a visited index. */
static inline int64_t wk__plan_check_place(const wk__plan_check_state *c, const wk__plan_check_eval *walk, int operand,
                                           int64_t row, int64_t column)
{
    return walk->group->operand[operand].offset + c->space->row[operand][row] +
           (column < 0 ? 0 : c->space->column[operand][column]);
}

/* Evaluates each record alone, in program order, which defines the expected values. */
bool wk__plan_check_records(wk__plan_check_state *c);

#endif
