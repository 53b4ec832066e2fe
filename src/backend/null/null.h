/* SPDX-License-Identifier: Apache-2.0 */
/* A device that computes nothing. It writes down what it was told to do, checks each order as far as it can be checked
 * (programs, and that every operand stays within its memory), and fails when a test says so. Its memory has sizes and
 * no addresses, and reads as zeros. Tests ask for it by the kind WK_NULL; all functions here may be called at any time.
 */
#ifndef WICK_BACKEND_NULL_H
#define WICK_BACKEND_NULL_H

#include "backend/backend.h"

extern const wk__backend wk__null_backend;

/* ---- the plan: what all null devices were told, in order ----------------------------------------------------- */

/* An order is work, by its family, or one of these. */
enum { WK__NULL_UPLOAD = WK__WORK_FAMILIES, WK__NULL_COPY, WK__NULL_DOWNLOAD, WK__NULL_SYNC, WK__NULL_COMMANDS };

/* Of the orders since wk__null_log_clear this many are kept; all are counted. */
enum { WK__NULL_KEPT = 4096 };

/* How many orders of one kind there were; how many were work. */
int64_t wk__null_log_count(int order);
int64_t wk__null_log_work_count(void);
/* The kept orders, one after another: "upload 24 bytes", "run" with the program below it, and so on. The caller frees
 * it with wk__free; NULL when memory is short. */
char *wk__null_log_text(void);
/* A copy of the i-th work of that family, with copies of its memory structs: equal block and offset mean the same
 * place. NULL past the last that is kept. It lives until wk__null_log_clear. */
const wk__work *wk__null_log_work_at(int family, int64_t i);
/* The group of the i-th program. */
const wk__program *wk__null_log_program_at(int64_t i);
void wk__null_log_clear(void);

/* ---- faults -------------------------------------------------------------------------------------------------- */

/* The n-th block (1 = the next) and all after it are refused, as by a device that is full: WK_ERR_MEMORY. 0: none. */
void wk__null_fail_alloc(int64_t n);
/* The n-th work is refused, once: WK_ERR_DEVICE. 0: none. */
void wk__null_fail_submit(int64_t n);
/* The next sync or download of any device reports a bad index in the group with that tag. */
void wk__null_fault_index(int64_t tag, int64_t index, int64_t bound);
/* The n-th work finds a bad index: as above, with its own tag, once it was enqueued. 0: none. */
void wk__null_fault_submit(int64_t n, int64_t index, int64_t bound);
/* The device is lost: every call for it returns WK_ERR_DEVICE_LOST. */
void wk__null_lose_device(int index);
/* From now on contractions may compute a factor on the way, however small; at first they may not. */
void wk__null_set_prologues(bool takes);
/* Takes all of these back. */
void wk__null_clear_faults(void);

/* ---- the machine --------------------------------------------------------------------------------------------- */

enum { WK__NULL_MOST_DEVICES = 16 };

/* Number of devices (1 at first) and bytes that each has (16 GB at first). */
void wk__null_set_count(int count);
void wk__null_set_memory(int64_t bytes);

#endif
