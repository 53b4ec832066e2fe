/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of the normal distribution's quantiles, once for all backends. */
#include "random.h"

#include "ndtri.inc"
