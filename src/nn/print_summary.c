/* SPDX-License-Identifier: Apache-2.0 */
/* wk_summary: the rows of wk_summary_rows as a table. */
#include "base/alloc.h"
#include "module.h"
#include "tensor/call_scope.h"
#include <stdio.h>
#include <string.h>

enum { COLUMNS = 5, NAME_COLUMNS = 2 /* aligned to the left; the others are numbers */ };

/* The cells of a line, each ended by a terminator. */
typedef struct line {
    wk__text cells;
    int64_t begin[COLUMNS];
} line;

/* Appends a number in groups of three digits: "61,706". */
static void add_number(wk__text *text, int64_t number)
{
    char digits[24];
    const int length = snprintf(digits, sizeof digits, "%lld", (long long)number);
    for (int k = 0; k < length; k++) {
        if (k > 0 && (length - k) % 3 == 0) wk__text_add(text, ",");
        wk__text_add_n(text, &digits[k], 1);
    }
}

static void add_bytes(wk__text *text, int64_t bytes)
{
    char room[WK__FORMAT_BYTES_SIZE];
    wk__text_add(text, wk__format_bytes(room, bytes));
}

static void end_cell(line *l, int column)
{
    wk__text_add_n(&l->cells, "", 1);
    if (column + 1 < COLUMNS) l->begin[column + 1] = l->cells.length;
}

static void fill_header(line *l)
{
    static const char *const title[COLUMNS] = {"Layer", "Output shape", "Parameters", "Multiply-adds", "Activations"};
    for (int c = 0; c < COLUMNS; c++) {
        wk__text_add(&l->cells, title[c]);
        end_cell(l, c);
    }
}

static void fill_row(line *l, const wk_summary_row *row)
{
    wk__text_repeat(&l->cells, ' ', 2 * (int64_t)row->depth);
    wk__text_format(&l->cells, *row->path ? "%s (%s)" : "%s%s", row->path, row->kind);
    end_cell(l, 0);
    if (row->ndim >= 0)
        wk__text_tuple(&l->cells, row->shape, row->ndim);
    else
        wk__text_add(&l->cells, "not called");
    end_cell(l, 1);
    add_number(&l->cells, row->parameters);
    end_cell(l, 2);
    add_number(&l->cells, row->multiply_adds);
    end_cell(l, 3);
    add_bytes(&l->cells, row->activation_bytes);
    end_cell(l, 4);
}

static void add_line(wk__text *text, const line *l, const int64_t *width)
{
    for (int c = 0; c < COLUMNS; c++) {
        const char *cell = l->cells.data + l->begin[c];
        const int64_t missing = width[c] - (int64_t)strlen(cell);
        if (c >= NAME_COLUMNS) wk__text_repeat(text, ' ', missing);
        wk__text_add(text, cell);
        if (c < NAME_COLUMNS) wk__text_repeat(text, ' ', missing);
        wk__text_add(text, c + 1 < COLUMNS ? "  " : "\n");
    }
}

static void add_totals(wk__text *text, const wk_summary_row *total)
{
    wk__text_add(text, "Parameters: ");
    add_number(text, total->parameters);
    wk__text_add(text, ", of which ");
    add_number(text, total->trainable);
    wk__text_add(text, " trainable\nMultiply-adds: ");
    add_number(text, total->multiply_adds);
    wk__text_add(text, "\nMemory: ");
    add_bytes(text, total->parameter_bytes);
    wk__text_add(text, " of parameters, ");
    add_bytes(text, total->activation_bytes);
    wk__text_add(text, " of activations\n");
}

/* Appends the table. Returns false on allocation failure. */
static bool add_table(wk__text *text, const wk_summary_row *const *rows)
{
    int64_t count = 0, width[COLUMNS] = {0}, total = 2 * (COLUMNS - 1);
    while (rows[count]) count++;
    line *lines = wk__alloc_zero((size_t)count + 1, sizeof *lines);
    bool fine = lines != NULL;
    for (int64_t k = 0; k <= count && fine; k++) {
        if (k == 0)
            fill_header(&lines[k]);
        else
            fill_row(&lines[k], rows[k - 1]);
        fine = !lines[k].cells.failed;
        for (int c = 0; c < COLUMNS && fine; c++) {
            const int64_t length = (int64_t)strlen(lines[k].cells.data + lines[k].begin[c]);
            width[c] = length > width[c] ? length : width[c];
        }
    }
    for (int c = 0; c < COLUMNS; c++) total += width[c];
    for (int64_t k = 0; k <= count && fine; k++) {
        add_line(text, &lines[k], width);
        if (k == 0 || k == count) {
            wk__text_repeat(text, '-', total);
            wk__text_add(text, "\n");
        }
    }
    for (int64_t k = 0; lines && k <= count; k++) wk__text_free(&lines[k].cells);
    wk__free(lines);
    if (fine) add_totals(text, rows[0]);
    wk__text_escape(text, 0);
    return fine && !text->failed;
}

wk_module *wk_summary_at(wk_site site, wk_module *m, const int64_t *shape, int ndim, const wk_summary_options *options)
{
    wk__call_scope c;
    wk__text text = {0};
    if (!wk__call_begin(&c, WK__FRAME_CALL, "summary", site, WK__GRAD_KEPT)) return NULL;
    const wk_summary_row *const *rows = wk__summary_rows(site, "summary", m, shape, ndim, options);
    const bool fine = rows && add_table(&text, rows);
    if (rows && !fine) wk__error_set(site, WK_ERR_MEMORY, "summary: out of host memory");
    if (fine) fputs(text.data, stdout);
    wk__text_free(&text);
    wk__call_end(&c, NULL, 0);
    return fine ? m : NULL;
}
