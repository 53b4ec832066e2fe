/* SPDX-License-Identifier: Apache-2.0 */
/* Device code in C files: TEXT turns the code between its brackets into a string. Nothing in it is expanded, comments
 * go away, and all becomes one line, so directives stand in strings beside it. A piece stays below the 4095 characters
 * that C compilers have to take in one string.
 *
 * Kernels of one program stand in one text. A macro that all define alike stays defined; one that a kernel defines in
 * its own way, or whose name is a common word, is undefined at that kernel's end. */
#ifndef WICK_BACKEND_GPU_TEXT_H
#define WICK_BACKEND_GPU_TEXT_H

#define DEVICE_CODE(...) #__VA_ARGS__ "\n"

#endif
