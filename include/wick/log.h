/* SPDX-License-Identifier: Apache-2.0 */
/* wick/log.h: logging of placement and waits, checked execution, environment variables. */
#ifndef WICK_LOG_H
#define WICK_LOG_H

#if !defined __cplusplus && !defined __clang__
#pragma GCC system_header /* see macros.h */
#endif

#include "core.h"

#ifdef __cplusplus
extern "C" {
#endif

/* wk_set_log(subjects, callback, user): Passes log lines about the subjects, separated by commas, to callback(user,
 * line); NULL or "" disables the log. Unless the program sets a callback, WICK_LOG=subjects in the environment
 * writes the lines to the file WICK_LOG_FILE, or to stderr. The callback must not call the library, as lines may
 * come during its work.
 *
 *     placement   which ops ran where, in which order, and the copies of soft placement; once per call site, and all at
 *                 the end of the file
 *     sync        where the host waits for a device other than the CPU; once per call site
 *     kernel      the program of a fused pass, an instruction per line, once per call site; the source given to the
 *                 device's compiler, and its time
 *     check       with WICK_CHECK=1: what was not computed a second time, and why
 *     parallel    of each mirrored network, once: its devices, the path of copies, the parts of a step
 *     leaks       objects that were retained, or created outside a scope, and not freed at the end of the process, by
 *                 kind and call site; by WICK_LOG=leaks only
 *
 * Returns:   WK_OK or an error code
 * Errors:    WK_ERR_ARGUMENT if a subject is unknown; the log does not change */
typedef void wk_log_callback(void *user, const char *line);
WK_API wk_code wk_set_log_at(wk_site site, const char *subjects, wk_log_callback *callback, void *user);

/* ---- placement: strict by default -------------------------------------------------------------------------------- */

/* wk_set_soft_placement(on): If on, operands on different devices are copied to the accelerator among them, as in
 * TensorFlow, and counted. Default off: WK_ERR_DEVICE. Returns WK_OK. */
WK_API wk_code wk_set_soft_placement(bool on);
/* wk_placement_counters(copies, bytes): Returns the number of copies made by soft placement and their bytes; either
 * pointer may be NULL. */
WK_API void wk_placement_counters(int64_t *copies, int64_t *bytes);

/* ---- waiting for devices ----------------------------------------------------------------------------------------- */

/* The effect of a wait of the host for an accelerator: by wk_item, printing, reading, copies to the host. */
typedef enum wk_sync_mode {
    WK_SYNC_QUIET, /* count it */
    WK_SYNC_LOG,   /* default: log it under the subject "sync", once per call site */
    WK_SYNC_ERROR  /* record an error with file:line, to find what stalls a training loop; the call completes */
} wk_sync_mode;
/* wk_set_sync_debug_mode(mode): Sets the effect of a wait.
 * Returns:   WK_OK or an error code
 * Errors:    WK_ERR_ARGUMENT if mode is unknown; the mode does not change
 * PyTorch:   torch.cuda.set_sync_debug_mode */
WK_API wk_code wk_set_sync_debug_mode_at(wk_site site, wk_sync_mode mode);

typedef struct wk_transfer_counters {
    size_t size;       /* sizeof(wk_transfer_counters), set by the caller */
    int64_t waits;     /* number of waits for a device other than the CPU */
    int64_t uploads;   /* bytes from the host to devices */
    int64_t downloads; /* bytes from devices to the host */
} wk_transfer_counters;
/* wk_transfer_stats(counters): Fills *counters, whose size the caller sets, with the totals since the start of the
 * process over all devices.
 * Returns:   WK_OK or an error code
 * Errors:    WK_ERR_ARGUMENT if the size is not set */
WK_API wk_code wk_transfer_stats_at(wk_site site, wk_transfer_counters *counters);

/* ---- checked execution ------------------------------------------------------------------------------------------- */

/* wk_replay(path, print, user): Runs a recorded flush in every way in which the library can run it, compares each
 * with the calls one by one, and passes what the calls become to print, in one or several lines per call.
 *
 * With WICK_CHECK=1 everything is computed twice, call by call and as planned, except what writes memory lent to
 * two tensors. If the results differ, the value fails with WK_ERR_INTERNAL, and the flush is written to
 * wick-check-PID-N.flush in the folder WICK_CHECK_DIR. Work of a device that does not exist here runs on the CPU.
 * Meanwhile other threads run with the thread counts under test, and print gets their programs too.
 * Returns:   WK_OK if all ways agree, else an error code
 * Errors:    WK_ERR_INTERNAL if they differ; WK_ERR_FORMAT or WK_ERR_IO if the file is invalid or cannot be read
 * Example:   wk_replay("wick-check-4711-1.flush", print_line, NULL); */
WK_API wk_code wk_replay_at(wk_site site, const char *path, wk_log_callback *print, void *user);

/* ---- the environment --------------------------------------------------------------------------------------------- */

/* An environment variable that the library reads when it first needs it. While one has an invalid value no device
 * can be opened: calls that need one are WK_ERR_ARGUMENT and name the variable and what it expects. The strings are
 * static, value until the variable changes. */
typedef struct wk_setting {
    size_t size;          /* sizeof(wk_setting), set by the caller */
    const char *name;     /* "WICK_THREADS" */
    const char *doc;      /* purpose, one line */
    const char *expected; /* "a number from 1 to 1024" */
    const char *value;    /* current value; NULL if not set */
    int32_t off;          /* nonzero if the value disables it */
    int32_t invalid;      /* nonzero if the value is invalid; whether the CPU has WICK_CPU is reported by wick doctor */
} wk_setting;

/* wk_setting_count(): Returns the number of variables. */
WK_RESULT_API int wk_setting_count(void);
/* wk_setting_info(index, info): Fills *info, whose size the caller sets, with variable index.
 * Returns:   WK_OK or an error code
 * Errors:    WK_ERR_ARGUMENT if index is out of range */
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
