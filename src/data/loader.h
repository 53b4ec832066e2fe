/* SPDX-License-Identifier: Apache-2.0 */
/* What others may know of loops over data. */
#ifndef WICK_DATA_LOADER_H
#define WICK_DATA_LOADER_H

/* Seconds that loops have spent on getting their next batches so far, in this process. */
double wk__loader_wait_seconds(void);

#endif
