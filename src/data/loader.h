/* SPDX-License-Identifier: Apache-2.0 */
/* Statistics of data loops. */
#ifndef WICK_DATA_LOADER_H
#define WICK_DATA_LOADER_H

/* Returns the seconds that data loops of this process have waited for batches so far. */
double wk__loader_wait_seconds(void);

#endif
