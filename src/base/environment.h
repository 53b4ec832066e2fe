/* SPDX-License-Identifier: Apache-2.0 */
/* Environment variables of the library and its command line. The table in environment.c has the name, purpose and valid
 * values of each. Values are read from the environment at each call. */
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
    WK__SETTING_ANOMALY,
    WK__SETTING_CPU,
    WK__SETTING_THREADS,
    WK__SETTING_PLACEMENT,
    WK__SETTING_GPU,
    WK__SETTING_CACHE_DIR,
    WK__SETTING_CACHE_MB,
    WK__SETTING_OPENCL_OPTIONS,
    WK__SETTING_CUDA_PATH,
    WK__SETTING_LIBPNG,
    WK__SETTING_LIBJPEG,
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

/* Returns the name of the variable. */
const char *wk__setting_name(wk__optim_option which);
/* Returns the value of the variable; NULL if it is not set. */
const char *wk__setting_text(wk__optim_option which);
/* Returns a description of the valid values. */
const char *wk__setting_takes(wk__optim_option which);
/* Returns true if every variable that is set has a valid value; else writes an error message about the first invalid
 * one to `why`. */
bool wk__settings_valid(char *why, size_t room);
/* Returns true unless the switch is unset, empty, 0, off, no or false. */
bool wk__setting_on(wk__optim_option which);
/* Returns the value, at most the maximum of the variable; `otherwise` if it is not a number or is below the minimum. */
int64_t wk__setting_number(wk__optim_option which, int64_t otherwise);
/* Parses a list of words, separated by commas or spaces, into bits (bit k for word k of the table). *unknown and
 * *length receive the first unknown word; *unknown is NULL if all are known. */
int wk__setting_parse_flags(wk__optim_option which, const char *text, const char **unknown, int *length);

#endif
