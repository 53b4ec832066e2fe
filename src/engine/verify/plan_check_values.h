/* SPDX-License-Identifier: Apache-2.0 */
/* The state of one check, and what records and programs compute, in tokens. */
#ifndef WICK_ENGINE_PLAN_CHECK_VALUES_H
#define WICK_ENGINE_PLAN_CHECK_VALUES_H

#include "plan_check_workspace.h"

/* A value that the group has to do with. */
typedef struct wk__plan_check_value {
    wk__value *value;
    wk__record *maker; /* of this group; NULL: it was in memory before */
    int prior;         /* what it was made over a part of: its elements where the record writes none; -1 */
    int area;          /* whose elements it is, or was when the group starts; -1: it has no memory */
} wk__plan_check_value;

/* A piece of memory. Elements of it are counted from its start, in the dtype of whatever lives there. */
typedef struct wk__plan_check_buffer {
    const wk__memory *memory;
    int before;        /* the value that is in it when the group starts, -1 */
    int copied;        /* the value whose numbers were copied to it by then, -1 */
    bool single_store; /* one STORE writes it and nothing else is there: no order to look at */
} wk__plan_check_buffer;

typedef struct wk__plan_check_state {
    wk__lowering *b;
    const wk__work *product; /* what the group is the tail of, or NULL */
    wk__fail *fail;
    wk__plan_check_workspace *space;
    wk__plan_check_table results; /* (value, element) -> what the order of the calls says is there */
    wk__plan_check_table stores;  /* (area, element) -> number of its last store, plus 1 */
    int64_t stored;
    int64_t most; /* visited places of a dimension */
    bool sampled; /* that is not all */
    /* The group's space in the records' order of dimensions, and in the program's: kept ones first, reduced
     * ones last. */
    int ndim, nreduce;
    uint16_t reduce_mask;
    uint8_t order[WK__MAX_DIMS];
    int64_t shape[WK__MAX_DIMS];
    wk__program group; /* the program as the device gets it */
    uint8_t level[WK__MAX_INS], pass[WK__MAX_INS];
    int passes;               /* walks over the columns of a row */
    int16_t reg[WK__MAX_INS]; /* result of record k */
    int values, areas;
    wk__plan_check_value value[WK__PLAN_CHECK_VALUES];
    wk__plan_check_buffer area[WK__PLAN_CHECK_VALUES];
    int operand[WK__MAX_OPERANDS]; /* which value it is */
} wk__plan_check_state;

/* Fills *fail; always false. `rule` is the word by which docs/design.md calls it. */
__attribute__((format(printf, 3, 4))) bool wk__plan_check_fail(wk__plan_check_state *c, const char *rule,
                                                               const char *format, ...);
/* "add at net.c:12" */
typedef struct wk__plan_check_label {
    char text[96];
} wk__plan_check_label;
wk__plan_check_label wk__plan_check_name(const wk__record *r);
/* The call that made the value, or "an earlier call". */
wk__plan_check_label wk__plan_check_maker(const wk__plan_check_state *c, int value);

/* Number of a value that the group has to do with; -1. */
int wk__plan_check_find(const wk__plan_check_state *c, const wk__value *value);
/* Element `place` of a value by the order of the calls. UNKNOWN: that place was not visited. */
wk__plan_check_value_number wk__plan_check_content(const wk__plan_check_state *c, int value, int64_t place);
/* What was in the memory before the group. */
wk__plan_check_value_number wk__plan_check_initial(const wk__plan_check_state *c, int area, int64_t place);

/* How operand k of the record goes along the group's space, in the program's order of dimensions: 0. -1 if the record's
 * space is neither the group's nor that of its rows; 1 if it is the rows'. */
int wk__plan_check_strides(const wk__plan_check_state *c, wk__record *r, int k, int64_t *stride);

/* A program over visited places. Rows come one by one: a row's tokens are in the check's space. */
typedef struct wk__plan_check_eval {
    const wk__program *group;
    const uint8_t *level;
    const int *operand; /* values of the operands */
    int64_t rows, columns;
} wk__plan_check_eval;
void wk__plan_check_eval_start(wk__plan_check_state *c, wk__plan_check_eval *walk);
void wk__plan_check_eval_row(wk__plan_check_state *c, const wk__plan_check_eval *walk, int64_t row);
static inline wk__plan_check_value_number
wk__plan_check_register(const wk__plan_check_state *c, const wk__plan_check_eval *walk, int k, int64_t column)
{
    return c->space->token[k][walk->level[k] ? column : 0];
}
/* The element of an operand at a visited place. */
static inline int64_t wk__plan_check_place(const wk__plan_check_state *c, const wk__plan_check_eval *walk, int operand,
                                           int64_t row, int64_t column)
{
    return walk->group->operand[operand].offset + c->space->row[operand][row] +
           (column < 0 ? 0 : c->space->column[operand][column]);
}

/* Each record by itself, in the order of the calls: what all values of the group are. */
bool wk__plan_check_records(wk__plan_check_state *c);

#endif
