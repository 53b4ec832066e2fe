/* SPDX-License-Identifier: Apache-2.0 */
/* Progress bars. A bar shows values without waiting for them, except in its last line:
 *
 *     step      --> latest, a reference to the newest value, which recorded work will compute
 *     update    --> if it has been computed: read from host memory at once, or downloaded by the reader's thread and
 *                   shown by a later update; if neither it nor the one before has, recorded work is submitted
 *
 * A bar keeps the newest value at each step, so that all steps record the same work. The last of `total` steps ends the
 * line, so that the next output of the program begins a new one. All functions except read_value() run on the thread
 * that uses the bar. */
#include "base/alloc.h"
#include "base/options.h"
#include "base/platform/clock.h"
#include "engine/device_sync.h"
#include "base/background_worker.h"
#include "tensor/call_scope.h"
#include <math.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <wick/autograd.h>
#include <wick/creation.h>
#include <wick/progress.h>
#include <wick/shape.h>

/* A value that the reader downloads; written before it starts and after it ends. */
typedef struct reading {
    wk__value *value; /* reference; NULL: none */
    int64_t offset;   /* bytes */
    wk_dtype dtype;
    double number; /* the result */
    bool failed;
} reading;

typedef struct progress {
    char *name, *label; /* owned; label is NULL before the first value */
    FILE *stream;
    bool terminal, disabled;
    bool ended;                     /* the last line is written; no steps have come since */
    int64_t total, initial, done;   /* steps; total 0: unknown */
    int64_t interval, begun, drawn; /* nanoseconds; the times of creation and of the last update */
    int64_t drawn_done;             /* steps at the last update */
    double rate;                    /* steps per second, smoothed; 0: unknown */
    wk_tensor *latest;              /* owned; NULL: none */
    double value;                   /* the newest number that has arrived, if has_value */
    bool has_value;
    wk__background_worker reader;
    reading read;
} progress;

struct wk_progress {
    wk__handle handle;
};

/* ---- values ------------------------------------------------------------------------------------------------------ */

static double number_at(const void *address, wk_dtype dtype)
{
    float narrow;
    double wide;
    memcpy(&wide, address, dtype == WK_F64 ? sizeof wide : 0);
    memcpy(&narrow, address, dtype == WK_F64 ? 0 : sizeof narrow);
    return dtype == WK_F64 ? wide : narrow;
}

/* Runs on the thread of the reader. A failure belongs to the work that computes the value and is reported to its
 * thread. */
static void read_value(void *user, int64_t which)
{
    (void)which;
    reading *r = &((progress *)user)->read;
    const int64_t size = (int64_t)wk_dtype_size(r->dtype);
    double bytes = 0;
    wk__fail fail = {.tag = -1};
    atomic_fetch_add(&r->value->device->downloads, size);
    const wk_code code = wk__value_download(r->value, r->offset, size, &bytes, NULL, (wk_site){0}, &fail);
    r->failed = code != WK_OK || r->value->state != WK__STORED;
    r->number = number_at(&bytes, r->dtype);
}

/* Takes the result of a reading that has ended. */
static void finish_reading(progress *p)
{
    if (!p->read.value || wk__background_worker_is_busy(&p->reader)) return;
    if (!p->read.failed) p->value = p->read.number, p->has_value = true;
    wk__value_drop(p->read.value);
    p->read.value = NULL;
}

/* Reads the value if it has been computed. Returns true if it has. */
static bool look_at(progress *p, const wk_tensor *x)
{
    if (!x) return false;
    const wk__body *body = wk__body_of(x);
    wk__value *value = body->storage->value;
    const int64_t offset = body->offset * (int64_t)wk_dtype_size(body->dtype);
    if (value->state != WK__STORED) return false;
    if (value->memory.host) {
        p->value = number_at(value->memory.host + offset, body->dtype);
        p->has_value = true;
    } else if (!p->read.value && !wk__forked) {
        wk__value_hold(value);
        p->read = (reading){.value = value, .offset = offset, .dtype = body->dtype};
        wk__background_worker_submit(&p->reader, 0);
    }
    return true;
}

/* Returns the element of x as f32 or f64, in a tensor that the bar owns; NULL on error. */
static wk_tensor *keep(wk_site site, wk_tensor *x)
{
    wk__call_scope c;
    if (!wk__call_begin(&c, WK__FRAME_CALL, "progress_step", site, WK__GRAD_OFF)) return NULL;
    wk_tensor *flat = wk_detach_at(site, x);
    if (flat && wk_dtype_of(flat) != WK_F32 && wk_dtype_of(flat) != WK_F64) flat = wk_to_dtype_at(site, flat, WK_F32);
    flat = wk__handle_adopt(flat);
    wk__call_end(&c, NULL, 0);
    return flat;
}

/* ---- drawing ----------------------------------------------------------------------------------------------------- */

static void add_time(wk__text *line, double seconds)
{
    const long long s = seconds > 0 && seconds < 1e9 ? (long long)(seconds + 0.5) : 0;
    if (s >= 3600)
        wk__text_format(line, "%lld:%02lld:%02lld", s / 3600, s / 60 % 60, s % 60);
    else
        wk__text_format(line, "%lld:%02lld", s / 60, s % 60);
}

static void add_count(const progress *p, wk__text *line, bool bar)
{
    enum { WIDTH = 20 };
    if (p->total == 0) {
        wk__text_format(line, "  %lld", (long long)p->done);
        return;
    }
    const double share = p->done < p->total ? (double)p->done / (double)p->total : 1;
    const int full = (int)(share * WIDTH);
    wk__text_format(line, " %3d%%  ", (int)(share * 100));
    if (bar) {
        wk__text_add(line, "[");
        wk__text_repeat(line, '#', full);
        wk__text_repeat(line, '-', WIDTH - full);
        wk__text_add(line, "]  ");
    }
    wk__text_format(line, "%lld/%lld", (long long)p->done, (long long)p->total);
}

/* Writes the current line without its end; if last, with elapsed instead of remaining time. */
static void add_line(const progress *p, wk__text *line, bool bar, double rate, double elapsed, bool last)
{
    wk__text_add(line, p->name);
    add_count(p, line, bar);
    if (rate > 0) {
        wk__text_add(line, "  ");
        wk__text_double(line, rate, 'f', rate >= 100 ? 0 : rate >= 10 ? 1 : 2);
        wk__text_add(line, "/s");
    }
    if (last) {
        wk__text_add(line, "  in ");
        add_time(line, elapsed);
    } else if (rate > 0 && p->total > p->done) {
        wk__text_add(line, "  ");
        add_time(line, (double)(p->total - p->done) / rate);
        wk__text_add(line, " left");
    }
    if (!p->has_value) return;
    wk__text_format(line, "  %s ", p->label);
    wk__text_double(line, p->value, 'g', 4);
}

static int columns_of(FILE *stream)
{
    struct winsize size;
    return ioctl(fileno(stream), TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

static void draw(progress *p, int64_t now, bool last)
{
    const double elapsed = (double)(now - p->begun) * 1e-9, since = (double)(now - p->drawn) * 1e-9;
    const double present = since > 0 ? (double)(p->done - p->drawn_done) / since : 0;
    if (present > 0) p->rate = p->rate > 0 ? 0.7 * p->rate + 0.3 * present : present;
    const double rate = last && elapsed > 0 ? (double)(p->done - p->initial) / elapsed : p->rate;
    p->drawn = now;
    p->drawn_done = p->done;
    wk__text line = {0};
    add_line(p, &line, p->terminal, rate, elapsed, last);
    if (p->terminal && line.length >= columns_of(p->stream)) { /* a line that wraps could not be overwritten */
        wk__text_free(&line);
        add_line(p, &line, false, rate, elapsed, last);
    }
    if (line.data && !line.failed)
        fprintf(p->stream, "%s%s%s%s", p->terminal ? "\r" : "", line.data, p->terminal ? "\033[K" : "",
                last || !p->terminal ? "\n" : "");
    fflush(p->stream);
    wk__text_free(&line);
}

/* ---- calls ------------------------------------------------------------------------------------------------------- */

static void destroy(void *body)
{
    progress *p = body;
    wk__background_worker_wait(&p->reader);
    finish_reading(p);
    wk__background_worker_stop(&p->reader);
    if (!p->disabled && !p->ended && p->done > p->initial) {
        if (p->latest && wk__body_of(p->latest)->storage->value->memory.host) look_at(p, p->latest);
        draw(p, wk__monotonic_ns(), true);
    }
    if (p->latest) wk__handle_drop(&p->latest->handle);
    wk__free(p->name);
    wk__free(p->label);
    wk__free(p);
}

static const wk__handle_type progress_type = {.name = "progress bar", .destroy = destroy, .owns_children = true};

static bool check(wk_site site, const char *op, const char *name, int64_t total, const wk_progress_options *o)
{
    const char *what = total < 0 ? "total" : o->initial < 0 ? ".initial" : !(o->interval >= 0) ? ".interval" : NULL;
    if (!name)
        wk__error_set(site, WK_ERR_ARGUMENT, "%s: name is NULL", op);
    else if (what)
        wk__error_set(site, WK_ERR_ARGUMENT, "%s: %s must be at least 0", op, what);
    return name && !what;
}

wk_progress *wk_progress_new_at(wk_site site, const char *name, int64_t total, const wk_progress_options *options)
{
    static const char op[] = "progress_new";
    wk_progress_options o;
    if (!wk__options(site, op, options, &o) || !check(site, op, name, total, &o)) return NULL;
    progress *p = wk__alloc_zero(1, sizeof *p);
    if (p) {
        FILE *stream = o.stream ? o.stream : stderr;
        const bool terminal = isatty(fileno(stream)) == 1;
        const double seconds = fmin(wk__option_or(o.interval, terminal ? 0.1 : 10), 1e9);
        const int64_t now = wk__monotonic_ns();
        *p = (progress){.name = wk__strdup(name),
                        .stream = stream,
                        .terminal = terminal,
                        .disabled = o.disable,
                        .total = total,
                        .initial = o.initial,
                        .done = o.initial,
                        .interval = (int64_t)(seconds * 1e9),
                        .begun = now,
                        .drawn = now,
                        .drawn_done = o.initial};
        wk__background_worker_init(&p->reader, read_value, p);
    }
    return wk__handle_wrap(site, &progress_type, p, p && p->name, op);
}

/* Replaces the label if it differs. False if memory is exhausted. */
static bool set_label(wk_site site, progress *p, const char *label)
{
    if (p->label && strcmp(p->label, label) == 0) return true;
    char *copy = wk__strdup(label);
    if (!copy) {
        wk__error_set(site, WK_ERR_MEMORY, "progress_step: out of host memory");
        return false;
    }
    wk__free(p->label);
    p->label = copy;
    return true;
}

static bool check_value(wk_site site, wk_tensor *x)
{
    if (!wk__check_tensor(x, site, "progress_step", "the value")) return false;
    if (wk_numel(x) == 1) return true;
    return wk__tensor_refuse(site, WK_ERR_SHAPE, x, "; reduce it first: wk_mean, wk_sum",
                             "progress_step: expected a tensor of one element");
}

/* Shows the newest value that has been computed. Without one, or for the last step, recorded work runs first. */
static void update(progress *p, const wk_tensor *before, int64_t now)
{
    const bool last = p->done == p->total;
    if (last) wk__background_worker_wait(&p->reader);
    finish_reading(p);
    if (!look_at(p, p->latest) && (last || !look_at(p, before)) && p->latest) {
        wk_flush();
        look_at(p, p->latest);
    }
    if (last) { /* no later update shows the value */
        wk__background_worker_wait(&p->reader);
        finish_reading(p);
    }
    draw(p, now, last);
    p->ended = last;
}

wk_code wk_progress_step_at(wk_site site, wk_progress *bar, const char *label, wk_tensor *x)
{
    if (!wk__handle_check(bar, &progress_type, site, "progress_step", "the bar") || wk__error_pending())
        return wk_error_code();
    progress *p = wk__handle_body(bar);
    if (x && !check_value(site, x)) return wk_error_code();
    p->done++;
    if (p->disabled) return WK_OK;
    wk_tensor *before = p->latest;
    if (label && x) {
        wk_tensor *newest = set_label(site, p, label) ? keep(site, x) : NULL;
        if (!newest) return wk_error_code();
        p->latest = newest;
    }
    p->ended = false;
    const int64_t now = wk__monotonic_ns();
    if (now - p->drawn >= p->interval || p->done == p->total) update(p, before, now);
    if (before && before != p->latest) wk__handle_drop(&before->handle);
    return wk_error_code();
}
