/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of state that exists once per process: each runs in a child, with the stand-in's settings
 * (tests/standin/driver.h) in its environment. The parent never looks for devices. */
#ifndef WICK_TESTS_CUDA_CHILD_H
#define WICK_TESTS_CUDA_CHILD_H

#include "support/wick.h"

#include <dlfcn.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

/* Checks a condition in a child; ends the child if it is false. */
#define must(condition)                                                                                                \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "%s:%d: %s does not hold; the error is %s\n", __FILE__, __LINE__, #condition,              \
                    wk_error() != NULL ? wk_error() : "none");                                                         \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

/* Sets variables from a string such as "A=1 B=2". */
static inline void child_settings(const char *settings)
{
    char *text = strdup(settings), *rest = NULL;
    for (char *one = strtok_r(text, " ", &rest); one != NULL; one = strtok_r(NULL, " ", &rest)) {
        char *value = strchr(one, '=');
        *value = '\0';
        setenv(one, value + 1, 1);
    }
    free(text);
}

/* Runs body in a child with these settings and checks that it exits with status 0. The cache of compiled kernels is
 * kept for the next child. */
static inline void in_child(const char *settings, void (*body)(void))
{
    int status = 0;
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        setenv("WICK_CACHE_DIR", getenv("WICK_WORK") != NULL ? getenv("WICK_WORK") : "/tmp", 1);
        child_settings(settings);
        body();
        exit(0);
    }
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) fail_msg("with %s it ends with %#x", settings, status);
}

/* Looks up a function of a loaded stand-in and stores it to *to, a pointer to a function pointer of its type. */
static inline void standin_find(const char *library, const char *name, void *to)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/standin/%s", getenv("WICK_BUILD"), library);
    void *loaded = dlopen(path, RTLD_NOW | RTLD_NOLOAD), *function = loaded != NULL ? dlsym(loaded, name) : NULL;
    must(function != NULL);
    memcpy(to, &function, sizeof function);
}

/* Returns the number of calls of this driver function. */
static inline long driver_calls(const char *name)
{
    long (*count)(const char *);
    standin_find("libcuda.so.1", "standin_count", &count);
    return count(name);
}

static inline wk_tensor *ones_on(int index)
{
    return wk_to(wk_ones((1000)), wk_cuda(index));
}

/* Checks that the second card and the CPU work after the first card was lost. */
static inline void others_go_on(void)
{
    WK_SCOPE;
    must(wk_item(wk_sum(ones_on(1))) == 1000 && wk_error() == NULL);
    must(wk_item(wk_sum(wk_ones((3)))) == 3 && wk_error() == NULL);
}

#endif
