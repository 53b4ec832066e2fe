/* SPDX-License-Identifier: Apache-2.0 */
/* The control groups that this process is in: what a container grants, where /proc shows what its host has. */
#ifndef WICK_BASE_CGROUP_H
#define WICK_BASE_CGROUP_H

#include <stdbool.h>
#include <stdint.h>

/* Calls visit with the folder of the group that has `controller` ("cpu", "memory"), then with those of all groups
 * around it, whose limits bind as well; `unified` says that its files are those of cgroup 2. `root` stands before /proc
 * and /sys: "" in earnest, a folder in tests. */
typedef void wk__cgroup_visit(void *user, const char *folder, bool unified);
void wk__cgroup_each(const char *root, const char *controller, wk__cgroup_visit *visit, void *user);

/* The numbers, up to `most`, in the first line of folder/name; returns how many. A word, such as "max", is -1. */
int wk__cgroup_numbers(const char *folder, const char *name, int64_t *number, int most);

#endif
