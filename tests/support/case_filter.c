/* SPDX-License-Identifier: Apache-2.0 */
/* WICK_TEST_CASE=PATTERN (make test CASE=...) limits a program to the tests whose names match; * matches any text, ?
 * any character. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

__attribute__((constructor)) static void filter_cases(void)
{
    const char *pattern = getenv("WICK_TEST_CASE");
    if (pattern) cmocka_set_test_filter(pattern);
}
