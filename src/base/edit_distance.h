/* SPDX-License-Identifier: Apache-2.0 */
/* How far one name is from another: what was meant where a name is misspelt. */
#ifndef WICK_BASE_SPELLING_H
#define WICK_BASE_SPELLING_H

#include <ctype.h>
#include <string.h>

/* How many letters must be changed, put in or left out to make the name `b` of the first `length` letters of `a`; upper
 * and lower case are alike. */
static inline int wk__edit_distance(const char *a, size_t length, const char *b)
{
    enum { MAX_LENGTH = 32 };
    int row[MAX_LENGTH + 1];
    const int width = (int)strlen(b);
    if (length > MAX_LENGTH || width > MAX_LENGTH) return MAX_LENGTH;
    for (int k = 0; k <= width; k++) row[k] = k;
    for (size_t i = 0; i < length; i++) {
        int diagonal = row[0]++;
        for (int k = 1; k <= width; k++) {
            const int other = diagonal + (tolower((unsigned char)a[i]) != tolower((unsigned char)b[k - 1]));
            diagonal = row[k];
            row[k] = 1 + (row[k] < row[k - 1] ? row[k] : row[k - 1]);
            if (other < row[k]) row[k] = other;
        }
    }
    return row[width];
}

#endif
