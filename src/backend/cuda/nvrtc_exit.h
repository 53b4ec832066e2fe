/* SPDX-License-Identifier: Apache-2.0 */
/* Prevents exit() from tearing down NVRTC while threads compile.
 *
 * NVRTC registers atexit handlers when it is loaded, and more during the first compilation. Handlers run in reverse
 * order of registration, so ours is registered after each of these; it waits for running compilations and blocks new
 * ones:
 *
 *   loaded                          first compilation                   later
 *   -----------------------------   ---------------------------------   ----------------------
 *   NVRTC's handlers; our handler   more handlers; our handler again    all are in place
 *
 * exit() during the first compilation would run NVRTC's new handlers before ours. But before all handlers, exit() runs
 * the destructors of the calling thread; each thread that has used a CUDA device has one that waits for the first
 * compilation. Not covered: exit() from a thread that never used CUDA, or called before the first compilation began. */
#ifndef WICK_BACKEND_CUDA_NVRTC_EXIT_H
#define WICK_BACKEND_CUDA_NVRTC_EXIT_H

#include <stdbool.h>

/* Registers our handler; called once, after NVRTC was loaded. */
void wk__nvrtc_install_exit_guard(void);
/* Registers a destructor of this thread that waits for the first compilation; called after NVRTC was loaded. */
void wk__nvrtc_guard_thread(void);
/* Called around each use of NVRTC, by a guarded thread. wk__nvrtc_enter() returns false if this thread is ending the
 * process and NVRTC has been torn down; then wk__nvrtc_leave() must not be called. */
bool wk__nvrtc_enter(void);
void wk__nvrtc_leave(void);

#endif
