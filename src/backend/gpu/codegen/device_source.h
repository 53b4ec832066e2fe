/* SPDX-License-Identifier: Apache-2.0 */
/* Device code in C files: DEVICE_CODE turns its argument into a string. The preprocessor removes comments, joins lines
 * and expands nothing, so directives must be separate strings. Strings must be shorter than 4095 characters, the limit
 * that C compilers guarantee.
 *
 * Several kernels may be in one source. Macros that all of them define identically remain defined; those that a kernel
 * defines differently, or that have common names, are undefined at its end. */
#ifndef WICK_BACKEND_GPU_CODEGEN_DEVICE_SOURCE_H
#define WICK_BACKEND_GPU_CODEGEN_DEVICE_SOURCE_H

#define DEVICE_CODE(...) #__VA_ARGS__ "\n"

#endif
