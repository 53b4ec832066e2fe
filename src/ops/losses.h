/* What losses share: how they are reduced, forward and backward. */
#ifndef WICK_OPS_LOSSES_H
#define WICK_OPS_LOSSES_H

#include "rows.h"

/* Attributes of every loss: i[0] = wk_reduction, f[0] = what the sum is divided by, f[1] = a number of its own. */

/* The loss of each element reduced, and rounded to `dtype`. Sets i[0] and f[0]; loss may be NULL. */
wk_tensor *wk__loss_reduced(wk_site site, wk_tensor *loss, wk_reduction reduction, wk_dtype dtype, wk__attr *attr);
/* The gradient of each element's loss: 0-d, or of the loss's shape when nothing was reduced. */
wk_tensor *wk__loss_gradient(const wk__gradient *g);

#endif
