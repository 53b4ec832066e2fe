/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of rules_error_codes: a public header's promise of an error code, and a call that provokes it. */
#ifndef TESTS_RULES_PROMISED_CODES_H
#define TESTS_RULES_PROMISED_CODES_H

#include "hostile/scratch.h"
#include "support/wick.h"
#include <wick/call.h>
#include <wick/checkpoint.h>

/* A row has one of: a function that leaves an error with that code; the test program that checks the promise, if it
 * needs several processes, a failing device or a hook into the library; the arguments of a call by name that fails. */
typedef struct promised_code {
    const char *subject; /* a function, or a header if the promise applies to all of its functions */
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
