/* SPDX-License-Identifier: Apache-2.0 */
/* Structs that begin with their size: what a program that was compiled with another version of the headers
 * gives and gets. */
#ifndef WICK_BASE_OPTIONS_H
#define WICK_BASE_OPTIONS_H

#include <wick/core.h>

/* *own, a struct as this version knows it, from the one that the caller gave: what a shorter one lacks is 0.
 * WK_ERR_ARGUMENT when its size is less than `least`, or that of no struct; WK_ERR_UNSUPPORTED when a longer one has
 * other than 0 in what is not known. */
wk_code wk__sized_read(const void *given, size_t least, void *own, size_t size);

/* The same for options (NULL: all are 0), before a call looks at any of them. False with the error recorded. */
#define wk__options(site, op, given, own) wk__options_read(site, op, given, own, sizeof *(own))
bool wk__options_read(wk_site site, const char *op, const void *given, void *own, size_t size);

/* The other way: as much of *own as the caller's struct has room for, and 0 in what is left of it. WK_ERR_ARGUMENT,
 * recorded, when it has no size. */
#define wk__sized_store(site, op, type, given, own) wk__sized_write(site, op, #type, given, own, sizeof(type))
wk_code wk__sized_write(wk_site site, const char *op, const char *type, void *given, const void *own, size_t size);

/* Has the caller set the size of a struct that it is? */
bool wk__sized_is_valid(const void *given);

/* A number among options: 0 is `usual`, WK_EXPLICIT_ZERO is 0. */
static inline double wk__option_or(double given, double usual)
{
    return given == 0 ? usual : given > -1e-290 && given < 1e-290 ? 0 : given;
}

#endif
