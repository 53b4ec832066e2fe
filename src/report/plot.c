/* SPDX-License-Identifier: Apache-2.0 */
/* wk_plot: collects lines, whose points it copies, and writes them as an SVG file. */
#include "plot.h"
#include "base/alloc.h"
#include "base/options.h"
#include "base/platform/file.h"
#include "data/metric_history.h"
#include "io/save_load.h"
#include "tensor/call_scope.h"
#include <math.h>
#include <string.h>
#include <wick/creation.h>
#include <wick/plot.h>

struct wk_plot {
    wk__handle handle;
};

static void free_line(wk__plot_line *line)
{
    wk__free(line->label);
    wk__free(line->x);
    wk__free(line->y);
}

static void destroy(void *body)
{
    wk__plot *p = body;
    for (int64_t n = 0; n < p->lines; n++) free_line(&p->line[n]);
    wk__free(p->line);
    wk__free(p->title);
    wk__free(p->x_label);
    wk__free(p->y_label);
    wk__free(p);
}

static const wk__handle_type plot_type = {.name = "plot", .destroy = destroy};

/* ---- creation ---------------------------------------------------------------------------------------------------- */

static bool check_size(wk_site site, const char *name, int64_t size)
{
    if (size == 0 || (size >= 50 && size <= 10000)) return true;
    wk__error_set(site, WK_ERR_ARGUMENT, "plot_new: .%s must be in [50, 10000], got %lld", name, (long long)size);
    return false;
}

/* Copies text if there is one. Returns false if memory is exhausted. */
static bool copy_text(char **to, const char *text)
{
    *to = text ? wk__strdup(text) : NULL;
    return *to || !text;
}

wk_plot *wk_plot_new_at(wk_site site, const wk_plot_options *options)
{
    wk_plot_options o;
    if (!wk__options(site, "plot_new", options, &o) || !check_size(site, "width", o.width) ||
        !check_size(site, "height", o.height))
        return NULL;
    wk__plot *p = wk__alloc_zero(1, sizeof *p);
    bool whole = false;
    if (p) {
        p->log_y = o.log_y;
        p->width = o.width ? (int)o.width : 480;
        p->height = o.height ? (int)o.height : 300;
        whole = copy_text(&p->title, o.title) && copy_text(&p->x_label, o.x_label) && copy_text(&p->y_label, o.y_label);
    }
    return wk__handle_wrap(site, &plot_type, p, whole, "plot_new");
}

/* ---- lines ------------------------------------------------------------------------------------------------------- */

static wk__plot *body_of(const wk_plot *handle, wk_site site, const char *op)
{
    return wk__handle_check(handle, &plot_type, site, op, "the plot") ? wk__handle_body(handle) : NULL;
}

/* Appends a line; on failure frees it and records "op: out of host memory". */
static wk_code append(wk_site site, const char *op, wk__plot *p, wk__plot_line *line, bool whole)
{
    if (whole && wk__grow(&p->line, &p->capacity, p->lines + 1, sizeof *p->line)) {
        p->line[p->lines++] = *line;
        return WK_OK;
    }
    free_line(line);
    wk__error_set(site, WK_ERR_MEMORY, "%s: out of host memory", op);
    return WK_ERR_MEMORY;
}

/* Copies values if there are any. Returns false if memory is exhausted. */
static bool copy_values(double **to, const double *values, int64_t count)
{
    if (!values || count == 0) return true;
    *to = wk__realloc(NULL, (size_t)count, sizeof **to);
    if (*to) memcpy(*to, values, (size_t)count * sizeof **to);
    return *to != NULL;
}

wk_code wk_plot_line_at(wk_site site, wk_plot *plot, const char *label, const double *x, const double *y, int64_t count)
{
    static const char op[] = "plot_line";
    wk__plot *p = body_of(plot, site, op);
    if (!p || !wk__array_check(y, count, site, op, "y")) return wk_error_code();
    wk__plot_line line = {.step = 1, .count = count};
    const bool whole =
        copy_text(&line.label, label) && copy_values(&line.x, x, count) && copy_values(&line.y, y, count);
    return append(site, op, p, &line, whole);
}

static bool is_finite(wk_site site, const char *name, double value)
{
    if (isfinite(value)) return true;
    wk__error_set(site, WK_ERR_ARGUMENT, "plot_history: .%s must be finite, got %g", name, value);
    return false;
}

wk_code wk_plot_history_at(wk_site site, wk_plot *plot, const char *label, wk_history *history,
                           const wk_plot_history_options *options)
{
    static const char op[] = "plot_history";
    wk_plot_history_options o;
    wk__plot *p = body_of(plot, site, op);
    if (!p || !wk__options(site, op, options, &o)) return wk_error_code();
    wk__plot_line line = {.first = wk__option_or(o.first, 0), .step = wk__option_or(o.step, 1)};
    if (!is_finite(site, "first", line.first) || !is_finite(site, "step", line.step)) return wk_error_code();
    const double *values;
    if (!wk__metric_history_read(site, op, history, &values, &line.count)) return wk_error_code();
    const bool whole = copy_text(&line.label, label) && copy_values(&line.y, values, line.count);
    return append(site, op, p, &line, whole);
}

/* Reads the elements of a tensor of one dimension to new memory of the line. False after recording an error. */
static bool read_elements(wk_site site, const char *op, const char *role, wk_tensor *x, double **values, int64_t *count)
{
    if (!wk__check_tensor(x, site, op, role)) return false;
    if (wk_ndim(x) != 1) {
        return wk__tensor_refuse(site, WK_ERR_SHAPE, x, "; wk_flatten it first", "%s: expected %s with one dimension",
                                 op, role);
    }
    *count = wk_numel(x);
    *values = wk__realloc(NULL, (size_t)*count + 1, sizeof **values);
    if (!*values) wk__error_set(site, WK_ERR_MEMORY, "%s: out of host memory", op);
    wk_tensor *wide = *values ? wk_to_dtype_at(site, x, WK_F64) : NULL;
    return wide && wk_read_at(site, wide, *values, (size_t)*count * sizeof **values) == WK_OK;
}

/* Reads the points of a line from tensors; x may be NULL. False after recording an error. */
static bool read_points(wk_site site, const char *op, wk_tensor *x, wk_tensor *y, wk__plot_line *line)
{
    int64_t of_x;
    if (!read_elements(site, op, "y", y, &line->y, &line->count)) return false;
    if (!x) return true;
    if (!read_elements(site, op, "x", x, &line->x, &of_x)) return false;
    if (of_x == line->count) return true;
    wk__error_set(site, WK_ERR_SHAPE, "%s: x has %lld elements, y has %lld", op, (long long)of_x,
                  (long long)line->count);
    return false;
}

wk_code wk_plot_tensor_at(wk_site site, wk_plot *plot, const char *label, wk_tensor *x, wk_tensor *y)
{
    static const char op[] = "plot_tensor";
    wk__plot *p = body_of(plot, site, op);
    wk__plot_line line = {.step = 1};
    wk__call_scope c;
    if (!p || (!x && wk__error_pending()) || !wk__call_begin(&c, WK__FRAME_CALL, op, site, WK__GRAD_OFF))
        return wk_error_code();
    wk_code code = WK_OK;
    if (read_points(site, op, x, y, &line)) {
        code = append(site, op, p, &line, copy_text(&line.label, label));
    } else {
        free_line(&line); /* before the error is delivered, as its handler may leave by longjmp */
        code = wk_error_code();
    }
    wk__call_end(&c, NULL, 0);
    return code;
}

/* ---- saving ------------------------------------------------------------------------------------------------------ */

wk_code wk_plot_save_at(wk_site site, wk_plot *plot, const char *path)
{
    static const char op[] = "plot_save";
    const wk__plot *p = body_of(plot, site, op);
    if (!p || wk__error_pending() || !wk__check_path(site, op, path)) return wk_error_code();
    wk__text text = {0};
    wk__io_error error;
    wk__plot_svg(p, &text);
    const wk_code code = text.failed ? wk__io_fail(&error, WK_ERR_MEMORY, "out of host memory")
                                     : wk__atomic_file_save(path, text.data, text.length, &error);
    wk__text_free(&text);
    if (code != WK_OK) wk__error_set(site, code, "%s: %s", op, error.text);
    return code;
}
