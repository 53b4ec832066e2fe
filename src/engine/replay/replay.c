/* SPDX-License-Identifier: Apache-2.0 */
/* wk_replay: runs a flush from a file in several modes, and compares the results. */
#include "base/alloc.h"
#include "base/log.h"
#include "base/pool.h"
#include "engine/verify/check_mode.h"
#include "engine/verify/shadow_compare.h"
#include "replay_run.h"
#include <string.h>
#include <wick/device.h>

typedef struct replay_mode {
    const char *name;
    bool one_by_one, nofuse, check, programs;
    int threads; /* 0: number of the process */
} replay_mode;

static const replay_mode ways[] = {
    {.name = "call by call", .one_by_one = true}, /* first: the others are compared with it */
    {.name = "as planned", .programs = true},     {.name = "WICK_NOFUSE=1", .nofuse = true},
    {.name = "WICK_CHECK=1", .check = true},      {.name = "1 thread", .threads = 1},
    {.name = "2 threads", .threads = 2},          {.name = "7 threads", .threads = 7},
};
enum { WAYS = sizeof ways / sizeof *ways };

typedef struct replay_job {
    wk__flush_data flush;
    wk__replay run;
    bool *holes;               /* for each value: some elements are never written */
    wk__outcome *first, *next; /* for each value: results of the first mode; of another mode */
    wk_log_callback *print;
    void *user;
    int differing; /* number of modes with different results */
} replay_job;

__attribute__((format(printf, 2, 3))) static void say(const replay_job *j, const char *format, ...)
{
    wk__text line = {0};
    va_list args;
    va_start(args, format);
    wk__text_vformat(&line, format, args);
    va_end(args);
    if (j->print && line.data) j->print(j->user, line.data);
    wk__text_free(&line);
}

/* ---- devices ----------------------------------------------------------------------------------------------------- */

static wk_code find_devices(replay_job *j, wk__fail *fail)
{
    wk_device missing = {0};
    for (int64_t k = 0; k < j->flush.values; k++) {
        const wk_device id = j->flush.value[k].device;
        wk__device *device = wk__device_get(id, fail);
        if (!device && (missing.kind != id.kind || missing.index != id.index))
            say(j, "%s is not available; using the CPU instead", wk_device_str(id));
        if (!device) missing = id;
        if (!device) device = wk__device_get(wk_cpu(), fail);
        if (!device) return fail->code;
        j->run.device[k] = device;
    }
    return WK_OK;
}

/* ---- comparison -------------------------------------------------------------------------------------------------- */

static void find_holes(replay_job *j)
{
    for (int64_t k = 0; k < j->flush.records; k++) {
        const wk__flush_record *f = &j->flush.record[k];
        for (int o = 0; o < f->record->nout; o++) {
            const int64_t bytes = j->flush.value[f->value[o]].bytes;
            j->holes[f->value[o]] = f->record->partial ? j->holes[f->prior] : !wk__record_fills(f->record, o, bytes);
        }
    }
}

static bool result_differs(const replay_job *j, const wk__flush_record *f, int output, wk__text *what)
{
    const int32_t value = f->value[output];
    const wk__outcome *first = &j->first[value], *next = &j->next[value];
    if (first->failed != next->failed)
        wk__text_add(what, next->failed ? "its result has failed" : "its result succeeded");
    if (first->failed != next->failed) return true;
    return first->bytes && next->bytes &&
           wk__bytes_differ(f->record, output, j->holes[value], next->bytes, first->bytes, j->flush.value[value].bytes,
                            what);
}

/* Contents of inputs must not change. */
static bool operand_differs(const replay_job *j, int64_t value)
{
    const wk__outcome *next = &j->next[value];
    const wk__flush_value *v = &j->flush.value[value];
    return v->data && next->bytes && memcmp(v->data, next->bytes, (size_t)v->bytes) != 0;
}

/* Describes the first difference in program order. */
static bool differs(const replay_job *j, wk__text *what)
{
    for (int64_t k = 0; k < j->flush.records; k++) {
        const wk__flush_record *f = &j->flush.record[k];
        const wk__record *r = f->record;
        for (int o = 0; o < r->nout; o++) {
            wk__text found = {0};
            const bool here = result_differs(j, f, o, &found);
            if (here)
                wk__text_format(what, "%s:%d: %s: %s", r->site.file ? r->site.file : "?", (int)r->site.line, r->name,
                                found.data ? found.data : "");
            wk__text_free(&found);
            if (here) return true;
        }
    }
    for (int64_t k = 0; k < j->flush.values; k++) {
        if (!operand_differs(j, k)) continue;
        wk__text_format(what, "value %lld, an input, was modified", (long long)k + 1);
        return true;
    }
    return false;
}

static void forget(const replay_job *j, wk__outcome *outcome)
{
    for (int64_t k = 0; k < j->flush.values; k++) {
        wk__free(outcome[k].bytes);
        outcome[k] = (wk__outcome){0};
    }
}

/* ---- modes ------------------------------------------------------------------------------------------------------- */

static wk_code run_in(replay_job *j, const replay_mode *how, wk__outcome *outcome, wk__fail *fail)
{
    const wk__engine_config modes = {.sync = how->one_by_one,
                                     .nofuse = how->nofuse,
                                     .check = how->check,
                                     .skip_file = true, /* the flush is one */
                                     .budget = wk__engine_config_get()->budget};
    const int threads = wk__thread_count();
    if (how->threads) wk__set_thread_count(how->threads);
    if (how->programs && j->print) wk__log_redirect(WK__LOG_KERNEL, j->print, j->user);
    j->run.eager = how->one_by_one;
    j->run.modes = &modes;
    wk_code code = wk__replay_run(&j->run, outcome, fail);
    if (how->programs && j->print) wk__log_redirect(WK__LOG_KERNEL, NULL, NULL);
    if (how->threads) wk__set_thread_count(threads);
    return code;
}

/* Prints errors of the run: a bad index, or a difference found by WICK_CHECK. */
static void say_errors(const replay_job *j, const char *name)
{
    wk__report_posted_failure(j->run.context);
    if (wk_error()) say(j, "%s: %s", name, wk_error());
    wk_clear_error();
}

static wk_code run_ways(replay_job *j, wk__fail *fail)
{
    for (int k = 0; k < WAYS; k++) {
        wk__outcome *outcome = k == 0 ? j->first : j->next;
        wk__text what = {0};
        if (ways[k].programs && j->print) say(j, "%s, passes:", ways[k].name);
        wk_code code = run_in(j, &ways[k], outcome, fail);
        if (code != WK_OK) {
            say_errors(j, ways[k].name); /* otherwise the thread's next call would report them */
            return code;
        }
        const bool differing = k > 0 && differs(j, &what);
        say(j, "%s: %lld pass%s%s%s", ways[k].name, (long long)j->run.groups, j->run.groups == 1 ? "" : "es",
            k == 0      ? ""
            : differing ? ", DIFFERS: "
                        : ", identical",
            what.data ? what.data : "");
        say_errors(j, ways[k].name);
        j->differing += differing;
        wk__text_free(&what);
        if (k > 0) forget(j, j->next);
    }
    return WK_OK;
}

static wk_code run_all(replay_job *j, wk__fail *fail)
{
    const size_t values = (size_t)j->flush.values;
    j->run.flush = &j->flush;
    j->run.context = wk__context();
    j->run.device = wk__alloc_zero(values, sizeof *j->run.device);
    j->run.value = wk__alloc_zero(values, sizeof *j->run.value);
    j->holes = wk__alloc_zero(values, sizeof *j->holes);
    j->first = wk__alloc_zero(values, sizeof *j->first);
    j->next = wk__alloc_zero(values, sizeof *j->next);
    if (!j->run.device || !j->run.value || !j->holes || !j->first || !j->next)
        return wk__fail_set(fail, WK_ERR_MEMORY, "out of host memory");
    wk_code code = find_devices(j, fail);
    if (code != WK_OK) return code;
    find_holes(j);
    if (*j->flush.message) say(j, "recorded because of %s", j->flush.message);
    say(j, "%lld calls, %lld values", (long long)j->flush.records, (long long)j->flush.values);
    return run_ways(j, fail);
}

static void end(replay_job *j)
{
    if (j->first) forget(j, j->first);
    if (j->next) forget(j, j->next);
    wk__free(j->run.device);
    wk__free(j->run.value);
    wk__free(j->holes);
    wk__free(j->first);
    wk__free(j->next);
    wk__flush_free(&j->flush);
}

wk_code wk_replay_at(wk_site site, const char *path, wk_log_callback *print, void *user)
{
    replay_job j = {.print = print, .user = user};
    wk__io_error error;
    if (wk__forked) return wk__report_forked(site, "replay"), WK_ERR_STATE;
    if (wk_error()) return wk_error_code(); /* errors of the runs must be the first ones */
    wk_code code =
        path ? wk__flush_read(path, &j.flush, &error) : wk__io_fail(&error, WK_ERR_ARGUMENT, "the path is NULL");
    if (code != WK_OK) {
        wk__error_set(site, code, "replay: %s", error.text);
        return code;
    }
    wk__flush(wk__context());
    wk__fail fail = {.tag = -1};
    const wk__frame before = wk__frame_begin(wk__context(), WK__FRAME_CRITICAL, NULL, (wk_site){0});
    code = run_all(&j, &fail);
    if (code != WK_OK)
        wk__error_set(site, code, "replay: %s", fail.text);
    else if (j.differing > 0)
        wk__error_set(site, code = WK_ERR_INTERNAL, "replay: results differ in %d of %d modes", j.differing, WAYS - 1);
    end(&j);
    wk__frame_end(wk__context(), before);
    return code;
}
