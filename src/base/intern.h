/* SPDX-License-Identifier: Apache-2.0 */
/* Texts that live as long as the process. The name of an op and the file of a call site are literals of the program and
 * its library, so failures, the log and whatever a device reports late point at them without a thought. Names that come
 * from somewhere else, such as a file, are kept here first. */
#ifndef WICK_BASE_NAMES_H
#define WICK_BASE_NAMES_H

/* The one copy of this text; NULL when memory is short, and of NULL. */
const char *wk__intern(const char *text);

#endif
