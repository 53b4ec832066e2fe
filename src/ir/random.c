/* SPDX-License-Identifier: Apache-2.0 */
/* Quantile tables of the normal distribution, shared by all backends. */
#include "random.h"

#include "ndtri.inc"
