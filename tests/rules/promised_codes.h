/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of rules_error_codes: each public header's promise of an error code, and a call that provokes it. */
#ifndef TESTS_RULES_PROMISED_CODES_H
#define TESTS_RULES_PROMISED_CODES_H

#include "hostile/scratch.h"
#include "support/wick.h"
#include <wick/call.h>
#include <wick/checkpoint.h>

/* One of `provoke`, which leaves an error with that code, the test program that holds the promise because it takes
 * several processes, a failing device or a hook into the library, and the arguments of a call by name that fails. */
typedef struct promised_code {
    const char *subject; /* the function, or the header for a promise of all of its functions */
    wk_code code;
    void (*provoke)(void);
    const char *test;
    const char *sample; /* see promised_codes_samples.h */
} promised_code;

static inline wk_tensor *a_leaf(void)
{
    return wk_ones((4), .requires_grad = true);
}

/* Four elements that share one memory location. */
static inline wk_tensor *an_expanded(void)
{
    return wk_expand(wk_ones((1)), (4));
}

static inline wk_device no_device(void)
{
    return wk_opencl(99);
}

static inline wk_tensor *on_the_null_device(void)
{
    return wk_ones((4), .device = test_null());
}

#endif
