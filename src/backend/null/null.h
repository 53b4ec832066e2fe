/* SPDX-License-Identifier: Apache-2.0 */
/* Null backend, for tests: it computes nothing, logs all commands, validates them as far as possible (programs, and
 * that every operand stays within its memory), and fails on request. Its memory has sizes but no addresses, and reads
 * as zeros. Tests open it by kind WK_NULL. All functions here are thread-safe. */
#ifndef WICK_BACKEND_NULL_H
#define WICK_BACKEND_NULL_H

#include "backend/backend.h"

extern const wk__backend wk__null_backend;

/* ---- log of all commands of all null devices, in order ----------------------------------------------------------- */

/* A command is the family of a work, or one of these. */
enum { WK__NULL_UPLOAD = WK__WORK_FAMILIES, WK__NULL_COPY, WK__NULL_DOWNLOAD, WK__NULL_SYNC, WK__NULL_COMMANDS };

/* Commands kept since wk__null_log_clear(); all are counted. */
enum { WK__NULL_KEPT = 4096 };

/* Return the number of commands of one kind, and of all families of work. */
int64_t wk__null_log_count(int command);
int64_t wk__null_log_work_count(void);
/* Returns the kept commands as text: "upload 24 bytes", "run" followed by the program, and so on. The caller frees it
 * with wk__free(); NULL on allocation failure. */
char *wk__null_log_text(void);
/* Returns a copy of the i-th work of that family with copies of its memory structs; equal block and offset denote the
 * same address. NULL past the last one kept. Valid until wk__null_log_clear(). */
const wk__work *wk__null_log_work_at(int family, int64_t i);
/* Returns the i-th program. */
const wk__program *wk__null_log_program_at(int64_t i);
void wk__null_log_clear(void);

/* ---- faults -------------------------------------------------------------------------------------------------- */

/* Fails the n-th block allocation (1: the next) and all later ones with WK_ERR_MEMORY, like a full device; 0: none. */
void wk__null_fail_alloc(int64_t n);
/* Fails the n-th submit once, with WK_ERR_DEVICE; 0: none. */
void wk__null_fail_submit(int64_t n);
/* Lets the next sync or download of any device report a bad index in the program with that tag. */
void wk__null_fault_index(int64_t tag, int64_t index, int64_t bound);
/* Lets the n-th work find a bad index: like wk__null_fault_index() with its own tag, after it was enqueued; 0: none. */
void wk__null_fault_submit(int64_t n, int64_t index, int64_t bound);
/* Loses the device: every call for it returns WK_ERR_DEVICE_LOST. */
void wk__null_lose_device(int index);
/* Sets whether contractions support fused prologues, of any size; off by default. */
void wk__null_set_prologues(bool takes);
/* Resets all of these. */
void wk__null_clear_faults(void);

/* ---- devices ----------------------------------------------------------------------------------------------------- */

enum { WK__NULL_MOST_DEVICES = 80 /* more than a process can open */ };

/* Set the number of devices (default 1) and the bytes of memory of each (default 16 GiB). */
void wk__null_set_count(int count);
void wk__null_set_memory(int64_t bytes);

#endif
