/* SPDX-License-Identifier: Apache-2.0 */
/* Implements alloc_faults.h: an allocator that counts its requests and fails chosen ones. The counters are atomic,
 * because the library's own threads allocate as well. */
#include "alloc_faults.h"

#include <dirent.h>
#include <math.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <unistd.h>

#include "backend/null/null.h"
#include "base/slab.h"

/* ---- the allocator ----------------------------------------------------------------------------------------------- */

static atomic_llong requests, first_to_fail; /* counted from 1; 0: none */
static atomic_bool for_good, failed;
static atomic_llong live; /* blocks in use, without slabs */

static void *resize(void *user, void *block, size_t size)
{
    (void)user;
    if (size == 0) {
        free(block);
        atomic_fetch_sub(&live, 1);
        return NULL;
    }
    long long number = atomic_fetch_add(&requests, 1) + 1, first = atomic_load(&first_to_fail);
    if (first && (number == first || (number > first && atomic_load(&for_good)))) {
        atomic_store(&failed, true);
        return NULL;
    }
    void *changed = realloc(block, size);
    if (changed && !block && size != WK__SLAB_BLOCK) atomic_fetch_add(&live, 1); /* slabs are never freed */
    return changed;
}

void alloc_faults_arm(long long n, bool all_after)
{
    atomic_store(&for_good, all_after);
    atomic_store(&failed, false);
    atomic_store(&first_to_fail, n ? atomic_load(&requests) + n : 0);
}

bool alloc_fault_fired(void)
{
    return atomic_load(&failed);
}

long long alloc_request_count(void)
{
    return atomic_load(&requests);
}

long long alloc_live_blocks(void)
{
    return atomic_load(&live);
}

/* ---- one run ----------------------------------------------------------------------------------------------------- */

scenario_env alloc_faults_env;
void (*alloc_faults_before_run)(void);

static double run(const scenario *s)
{
    return s->run(&alloc_faults_env);
}

/* Checks a run in which a request failed: it must return the expected value, or NaN with an error that has a code and a
 * message. Returns NULL if so, else the problem. */
static const char *check_outcome(double figure, double expected)
{
    if (wk_error() && (strlen(wk_error()) < 10 || wk_error_code() == WK_OK))
        return "an error without a message or code";
    if (isnan(figure)) return wk_error() ? NULL : "neither a result nor an error";
    return figure == expected ? NULL : "a wrong result";
}

void alloc_faults_disarm(void)
{
    alloc_faults_arm(0, false);
    wk_clear_error();
    wk_sync(); /* reports deferred errors, which are cleared next */
    wk_clear_error();
    wk__null_log_clear(); /* the device's log is test state and would count as a leak */
}

long long alloc_faults_next(long long n, long long one_by_one)
{
    return n < one_by_one || n < 16 ? n + 1 : n + n / 16;
}

static int64_t device_live(void)
{
    wk_memory_stats stats = {.size = sizeof stats};
    wk_memory_stats_of(alloc_faults_env.device, &stats);
    return stats.live;
}

/* ---- all requests of a scenario --------------------------------------------------------------------------------- */

void alloc_faults_sweep(const scenario *s, bool all_after, long long one_by_one)
{
    double expected = run(s);
    for (int k = 0; k < 2; k++) {
        double again = run(s);
        expect_ok();
        if (again != expected) fail_msg("%s: results differ between runs: %.17g, %.17g", s->name, expected, again);
    }
    long long blocks = atomic_load(&live), n = 1, runs = 0;
    int64_t bytes = device_live();
    for (bool met = true; met; n = alloc_faults_next(n, one_by_one), runs++) {
        if (alloc_faults_before_run) alloc_faults_before_run();
        alloc_faults_arm(n, all_after);
        double figure = run(s);
        met = alloc_fault_fired();
        alloc_faults_arm(0, false);
        const char *wrong = check_outcome(figure, expected);
        if (wrong) fail_msg("%s, request %lld: %s (%.17g; %s)", s->name, n, wrong, figure, wk_error());
        alloc_faults_disarm();
        figure = run(s);
        if (figure != expected)
            fail_msg("%s, after request %lld: %.17g, not %.17g; %s", s->name, n, figure, expected,
                     wk_error() ? wk_error() : "no error");
        expect_ok();
        if (device_live() != bytes)
            fail_msg("%s, after request %lld: %lld bytes live, not %lld", s->name, n, (long long)device_live(),
                     (long long)bytes);
    }
    print_message("%-9s %-8s %5lld runs to request %lld, blocks %lld -> %lld\n", s->name,
                  all_after ? "for good" : "once", runs, n, blocks, (long long)atomic_load(&live));
    /* Arrays that only grow, and kernels that only an interrupted run builds, may be new. A leak in the library adds at
     * least one block per run. */
    if (atomic_load(&live) > blocks + 32 + runs / 4)
        fail_msg("%s: %lld blocks leaked", s->name, (long long)atomic_load(&live) - blocks);
}

static char folder[400];

static void remove_folder(void)
{
    DIR *files = opendir(folder);
    for (struct dirent *file; files && (file = readdir(files)) != NULL;) unlinkat(dirfd(files), file->d_name, 0);
    if (files) closedir(files);
    rmdir(folder);
}

/* Uses a folder in memory if possible: on disk, thousands of saves would wait for their fsync. */
static void choose_folder(void)
{
    const char *work = getenv("WICK_WORK");
    snprintf(folder, sizeof folder, "/dev/shm/wick-failing-%d", (int)getpid());
    if (mkdir(folder, 0700) == 0)
        atexit(remove_folder);
    else
        snprintf(folder, sizeof folder, "%s", work ? work : "/tmp");
    alloc_faults_env.folder = folder;
}

void alloc_faults_init(void)
{
    choose_folder();
    if (wk_set_allocator(resize, NULL) != WK_OK) abort();
}
