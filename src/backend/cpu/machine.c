/* What the system says about CPU and memory. Linux kills a process that uses more than there is instead of refusing, so
 * blocks are measured against these figures before they are taken. */
#include "cpu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static FILE *open_below(const char *root, const char *path)
{
    char whole[1024];
    const int length = snprintf(whole, sizeof whole, "%s%s", root, path);
    return length < (int)sizeof whole ? fopen(whole, "re") : NULL;
}

/* The number in a file of one line, -1 if there is none ("max" too). */
static int64_t number_in(const char *root, const char *path)
{
    FILE *file = open_below(root, path);
    if (!file) return -1;
    char line[64], *end;
    int64_t number = -1;
    if (fgets(line, sizeof line, file)) {
        number = strtoll(line, &end, 10);
        if (end == line) number = -1;
    }
    fclose(file);
    return number;
}

/* The bytes of a line "MemTotal:  123 kB" of /proc/meminfo. */
static int64_t meminfo(const char *root, const char *key)
{
    FILE *file = open_below(root, "/proc/meminfo");
    if (!file) return -1;
    char line[256];
    int64_t bytes = -1;
    const size_t length = strlen(key);
    while (bytes < 0 && fgets(line, sizeof line, file))
        if (strncmp(line, key, length) == 0 && line[length] == ':') bytes = strtoll(line + length + 1, NULL, 10) * 1024;
    fclose(file);
    return bytes;
}

static void lower(int64_t *value, int64_t limit)
{
    if (limit >= 0 && (*value <= 0 || limit < *value)) *value = limit;
}

/* Takes into account one group: what it may use, and what of that is left. */
static void limit_by(const char *root, const char *folder, const char *limit_file, const char *usage_file,
                     wk__cpu_memory *memory)
{
    char path[900];
    snprintf(path, sizeof path, "%s/%s", folder, limit_file);
    const int64_t limit = number_in(root, path);
    if (limit < 0 || (memory->total > 0 && limit >= memory->total)) return; /* none: v1 writes a huge number */
    lower(&memory->total, limit);
    snprintf(path, sizeof path, "%s/%s", folder, usage_file);
    const int64_t used = number_in(root, path);
    if (used >= 0) {
        const int64_t left = limit > used ? limit - used : 0;
        if (memory->available < 0 || left < memory->available) memory->available = left;
    }
}

/* A group and all groups above it; inside a container the path often starts at the container's own root. */
static void limit_by_chain(const char *root, const char *base, const char *group, const char *limit_file,
                           const char *usage_file, wk__cpu_memory *memory)
{
    char folder[800];
    int length = snprintf(folder, sizeof folder, "%s%s", base, group);
    if (length >= (int)sizeof folder) return;
    const size_t stop = strlen(base);
    for (;;) {
        limit_by(root, folder, limit_file, usage_file, memory);
        char *slash = strrchr(folder, '/');
        if (!slash || (size_t)(slash - folder) < stop) return;
        *slash = 0;
    }
}

/* Lines of /proc/self/cgroup are "id:controllers:path": version 2 has no controllers, version 1 names them. */
static void limit_by_groups(const char *root, wk__cpu_memory *memory)
{
    FILE *file = open_below(root, "/proc/self/cgroup");
    if (!file) return;
    char line[700];
    while (fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = 0;
        char *controllers = strchr(line, ':');
        char *path = controllers ? strchr(controllers + 1, ':') : NULL;
        if (!path) continue;
        *controllers++ = 0;
        *path++ = 0;
        if (strcmp(path, "/") == 0) *path = 0;
        if (*controllers == 0)
            limit_by_chain(root, "/sys/fs/cgroup", path, "memory.max", "memory.current", memory);
        else if (strcmp(controllers, "memory") == 0)
            limit_by_chain(root, "/sys/fs/cgroup/memory", path, "memory.limit_in_bytes", "memory.usage_in_bytes",
                           memory);
    }
    fclose(file);
}

wk__cpu_memory wk__cpu_memory_now(const char *root)
{
    wk__cpu_memory memory = {.total = meminfo(root, "MemTotal"), .available = meminfo(root, "MemAvailable")};
    if (memory.total < 0) memory.total = 0;
    limit_by_groups(root, &memory);
    return memory;
}

void wk__cpu_name(const char *root, char *name, size_t size)
{
    snprintf(name, size, "CPU");
    FILE *file = open_below(root, "/proc/cpuinfo");
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
