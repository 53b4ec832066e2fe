/* SPDX-License-Identifier: Apache-2.0 */
/* PGM and PPM files that must be rejected, and unusual ones that must be accepted. */
#ifndef WICK_TESTS_HOSTILE_PNM_H
#define WICK_TESTS_HOSTILE_PNM_H

#include "file.h"

/* The first bytes of a file, and the number of zero bytes that follow. */
typedef struct pnm_case {
    const char *start;
    int64_t length;
    int64_t data;
    const char *word; /* in the error; NULL: must be accepted */
} pnm_case;

#define PNM(literal) literal, sizeof(literal) - 1

static const pnm_case pnm_cases[] = {
    /* ---- the header ---- */
    {PNM("P5"), 0, "truncated: the width is missing"},
    {PNM("P5 "), 0, "truncated: the width is missing"},
    {PNM("P5 # a comment without an end"), 0, "truncated: the width is missing"},
    {PNM("P5\n2"), 0, "truncated: the height is missing"},
    {PNM("P5\n2 2"), 0, "truncated: the largest sample is missing"},
    {PNM("P5\n2 2\n255"), 0, "truncated: the samples are missing"},
    {PNM("P52 2 255\n"), 4, "a white space is missing (byte 2)"},
    {PNM("P5\n2 2 255x"), 4, "a white space is missing (byte 10)"},
    {PNM("P5\n2 2 255#"), 4, "a white space is missing (byte 10)"},
    {PNM("P5\n-2 2 255\n"), 4, "the width is not a number (byte 3)"},
    {PNM("P5\n2,2 255\n"), 4, "the height is not a number (byte 4)"},
    {PNM("P5\n2 0x2 255\n"), 4, "the height is out of range"},
    {PNM("P5\n2 2 +255\n"), 4, "the largest sample is not a number"},
    {PNM("P5\n\0002 2 255\n"), 4, "the width is not a number"},
    {PNM("P5\n0 2 255\n"), 4, "the width is out of range; expected 1 to 2147483647 (byte 3)"},
    {PNM("P5\n2 0 255\n"), 4, "the height is out of range"},
    {PNM("P5\n2 2 0\n"), 4, "the largest sample is out of range; expected 1 to 65535"},
    {PNM("P5\n2 2 65536\n"), 8, "the largest sample is out of range"},
    {PNM("P5\n2147483648 2 255\n"), 4, "the width is out of range"},
    {PNM("P5\n18446744073709551618 2 255\n"), 4, "the width is out of range"}, /* 2 modulo 2^64 */
    {PNM("P5\n2 99999999999999999999999999999999 255\n"), 4, "the height is out of range"},

    /* ---- the samples ---- */
    {PNM("P5\n2 2 255\n"), 3, "truncated: an image of 2 x 2 pixels has more than the 3 bytes"},
    {PNM("P6\n2 2 255\n"), 11, "truncated"},
    {PNM("P5\n2 2 256\n"), 7, "truncated"},
    {PNM("P6\n1 1 65535\n"), 5, "truncated"},
    {PNM("P5\n2147483647 2147483647 255\n"), 100, "truncated"},
    {PNM("P6\n2147483647 2147483647 65535\n"), 100, "truncated"},
    {PNM("P6\n2147483647 1 65535\n"), 100, "truncated"},
    {PNM("P5\n268435457 1 255\n"), 268435457, "more than the limit of 268435456; reduce it first"},

    /* ---- unusual valid files ---- */
    {PNM("P5 1 1 1 "), 1, NULL},
    {PNM("P5\n# a comment\n2 2\n# another\n255\n"), 4, NULL},
    {PNM("P5#at once\n2#\n2 255\n"), 4, NULL},
    {PNM("P6\t\v\f\r\n1\r\n1\r\n255\n"), 3, NULL},
    {PNM("P5\n0000002 2 255\n"), 4, NULL},
    {PNM("P5\n2 2 255\n"), 5, NULL}, /* the next image follows */
    {PNM("P5\n2 2 300\n"), 8, NULL},
    {PNM("P6\n2 1 65535\n"), 12, NULL},
    {PNM("P5\n2 1 100\n\x64\xff"), 0, NULL}, /* a sample exceeds the largest */
};

enum { PNM_CASES = sizeof pnm_cases / sizeof *pnm_cases };

static inline bytes pnm_file(const pnm_case *from)
{
    bytes file = bytes_new(from->length + from->data);
    memcpy(file.data, from->start, (size_t)from->length);
    return file;
}

#endif
