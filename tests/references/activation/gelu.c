/* SPDX-License-Identifier: Apache-2.0 */
/* References of the ops in src/ops/activation/gelu.c. */
#include "references/reference.h"
#include <math.h>
#include <string.h>

static const double CUBE = 0.044715;

static const double INNER = M_2_SQRTPI * M_SQRT1_2; /* sqrt(2 / pi) */

/* ---- the call ---------------------------------------------------------------------------------------------------- */

static double with_erf(double x)
{
    return 0.5 * x * erfc(-x * M_SQRT1_2);
}

static double with_tanh(double x)
{
    return 0.5 * x * (1 + tanh(INNER * (x + CUBE * x * x * x)));
}

static void reference(reference_call *r)
{
    reference_map(r, strcmp(wk__value_text(&r->args[1], "none"), "tanh") == 0 ? with_tanh : with_erf);
}

static const char *const samples[] = {"[]", "[7]", "[3,5]", "[2,0]", "[2,3,4]", "[3,5], \"tanh\"", NULL};

const op_reference op_reference_gelu = {
    .reference = reference, .samples = samples, .low = -3, .high = 3, .max_ulps = 128};
