/* SPDX-License-Identifier: Apache-2.0 */
/* wick/log.h: what the library did and why: where ops ran, what was copied, where the host waited. */
#ifndef WICK_LOG_H
#define WICK_LOG_H

#if !defined __cplusplus && !defined __clang__
#pragma GCC system_header /* see macros.h */
#endif

#include "core.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Lines about the named subjects (several with commas) go to `callback`; NULL or "": none. Without a program's own
 * callback, WICK_LOG=subjects in the environment does the same to the file that WICK_LOG_FILE names, or to stderr where
 * that is not set. Lines may come in the midst of work: the callback must not call the library.
 *
 *   placement   which ops ran where, in which order, and what soft placement copied, once for each place in the program
 *               and all of it at the end of the file
 *   sync        where the host waits for a device other than the CPU, once for each place in the program
 *   kernel      what the ops of one pass became: the program that runs over the elements, an instruction a line, once
 *               for each place in the program; and what the device's compiler was given to do, and how long it took
 *   check       with WICK_CHECK=1: what was not computed a second time, and why
 *   parallel    of each mirrored network, once: its devices, how copies go, what a step's time goes into
 *
 *   leaks       what was retained, or made outside of any scope, and not freed when the process ends: how many wk_free
 *               of which kind are missing, for each place in the program. Told at the end, so by WICK_LOG=leaks alone
 *
 * WK_OK, or WK_ERR_ARGUMENT for a subject that is none of these; then the log stays as it was. */
typedef void wk_log_callback(void *user, const char *line);
WK_API wk_code wk_set_log_at(wk_site site, const char *subjects, wk_log_callback *callback, void *user);

/* ---- placement: strict by default -------------------------------------------------------------------------------- */

/* WK_OK. on: operands on different devices are brought together on the accelerator among them, as TensorFlow
 * does, and counted. */
WK_API wk_code wk_set_soft_placement(bool on);
/* Copies made by soft placement so far, and their bytes; either may be NULL. */
WK_API void wk_placement_counters(int64_t *copies, int64_t *bytes);

/* ---- waiting for devices ----------------------------------------------------------------------------------------- */

/* What happens when the host waits for an accelerator: wk_item, printing, reading, copies to the host. */
typedef enum wk_sync_mode {
    WK_SYNC_QUIET, /* counted only */
    WK_SYNC_LOG,   /* the default: a line for each place in the program, for those who listen to the log's
                    subject "sync" */
    WK_SYNC_ERROR  /* an error with file:line: for finding what stalls a training loop. The call does its work all the
                    same, and returns what it would */
} wk_sync_mode;
/* WK_OK, or WK_ERR_ARGUMENT for what is none of these; then the mode stays as it was. */
WK_API wk_code wk_set_sync_debug_mode_at(wk_site site, wk_sync_mode mode);

typedef struct wk_transfer_counters {
    size_t size;       /* sizeof(wk_transfer_counters), set by the caller */
    int64_t waits;     /* times the host waited for a device other than the CPU */
    int64_t uploads;   /* bytes from the host to devices */
    int64_t downloads; /* bytes from devices to the host */
} wk_transfer_counters;
/* Since the start of the process, over all devices. WK_OK, or WK_ERR_ARGUMENT if the size is not set. */
WK_API wk_code wk_transfer_stats_at(wk_site site, wk_transfer_counters *counters);

/* ---- a flush that came out wrong --------------------------------------------------------------------------------- */

/* With WICK_CHECK=1 everything is computed twice: call by call, and as planned; but not what writes memory that is lent
 * to two tensors. When the two differ, the value fails with WK_ERR_INTERNAL, and the work goes into a file,
 * wick-check-PID-N.flush in the folder WICK_CHECK_DIR. wk_replay runs such a file in all ways in which the library can
 * run work, each compared with the calls one by one, and gives `print` what they become, a line (or several, for a
 * program) at a time. What was on a device that is not here runs on the CPU.
 *
 *     wk_replay("wick-check-4711-1.flush", print_line, NULL);
 *
 * WK_OK when all ways agree; WK_ERR_INTERNAL when they differ; WK_ERR_FORMAT, WK_ERR_IO for a file that is none.
 * Other threads run their work as ever meanwhile, but with the numbers of threads that it tries, and `print`
 * hears of their programs, too. */
WK_API wk_code wk_replay_at(wk_site site, const char *path, wk_log_callback *print, void *user);

/* ---- the environment --------------------------------------------------------------------------------------------- */

/* A variable that the library reads, when it first needs it. While one is set to what it does not take, no device is
 * opened: calls that need one fail with WK_ERR_ARGUMENT, name the variable and say what it takes. The texts live for
 * ever, but for the value: until it is changed. */
typedef struct wk_setting {
    size_t size;          /* sizeof(wk_setting), set by the caller */
    const char *name;     /* "WICK_THREADS" */
    const char *doc;      /* what it is for, one line */
    const char *expected; /* "a number from 1 to 1024" */
    const char *value;    /* as the environment has it now; NULL when it is not set */
    int32_t off;          /* not 0: what it is set to switches it off */
    int32_t
        invalid; /* not 0: its value is not what it takes (whether this CPU knows those of WICK_CPU, wick doctor tells) */
} wk_setting;

/* How many there are. */
WK_RESULT_API int wk_setting_count(void);
/* The i-th into *info, whose size must be set. WK_OK, or WK_ERR_ARGUMENT for an index out of range. */
WK_API wk_code wk_setting_info_at(wk_site site, int index, wk_setting *info);

#define wk_set_log(...)             wk_set_log_at(WK_HERE, __VA_ARGS__)
#define wk_set_sync_debug_mode(...) wk_set_sync_debug_mode_at(WK_HERE, __VA_ARGS__)
#define wk_replay(...)              wk_replay_at(WK_HERE, __VA_ARGS__)
#define wk_transfer_stats(...)      wk_transfer_stats_at(WK_HERE, __VA_ARGS__)
#define wk_setting_info(...)        wk_setting_info_at(WK_HERE, __VA_ARGS__)

#ifdef __cplusplus
}
#endif
#endif
