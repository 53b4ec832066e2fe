/* SPDX-License-Identifier: Apache-2.0 */
/* A backend that computes a wrong result on request, to test that WICK_CHECK=1 detects it. */
#ifndef TESTS_SUPPORT_CORRUPT_H
#define TESTS_SUPPORT_CORRUPT_H

#include "wick.h"

#include "engine/op_queue.h"

/* Corruption of the n-th submission (program, product or kernel) from now on, once:
 *
 *     CORRUPT_RESULT          sets element `place` of output `which` to `number` afterwards
 *     CORRUPT_OPERAND         the same for input `which`, after the work
 *     CORRUPT_OPERAND_BEFORE  the same before the work, like a buffer that is overwritten too soon
 *     REPORT_BAD_INDEX        reports an index out of range
 *     SKIP_WORK               does not run the work
 *
 * `place` counts elements from the start of the memory. A checked flush first submits each of its records separately,
 * so submission records + 1 is the first of the plan. */
typedef enum corrupt_kind {
    CORRUPT_RESULT = 1,
    CORRUPT_OPERAND,
    CORRUPT_OPERAND_BEFORE,
    REPORT_BAD_INDEX,
    SKIP_WORK
} corrupt_kind;
typedef struct corrupt_request {
    int64_t n;
    corrupt_kind how;
    int which;
    int64_t place;
    float number;
} corrupt_request;

/* Setup and teardown of tests of WICK_CHECK=1: setup enables it in every test mode; teardown removes the corruption and
 * the log handler. */
int corrupt_setup(void **state);
int corrupt_teardown(void **state);

void corrupt_install(wk_device device);
void corrupt_arm(corrupt_request order);
/* Restores the device. Returns true if the requested corruption has happened. */
bool corrupt_remove(void);

#endif
