/* SPDX-License-Identifier: Apache-2.0 */
/* A backend that computes something wrong when a test says so: what WICK_CHECK=1 has to find. */
#ifndef TESTS_SUPPORT_SPOIL_H
#define TESTS_SUPPORT_SPOIL_H

#include "wick.h"

#include "engine/op_queue.h"

/* Of the work that the device is given from now on (groups, products, kernels) the n-th goes wrong, once:
 *
 *     CORRUPT_RESULT  element `place` (in elements, from the start of the memory) of what it stores is `number`
 *     CORRUPT_OPERAND  the same of what it only reads, when it is done
 *     CORRUPT_OPERAND_BEFORE  the same, before it begins: as if somebody had written over it too soon
 *     REPORT_BAD_INDEX  it says that an index was bad
 *     SKIP_WORK      it is not done at all
 *
 * `which` counts the operands that it stores, or reads. A flush that is checked gives the device each of its records by
 * itself first, so work number (records + 1) is the first that is planned. */
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

/* Setup and teardown of tests that look at what WICK_CHECK=1 finds: it is on, whatever mode the tests run in, and in
 * the end no device spoils anything, and nobody listens to the log. */
int corrupt_setup(void **state);
int corrupt_teardown(void **state);

void corrupt_install(wk_device device);
void corrupt_arm(corrupt_request order);
/* The device is as it was. Has what was ordered been done? */
bool corrupt_remove(void);

#endif
