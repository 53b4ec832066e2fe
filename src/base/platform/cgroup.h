/* SPDX-License-Identifier: Apache-2.0 */
/* Control groups of this process: the limits of a container, where /proc shows the resources of the host. */
#ifndef WICK_BASE_CGROUP_H
#define WICK_BASE_CGROUP_H

#include <stdbool.h>
#include <stdint.h>

/* Calls visit with the folder of the process's group of `controller` ("cpu", "memory") and then with each of its
 * ancestors, whose limits apply too. `unified`: the files are those of cgroup 2. `root` is a prefix of /proc and /sys:
 * "" normally, a folder in tests. */
typedef void wk__cgroup_visit(void *user, const char *folder, bool unified);
void wk__cgroup_each(const char *root, const char *controller, wk__cgroup_visit *visit, void *user);

/* Reads up to `most` integers from the first line of folder/name and returns their number. A word such as "max" reads
 * as -1. */
int wk__cgroup_numbers(const char *folder, const char *name, int64_t *number, int most);

#endif
