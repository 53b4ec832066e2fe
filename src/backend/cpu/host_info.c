/* SPDX-License-Identifier: Apache-2.0 */
/* CPU and memory figures of the system. Linux kills processes that exceed the available memory instead of refusing
 * allocations, so blocks are checked against these figures first. */
#include "base/platform/cgroup.h"
#include "cpu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static FILE *open_under_root(const char *root, const char *path)
{
    char whole[1024];
    const int length = snprintf(whole, sizeof whole, "%s%s", root, path);
    return length < (int)sizeof whole ? fopen(whole, "re") : NULL;
}

/* Returns the bytes of a line "MemTotal:  123 kB" of /proc/meminfo; -1 if missing. */
static int64_t meminfo(const char *root, const char *key)
{
    FILE *file = open_under_root(root, "/proc/meminfo");
    if (!file) return -1;
    char line[256];
    int64_t bytes = -1;
    const size_t length = strlen(key);
    while (bytes < 0 && fgets(line, sizeof line, file))
        if (strncmp(line, key, length) == 0 && line[length] == ':') bytes = strtoll(line + length + 1, NULL, 10) * 1024;
    fclose(file);
    return bytes;
}

/* Applies the limit of one group and what is left of it. */
static void apply_cgroup_limit(void *memory_address, const char *folder, bool unified)
{
    wk__cpu_memory *memory = memory_address;
    int64_t limit, used;
    if (!wk__cgroup_numbers(folder, unified ? "memory.max" : "memory.limit_in_bytes", &limit, 1)) return;
    /* unlimited: cgroup 1 writes a huge number */
    if (limit < 0 || (memory->total > 0 && limit >= memory->total)) return;
    memory->total = limit;
    if (!wk__cgroup_numbers(folder, unified ? "memory.current" : "memory.usage_in_bytes", &used, 1) || used < 0) return;
    const int64_t left = limit > used ? limit - used : 0;
    if (memory->available < 0 || left < memory->available) memory->available = left;
}

wk__cpu_memory wk__cpu_memory_now(const char *root)
{
    wk__cpu_memory memory = {.total = meminfo(root, "MemTotal"), .available = meminfo(root, "MemAvailable")};
    if (memory.total < 0) memory.total = 0;
    wk__cgroup_each(root, "memory", apply_cgroup_limit, &memory);
    return memory;
}

void wk__cpu_name(const char *root, char *name, size_t size)
{
    snprintf(name, size, "CPU");
    FILE *file = open_under_root(root, "/proc/cpuinfo");
    if (!file) return;
    char line[512];
    while (fgets(line, sizeof line, file)) {
        char *colon = strchr(line, ':');
        if (!colon || strncmp(line, "model name", 10) != 0) continue;
        colon += 1 + strspn(colon + 1, " \t");
        colon[strcspn(colon, "\n")] = 0;
        if (*colon) snprintf(name, size, "%s", colon);
        break;
    }
    fclose(file);
}
