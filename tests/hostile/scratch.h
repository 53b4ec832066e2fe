/* SPDX-License-Identifier: Apache-2.0 */
/* Paths of files in the source tree, and of files that a test writes. */
#ifndef WICK_TESTS_HOSTILE_SCRATCH_H
#define WICK_TESTS_HOSTILE_SCRATCH_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Returns the path of a file in a folder of this test; the string is valid until the second call after this one. */
static inline const char *scratch(const char *name)
{
    static char paths[2][4096];
    static int next;
    static char folder[64] = "/tmp/wick-XXXXXX";
    const char *work = getenv("WICK_WORK");
    if (!work && !folder[15]) abort();
    if (!work && folder[15] == 'X' && !mkdtemp(folder)) abort();
    next = !next;
    snprintf(paths[next], sizeof paths[next], "%s/%s", work ? work : folder, name);
    return paths[next];
}

/* Writes a file under root, which replaces the root of /proc and /sys, creating its parent folders. */
static inline void put_below(const char *root, const char *path, const char *text)
{
    char whole[512];
    snprintf(whole, sizeof whole, "%s%s", root, path);
    for (char *slash = strchr(whole + strlen(root) + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        mkdir(whole, 0700);
        *slash = '/';
    }
    FILE *file = fopen(whole, "w");
    if (!file || fputs(text, file) < 0 || fclose(file) != 0) abort();
}

/* Returns the content of a file as a string, which is valid until the second call after this one. */
static inline const char *file_text(const char *path)
{
    static char content[2][1 << 17];
    static int next;
    char *out = content[next = !next];
    FILE *file = fopen(path, "rb");
    if (!file) abort();
    out[fread(out, 1, sizeof content[0] - 1, file)] = '\0';
    fclose(file);
    return out;
}

/* Returns the path of a file in the source tree: under WICK_SOURCE, or the working directory. */
static inline const char *source_file(const char *name)
{
    static char path[4096];
    const char *source = getenv("WICK_SOURCE");
    snprintf(path, sizeof path, "%s/%s", source ? source : ".", name);
    return path;
}

/* Returns the path of a file below tests/fixtures; the string is valid until the second call after this one. */
static inline const char *fixture_file(const char *folder, const char *name)
{
    static char paths[2][4400];
    static int next;
    next = !next;
    snprintf(paths[next], sizeof paths[next], "%s/%s/%s", source_file("tests/fixtures"), folder, name);
    return paths[next];
}

#endif
