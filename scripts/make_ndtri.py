#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes src/ir/ndtri.inc: polynomials for the inverse of the normal distribution function (needs mpmath).

    python3 scripts/make_ndtri.py > src/ir/ndtri.inc

G(p) = -Phi^-1(p) for a probability p in (0, 1/2). Each octave [2^-k, 2^(1-k)) of p is cut in four segments of equal
width, the smallest p first. Within a segment, t = (upper border - p) / width runs from 0 to 1 and

    G(p) = c0 + t (c1 + t (c2 + ...))

All coefficients are positive but for specks in the last segment, so Horner's scheme loses nothing. There c0 = 0, so the
relative error stays small where G goes to zero. The polynomials interpolate at Chebyshev points (in the last segment,
G / t is interpolated).
"""
from functools import reduce

from mpmath import cos, erfc, erfinv, exp, log, lu_solve, matrix, mp, mpf, pi, sqrt, workprec

SEGMENTS = 4


def quantile(p):
    """-Phi^-1(p), correct to all digits of the working precision: erfinv, polished by Newton steps on log erfc."""
    if p == mpf(1) / 2:
        return mpf(0)
    if p > mpf(1) / 8:
        return sqrt(mpf(2)) * erfinv(1 - 2 * p)
    x = sqrt(-log(p))
    for _ in range(12):
        tail = erfc(x)
        step = tail * log(tail / (2 * p)) / (2 * exp(-x * x) / sqrt(pi))
        x += step
        if abs(step) < mpf(2) ** (-mp.prec + 20):
            break
    return sqrt(mpf(2)) * x


def coefficients(low, high, degree):
    """Of the polynomial in t for p in [low, high)."""
    first = 1 if high == mpf(1) / 2 else 0
    count = degree + 1 - first
    points = [(1 - cos(pi * (2 * i + 1) / (2 * count))) / 2 for i in range(count)]
    values = [quantile(high - (high - low) * t) / t**first for t in points]
    solved = lu_solve(matrix([[t**k for k in range(count)] for t in points]), matrix(values))
    return [mpf(0)] * first + list(solved)


def table(bits, degree):
    """Rows of coefficients for the segments of p = (m + 1/2) / 2^bits, m < 2^(bits - 1)."""
    rows = []
    for octave in range(bits):
        low = mpf(2) ** (octave - bits - 1)
        for part in range(SEGMENTS):
            rows.append(coefficients(low * (1 + mpf(part) / SEGMENTS), low * (1 + mpf(part + 1) / SEGMENTS), degree))
    assert all(c > 0 for row in rows[:-1] for c in row)
    return rows


def rounded(rows, precision):
    """The coefficients with `precision` bits, such that the result never rises from one segment to the next: at its
    lower end (t = 1, where fma(v, t, c) is a rounded sum) a segment may not exceed c0 of the one before."""
    with workprec(precision):
        rows = [[+c for c in row] for row in rows]
        for before, row in zip(rows, rows[1:]):
            while reduce(lambda value, c: value + c, reversed(row)) > before[0]:
                row[1] -= row[1] * mpf(2) ** (-precision)
    return rows


def write(name, type_name, bits, degree, precision, spell, a_line):
    rows = rounded(table(bits, degree), precision)
    print(f"\nconst {type_name} {name}[{degree + 1}][{bits * SEGMENTS}] = {{")
    for k in range(degree + 1):
        numbers = [spell(float(row[k])) for row in rows]
        print("    {")
        for i in range(0, len(numbers), a_line):
            print("        " + ", ".join(numbers[i : i + a_line]) + ",")
        print("    },")
    print("};")


def decimal(value, digits):
    text = f"{value:.{digits}g}"
    return text if "." in text or "e" in text else text + ".0"


mp.prec = 240
print("/* Made by scripts/make_ndtri.py, which says what the numbers are: coefficient k of segment s is [k][s]. */")
write("wk__ndtri32_table", "float", 32, 5, 24, lambda value: decimal(value, 9) + "f", 6)
write("wk__ndtri64_table", "double", 64, 10, 53, lambda value: decimal(value, 17), 4)
