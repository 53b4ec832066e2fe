/* SPDX-License-Identifier: Apache-2.0 */
/* Structs that begin with their size, for compatibility between the headers user code was compiled with and this
 * version of the library. Members may be appended in later versions; 0 means "not set". */
#ifndef WICK_BASE_OPTIONS_H
#define WICK_BASE_OPTIONS_H

#include <wick/core.h>

/* Copies a caller's struct to *own, the struct of this version; missing members are 0. Returns WK_ERR_ARGUMENT if its
 * size is below `least` or implausible, WK_ERR_UNSUPPORTED if a longer struct sets members that this version lacks. */
wk_code wk__sized_read(const void *given, size_t least, void *own, size_t size);

/* Like wk__sized_read() for options; NULL means all defaults. Must precede any access to them. Returns false and
 * records the error if they are invalid. */
#define wk__options(site, op, given, own) wk__options_read(site, op, given, own, sizeof *(own))
bool wk__options_read(wk_site site, const char *op, const void *given, void *own, size_t size);

/* Copies *own to a caller's struct, truncated or zero-filled to its size. Records and returns WK_ERR_ARGUMENT if the
 * caller has not set that size. */
#define wk__sized_store(site, op, type, given, own) wk__sized_write(site, op, #type, given, own, sizeof(type))
wk_code wk__sized_write(wk_site site, const char *op, const char *type, void *given, const void *own, size_t size);

/* Returns true if the caller has set a plausible size. */
bool wk__sized_is_valid(const void *given);

/* Returns an option's value: `usual` if it is 0 (not set), 0 if it is WK_EXPLICIT_ZERO. */
static inline double wk__option_or(double given, double usual)
{
    return given == 0 ? usual : given > -1e-290 && given < 1e-290 ? 0 : given;
}

/* Checks an option that is one of `count` constants, which are numbered from `first` on; 0 (not set) becomes `first`.
 * Returns false and records the error, which lists their names, for anything else. */
bool wk__option_choice(wk_site site, const char *op, const char *option, const char *const names[], int count,
                       int first, int *value);
/* Returns the index of `given` among the words that an option accepts; 0 for NULL (not set). Returns -1 and records the
 * error, which lists the words, for anything else. */
int wk__option_word(wk_site site, const char *op, const char *option, const char *const words[], int count,
                    const char *given);

#endif
