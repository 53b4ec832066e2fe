/* Host memory runs out, at each request in turn: the scenarios give an error with a sentence, or what they always give, and never
 * anything else; afterwards they run as if nothing had been. Memory comes from the program's own allocator (wk_set_allocator), which
 * also counts: nothing stays behind.
 *
 *     once      request n fails, those after it are served      what every single place does
 *     for good  request n and all after it fail                 and whether the way out needs memory */
#include "support_scenarios.h"

#include <errno.h>
#include <math.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../src/backend/null/null.h"

/* ---- the allocator ----------------------------------------------------------------------------------------------- */

static atomic_llong requests, first_to_fail; /* 0: none */
static atomic_bool for_good, failed;
static atomic_llong live; /* blocks */

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
    if (changed && !block) atomic_fetch_add(&live, 1);
    return changed;
}

/* From now on; 0: no more. */
static void fail_at(long long n, bool all_after)
{
    atomic_store(&for_good, all_after);
    atomic_store(&failed, false);
    atomic_store(&first_to_fail, n ? atomic_load(&requests) + n : 0);
}

/* ---- one run ----------------------------------------------------------------------------------------------------- */

static scenario_place place;

static double run(const scenario *s)
{
    return s->run(&place);
}

/* What a run that met a failure gave must be the figure, or an error. NULL, or what is wrong. */
static const char *judge(double figure, double expected)
{
    if (wk_error() && (strlen(wk_error()) < 10 || wk_error_code() == WK_OK)) return "an error without a sentence";
    if (isnan(figure)) return wk_error() ? NULL : "no figure, and no error";
    return figure == expected ? NULL : "a wrong figure";
}

static void calm(void)
{
    fail_at(0, false);
    wk_clear_error();
    wk_sync(); /* what comes late */
    wk_clear_error();
    wk__null_clear(); /* its notes of what it was told are no part of the library */
}

/* Steps of one as long as a scenario is short, then longer ones. */
static long long after(long long n, long long one_by_one)
{
    return n < one_by_one ? n + 1 : n + n / 16;
}

static int64_t device_live(void)
{
    wk_memory_stats stats = {.size = sizeof stats};
    wk_memory_stats_of(place.device, &stats);
    return stats.live;
}

/* ---- in this process, which is warm ------------------------------------------------------------------------------ */

static void each_request(const scenario *s, bool all_after, long long one_by_one)
{
    double expected = run(s);
    for (int k = 0; k < 2; k++) {
        double again = run(s);
        expect_fine();
        if (again != expected) fail_msg("%s: not the same figure each time: %.17g, %.17g", s->name, expected, again);
    }
    long long blocks = atomic_load(&live), n = 1, runs = 0;
    int64_t bytes = device_live();
    for (bool met = true; met; n = after(n, one_by_one), runs++) {
        fail_at(n, all_after);
        double figure = run(s);
        met = atomic_load(&failed);
        fail_at(0, false);
        const char *wrong = judge(figure, expected);
        if (wrong) fail_msg("%s, request %lld: %s (%.17g; %s)", s->name, n, wrong, figure, wk_error());
        calm();
        figure = run(s);
        if (figure != expected)
            fail_msg("%s, after request %lld: %.17g, not %.17g; %s", s->name, n, figure, expected,
                     wk_error() ? wk_error() : "no error");
        expect_fine();
        if (device_live() != bytes)
            fail_msg("%s, after request %lld: %lld bytes live, not %lld", s->name, n, (long long)device_live(),
                     (long long)bytes);
    }
    print_message("%-9s %-8s %5lld runs to request %lld, blocks %lld -> %lld\n", s->name,
                  all_after ? "for good" : "once", runs, n, blocks, (long long)atomic_load(&live));
    /* arrays that grow for good, and kernels that only a run cut short needs, may be new; a leak is one a run at least */
    if (atomic_load(&live) > blocks + 32 + runs / 4)
        fail_msg("%s: %lld blocks stayed behind", s->name, (long long)atomic_load(&live) - blocks);
}

static void warm(wk_device device, long long one_by_one)
{
    place.device = device;
    for (int k = 0; k < scenario_count; k++) {
        each_request(&scenarios[k], false, one_by_one);
        each_request(&scenarios[k], true, one_by_one);
    }
}

static void warm_cpu(void **state)
{
    (void)state;
    warm(wk_cpu(), 400);
}

static void warm_null(void **state)
{
    (void)state;
    warm(test_null(), 400);
}

static void warm_opencl(void **state)
{
    (void)state;
    if (wk_device_count(WK_OPENCL) == 0) skip();
    warm(wk_opencl(0), 200);
}

/* ---- in a process that has done nothing yet ---------------------------------------------------------------------- */

/* 0: fine, and no request failed; 1: fine; 2: not. */
static int first_run(const scenario *s, long long n, bool all_after)
{
    fail_at(n, all_after);
    double figure = run(s);
    bool met = atomic_load(&failed);
    fail_at(0, false);
    bool told = wk_error() && strlen(wk_error()) >= 10;
    if (isnan(figure) && !told) {
        print_error("%s, request %lld: no figure, and no error\n", s->name, n);
        return 2;
    }
    calm();
    double expected = run(s), again = run(s);
    bool right = !isnan(expected) && expected == again && (isnan(figure) || figure == expected) && !wk_error();
    if (right) return met;
    print_error("%s, request %lld: %.17g, then %.17g and %.17g; %s\n", s->name, n, figure, expected, again,
                wk_error() ? wk_error() : "no error");
    return 2;
}

static int in_child(const scenario *s, long long n, bool all_after)
{
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) _exit(first_run(s, n, all_after)); /* without the search for leaks, which takes the longest by far */
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (WIFSIGNALED(status)) print_error("%s, request %lld: signal %d\n", s->name, n, WTERMSIG(status));
    return WIFEXITED(status) ? WEXITSTATUS(status) : 2;
}

static void cold(wk_device device, long long one_by_one)
{
    place.device = device;
    for (int k = 0; k < scenario_count; k++) {
        long long n = 1, runs = 0;
        int outcome = 1;
        for (; outcome == 1; n = after(n, one_by_one), runs++) outcome = in_child(&scenarios[k], n, n % 2 == 0);
        print_message("%-9s %5lld runs to request %lld\n", scenarios[k].name, runs, n);
        assert_int_equal(outcome, 0);
    }
}

static void cold_cpu(void **state)
{
    (void)state;
    cold(wk_cpu(), 100);
}

static void cold_null(void **state)
{
    (void)state;
    cold(test_null(), 30);
}

static void cold_opencl(void **state)
{
    (void)state;
    if (wk_device_count(WK_OPENCL) == 0) skip();
    cold(wk_opencl(0), 8);
}

int main(void)
{
    static char folder[400];
    const char *work = getenv("WICK_WORK");
    snprintf(folder, sizeof folder, "%s", work ? work : "/tmp");
    place.folder = folder;
    if (wk_set_allocator(resize, NULL) != WK_OK) return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cold_cpu), cmocka_unit_test(cold_null), /* before this process computes */
        cmocka_unit_test(warm_cpu), cmocka_unit_test(warm_null), cmocka_unit_test(warm_opencl),
    };
    (void)cold_opencl;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
