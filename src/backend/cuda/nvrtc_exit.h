/* SPDX-License-Identifier: Apache-2.0 */
/* Who is in NVRTC when the process ends. At exit its handlers take it apart, while threads of the program may still be
 * in it: so the end waits for them, and whoever comes later waits for the end. What is registered last runs first, and
 * NVRTC registers handlers when it is loaded, and more in the midst of the first compilation:
 *
 *   loaded                   the first compilation                      later
 *   ----------------------   ----------------------------------------   ----------------------
 *   its handlers; our wait   more of its handlers; our wait once more   all waits are in place
 *
 * Who ends the process during the first compilation would run its handlers before either wait. But before all handlers
 * exit() runs the destructors of the thread that calls it, and each thread that has used a device of CUDA has one that
 * waits, too. Open is the end by a thread that has used none, or which called exit() before the first compilation
 * began. */
#ifndef WICK_BACKEND_CUDA_COMPILING_H
#define WICK_BACKEND_CUDA_COMPILING_H

#include <stdbool.h>

/* NVRTC is there now. Once. */
void wk__nvrtc_install_exit_guard(void);
/* Should this thread end the process, it waits for the first compilation. NVRTC is loaded. */
void wk__nvrtc_guard_thread(void);
/* Around each use of it, by a thread that is watched. False: the process ends in this thread, and NVRTC is taken apart;
 * nothing was entered. */
bool wk__nvrtc_enter(void);
void wk__nvrtc_leave(void);

#endif
