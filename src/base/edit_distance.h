/* SPDX-License-Identifier: Apache-2.0 */
/* Edit distance between names, to suggest the intended one for a misspelling. */
#ifndef WICK_BASE_EDIT_DISTANCE_H
#define WICK_BASE_EDIT_DISTANCE_H

#include <ctype.h>
#include <string.h>

/* Returns the Levenshtein distance between the first `length` characters of `a` and the name `b`, ignoring case;
 * MAX_LENGTH if either is longer than that. */
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
