/* SPDX-License-Identifier: Apache-2.0 */
/* References of the ops in src/ops/pointwise/div.c. */
#include "references/reference.h"
#include <math.h>

/* ---- div: true division, also of integers ------------------------------------------------------------------------ */

static double floor_divide_exact(const double *x)
{
    double rest = fmod(x[0], x[1]), whole = (x[0] - rest) / x[1];
    if (x[1] == 0) return x[0] / x[1];
    if (rest != 0 && signbit(rest) != signbit(x[1])) whole -= 1;
    return whole == 0 ? copysign(0, x[0] / x[1]) : whole;
}

/* x[2]: the first letter of the rounding mode, if given */
static double div_exact(const double *x)
{
    return x[2] == 'f' ? floor_divide_exact(x) : x[2] == 't' ? trunc(x[0] / x[1]) : x[0] / x[1];
}

static const char *const whole_samples[] = {"[], []",   "[5], [5]",   "[3,4], [4]", "[2,1,3], [4,1]", "[0,3], [3]",
                                            "[3,4], 2", "[3,4], 0.5", "2, [3]",     "[4]:i64<7, 2",   NULL};

static const char *const div_samples[] = {"[], []",
                                          "[5], [5]",
                                          "[3,4], [4]",
                                          "[2,1,3], [4,1]",
                                          "[0,3], [3]",
                                          "[3,4], 2",
                                          "[3,4], 0.5",
                                          "2, [3]",
                                          "[4]:i64<7, 2",
                                          "[9]:f32, [9]:f32, \"floor\"",
                                          "[9]:f64, -0.7, \"trunc\"",
                                          "[9]:i64<9, -4, \"floor\"",
                                          "-9, [9]:i32<4, \"trunc\"",
                                          NULL};

const op_reference op_reference_div = {
    .scalar = div_exact, .samples = div_samples, .low = 0.5, .high = 3, .discontinuous = true};

/* ---- floor_divide ------------------------------------------------------------------------------------------------ */

const op_reference op_reference_floor_divide = {
    .scalar = floor_divide_exact, .samples = whole_samples, .low = 0.5, .high = 9, .discontinuous = true};

/* ---- remainder and fmod: a - b q, with q = a / b rounded down or towards 0; q has gradient 0 --------------------- */

static double remainder_exact(const double *x)
{
    return x[0] - x[1] * floor(x[0] / x[1]);
}

static double fmod_exact(const double *x)
{
    return fmod(x[0], x[1]);
}

/* Far from integer quotients, where the functions jump. */
static const char *const rest_samples[] = {
    "[4]:i64<9, 4", "[4]:i32<9, [4]:i32<9", "[0,3], [3]", "[], []", "[3,4], [4]", "[5], 0.75", NULL};

const op_reference op_reference_remainder = {
    .scalar = remainder_exact, .samples = rest_samples, .low = 1.2, .high = 2.2, .discontinuous = true};

const op_reference op_reference_fmod = {
    .scalar = fmod_exact, .samples = rest_samples, .low = 1.2, .high = 2.2, .discontinuous = true};
