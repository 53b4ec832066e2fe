/* SPDX-License-Identifier: Apache-2.0 */
/* A backend that computes something wrong when a test says so: what WICK_CHECK=1 has to find. */
#ifndef TESTS_SUPPORT_SPOIL_H
#define TESTS_SUPPORT_SPOIL_H

#include "support_wick.h"

#include "engine/ring.h"

/* Of the work that the device is given from now on (groups, products, kernels) the n-th goes wrong, once:
 *
 *     SPOIL_RESULT   element `place` (in elements, from the start of the memory) of what it stores is `number`
 *     SPOIL_OPERAND  the same of what it only reads, when it is done
 *     SPOIL_EARLY    the same, before it begins: as if somebody had written over it too soon
 *     SPOIL_INDEX    it says that an index was bad
 *     SPOIL_NOTHING  it is not done at all
 *
 * `which` counts the operands that it stores, or reads. A flush that is checked gives the device each of its records by
 * itself first, so work number (records + 1) is the first that is planned. */
typedef enum spoil_how { SPOIL_RESULT = 1, SPOIL_OPERAND, SPOIL_EARLY, SPOIL_INDEX, SPOIL_NOTHING } spoil_how;
typedef struct spoil_order {
    int64_t n;
    spoil_how how;
    int which;
    int64_t place;
    float number;
} spoil_order;

/* Setup and teardown of tests that look at what WICK_CHECK=1 finds: it is on, whatever mode the tests run in, and in
 * the end no device spoils anything, and nobody listens to the log. */
int spoil_checked(void **state);
int spoil_unchecked(void **state);

void spoil_begin(wk_device device);
void spoil_next(spoil_order order);
/* The device is as it was. Has what was ordered been done? */
bool spoil_end(void);

#endif
