/* SPDX-License-Identifier: Apache-2.0 */
/* The variables of the environment that the library and its command read: one table says what each is for and what it
 * takes. */
#ifndef WICK_BASE_ENVIRONMENT_H
#define WICK_BASE_ENVIRONMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum wk__optim_option {
    WK__SETTING_EAGER,
    WK__SETTING_NOFUSE,
    WK__SETTING_CHECK,
    WK__SETTING_CHECK_DIR,
    WK__SETTING_CPU,
    WK__SETTING_THREADS,
    WK__SETTING_PLACEMENT,
    WK__SETTING_GPU,
    WK__SETTING_CACHE_DIR,
    WK__SETTING_CACHE_MB,
    WK__SETTING_OPENCL_OPTIONS,
    WK__SETTING_CUDA_PATH,
    WK__SETTING_MPI_PLUGIN,
    WK__SETTING_RSH,
    WK__SETTING_LOG,
    WK__SETTING_LOG_FILE,
    WK__SETTING_COMM,
    WK__SETTING_RANK,
    WK__SETTING_WORLD_SIZE,
    WK__SETTING_LOCAL_RANK,
    WK__SETTING_COORDINATOR,
    WK__SETTING_SECRET,
    WK__SETTING_TIMEOUT,
    WK__SETTING_LISTEN_FD,
    WK__SETTING_STATUS_FD,
    WK__SETTINGS
} wk__optim_option;

/* As it is set; NULL when it is not. */
const char *wk__setting_text(wk__optim_option which);
/* What it takes, in words. */
const char *wk__setting_takes(wk__optim_option which);
/* Is each of them that is set what it takes? Else a sentence about the first that is not. */
bool wk__settings_valid(char *why, size_t room);
/* Of a switch: anything but nothing, 0, off, no and false. */
bool wk__setting_on(wk__optim_option which);
/* `otherwise` where there is no number, or one below the least; one above the most is the most. */
int64_t wk__setting_number(wk__optim_option which, int64_t otherwise);
/* The words in a list with commas, as bits by their place in the table. Of the first that is none, *unknown is the
 * beginning and *length its length; else it is NULL. */
int wk__setting_parse_flags(wk__optim_option which, const char *text, const char **unknown, int *length);

#endif
