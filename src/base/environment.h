/* SPDX-License-Identifier: Apache-2.0 */
/* The variables of the environment that the library and its command read: one table says what each is for and what it
 * takes. */
#ifndef WICK_BASE_ENVIRONMENT_H
#define WICK_BASE_ENVIRONMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum wk__setting {
    WK__SET_SYNC,
    WK__SET_NOFUSE,
    WK__SET_CHECK,
    WK__SET_CHECK_DIR,
    WK__SET_CPU,
    WK__SET_THREADS,
    WK__SET_PLACEMENT,
    WK__SET_GPU,
    WK__SET_CACHE_DIR,
    WK__SET_CACHE_MB,
    WK__SET_OPENCL_OPTIONS,
    WK__SET_CUDA_PATH,
    WK__SET_MPI_PLUGIN,
    WK__SET_RSH,
    WK__SET_LOG,
    WK__SET_LOG_FILE,
    WK__SET_COMM,
    WK__SET_RANK,
    WK__SET_WORLD,
    WK__SET_LOCAL_RANK,
    WK__SET_HOSTS,
    WK__SET_SECRET,
    WK__SET_TIMEOUT,
    WK__SET_LISTEN_FD,
    WK__SET_STATUS_FD,
    WK__SETTINGS
} wk__setting;

/* As it is set; NULL when it is not. */
const char *wk__setting_text(wk__setting which);
/* What it takes, in words. */
const char *wk__setting_takes(wk__setting which);
/* Is each of them that is set what it takes? Else a sentence about the first that is not. */
bool wk__settings_right(char *why, size_t room);
/* Of a switch: anything but nothing, 0, off, no and false. */
bool wk__setting_on(wk__setting which);
/* `otherwise` where there is no number, or one below the least; one above the most is the most. */
int64_t wk__setting_number(wk__setting which, int64_t otherwise);
/* The words in a list with commas, as bits by their place in the table. Of the first that is none, *unknown is the
 * beginning and *length its length; else it is NULL. */
int wk__setting_words(wk__setting which, const char *text, const char **unknown, int *length);

#endif
