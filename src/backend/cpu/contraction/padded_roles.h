/* SPDX-License-Identifier: Apache-2.0 */
/* Roles of the indices in products of a factor A and a factor B that is copied with padding (padded.h):
 *
 *     C[n, o, t] = sum over c, u of A[n, o, c, u] B[n, c, t + u - 1]
 *
 *     positions   result indices on which a coordinate of B depends: t
 *     row         a result index on which only A depends: o
 *     batch       the other result indices: n
 *     channels    summed indices on which no coordinate depends: c
 *     taps        the other summed indices: u */
#ifndef WICK_BACKEND_CPU_CONTRACTION_PADDED_ROLES_H
#define WICK_BACKEND_CPU_CONTRACTION_PADDED_ROLES_H

#include "im2col.h"
#include "padded.h"

typedef struct wk__padded_roles {
    int row; /* -1: none, and a single row */
    int64_t rows, steps;
    wk__padded_list batch;
    wk__im2col a; /* how A, which has no coordinates, is packed */
} wk__padded_roles;

/* Fills in `b`, of operand `factor`, and the roles but `a`; there are at most `most` taps. Returns false if the
 * contraction has another form. */
bool wk__padded_roles_init(wk__padded_roles *roles, wk__padded *b, const wk__work_args *kernel, int factor,
                           int64_t most);
/* Fills in `a`: its batches are the combinations of `batch`. */
void wk__padded_roles_pack_a(wk__padded_roles *roles, const wk__padded *b);

#endif
