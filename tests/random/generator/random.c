/* SPDX-License-Identifier: Apache-2.0 */
/* Runs random programs and checks all oracles. A supervisor, which never uses the library itself, starts a process that
 * runs one program after the other; the current program is in shared memory, so that a program that crashes the process
 * is known.
 *
 *   random_programs [--seconds N] [--programs N] [--seed N] [--jobs N] [--keep-going] [--whole]
 *                   [--kinds | --opencl | --cuda [--large]]
 *   random_programs --only SEED       runs the program of that seed and prints its failures
 *   random_programs --opencl|--cuda --only SEED:VARIANT
 *   random_programs --print SEED      prints the program of that seed; SEED:large: with tensors larger than 2 MB
 *
 * Some of them also run in other sizes, one after the other, so that caches are reused (sizes.c).
 *
 * With --opencl or --cuda they run on the first such device, with 40 variants in other sizes for each program that
 * needs new kernels; every eighth one has tensors larger than 2 MB (variant "large"), half of these on two devices;
 * with --large all have. With --kinds each instruction set gets a third of the time. A failing program is shrunk
 * (unless --whole), printed, and the exit status is 1. With --keep-going each kind of failure is printed once. With
 * --jobs N, N jobs run concurrently (0: one per processor) and share the programs of the seed; there is one summary at
 * the end. */
#include "generate.h"
#include "jobs.h"
#include "xalloc.h"
#include "print.h"
#include "shrink.h"
#include "backend/cpu/isa.h"
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { FAILED = 10, PROGRAM_SECONDS = 60, VARIANTS = 40, EVERY_LARGE = 8 };

typedef struct settings {
    double seconds;
    uint64_t programs, seed, only;
    int jobs, variant, gpu; /* gpu: kind of the device; 0: CPU */
    bool keep_going, just_one, whole, kinds, print, large;
} settings;

static settings set = {.seconds = 60, .programs = UINT64_MAX, .seed = 1, .jobs = 1};
static struct timespec start;

static double elapsed(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - start.tv_sec) + 1e-9 * (double)(now.tv_nsec - start.tv_nsec);
}

static uint64_t seed_of(uint64_t number)
{
    return set.seed << 32 | number;
}

/* ---- the process that runs programs ------------------------------------------------------------------------------ */

/* A program must have the same shapes, dtypes and rejections on every instruction set. (Values may differ in their last
 * digits, and so may the steps that generation bases on them: then it is another program, which is not compared.) */
static bool cpu_kinds_agree(uint64_t next, digest now)
{
    digest *seen = &own_job->seen[next % MOST_DIGESTS];
    const bool both = seen->number == next + 1 && seen->program == now.program;
    if (seen->number != next + 1) {
        *seen = now;
        seen->number = next + 1;
        return true;
    }
    own_job->alike += both;
    return !both || seen->structure == now.structure;
}

/* A build with coverage counters (make coverage) writes them here, because _exit does not. */
void __gcov_dump(void) __attribute__((weak));

static void end(int status)
{
    if (__gcov_dump) __gcov_dump();
    _exit(status);
}

static bool goes_on(double until)
{
    return jobs_number(own_job->next) < set.programs && elapsed() < until && (!shared_jobs->failed || set.keep_going);
}

static void run_programs(double until)
{
    counts = &own_job->counts;
    coverage_start(&own_job->coverage);
    while (goes_on(until)) {
        const uint64_t next = own_job->next++, number = jobs_number(next);
        alarm(set.gpu ? 10 * PROGRAM_SECONDS : PROGRAM_SECONDS);
        digest digest;
        if (set.gpu) {
            const bool large = set.large || number % EVERY_LARGE == EVERY_LARGE - 1;
            own_job->variant = set.just_one ? set.variant : large ? VARIANT_LARGE : (int)(number % VARIANTS);
            oracles_try_gpu(&own_job->now, set.just_one ? set.only : seed_of(large ? number : number / VARIANTS),
                            own_job->variant, set.gpu, &own_job->verdict);
            if (own_job->verdict.oracle != ORACLE_NOTHING) end(FAILED);
            continue;
        }
        oracles_try(&own_job->now, set.just_one ? set.only : seed_of(number), &own_job->verdict, &digest);
        if (own_job->verdict.oracle == ORACLE_NOTHING && !cpu_kinds_agree(next, digest))
            own_job->verdict.oracle = ORACLE_CPU_KINDS;
        if (own_job->verdict.oracle != ORACLE_NOTHING) end(FAILED);
    }
    end(0);
}

/* Returns the exit status of a forked process, or -1 for a crash. */
static int end_of(pid_t child)
{
    int status;
    while (waitpid(child, &status, 0) < 0)
        ;
    return WIFEXITED(status) && (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == FAILED) ? WEXITSTATUS(status) : -1;
}

static pid_t start_child(void)
{
    fflush(stdout);
    const pid_t child = fork();
    if (child < 0) {
        perror("random: fork");
        exit(2);
    }
    return child;
}

/* ---- shrinking --------------------------------------------------------------------------------------------------- */

/* Runs the candidate in this process. */
static bool fails_in_process(program *candidate, void *user)
{
    verdict v;
    alarm(set.gpu ? 10 * PROGRAM_SECONDS : PROGRAM_SECONDS);
    return oracle_broken(candidate, *(const oracle *)user, &v);
}

/* Runs the candidate in a child process, which may crash. */
static bool fails_in_child(program *candidate, void *user)
{
    const oracle which = *(const oracle *)user;
    own_job->now = *candidate;
    const pid_t child = start_child();
    if (child == 0) {
        if (which == ORACLE_CRASH) freopen("/dev/null", "w", stderr);
        alarm(set.gpu ? 10 * PROGRAM_SECONDS : PROGRAM_SECONDS);
        _exit(oracle_broken(&own_job->now, which, &own_job->verdict) ? FAILED : 0);
    }
    const int end = end_of(child);
    return which == ORACLE_CRASH ? end == -1 : end == FAILED;
}

static void shrink_failure(oracle which)
{
    program *p = xcalloc(1, sizeof *p);
    *p = own_job->now;
    if (which != ORACLE_CRASH) {
        const pid_t child = start_child();
        if (child == 0) {
            program *own = xcalloc(1, sizeof *own);
            *own = own_job->now;
            shrink(own, fails_in_process, (void *)&which);
            oracles_tidy(own);
            const bool fails = fails_in_process(own, (void *)&which);
            oracle_broken(own, which, &own_job->verdict);
            own_job->now = *own;
            _exit(fails ? 0 : FAILED);
        }
        if (end_of(child) == 0) {
            free(p);
            return;
        }
    }
    oracle how = which;
    if (fails_in_child(p, &how)) shrink(p, fails_in_child, &how);
    own_job->now = *p;
    free(p);
    const pid_t child = start_child();
    if (child == 0) {
        oracles_tidy(&own_job->now);
        _exit(0);
    }
    end_of(child);
}

/* ---- reports ----------------------------------------------------------------------------------------------------- */

/* The caller holds the lock, so that reports do not interleave. */
static void print_failure(oracle which)
{
    char signature[256];
    shared_jobs->by_oracle[which]++;
    int n = snprintf(signature, sizeof signature, "%s: ", oracle_name[which]);
    print_signature(signature + n, sizeof signature - (size_t)n, &own_job->now);
    if (!jobs_is_new(signature)) return;
    char variant[16] = "";
    if (set.gpu && own_job->variant == VARIANT_LARGE)
        snprintf(variant, sizeof variant, ":large");
    else if (set.gpu)
        snprintf(variant, sizeof variant, ":%d", own_job->variant);
    printf("FAILED after %llu programs (--only %llu%s), %s\n  %s\n",
           (unsigned long long)jobs_number(own_job->next - 1) + 1, (unsigned long long)own_job->now.seed, variant,
           signature, which == ORACLE_CRASH ? "" : own_job->verdict.text);
    program *spoiled = xcalloc(1, sizeof *spoiled);
    const bool bad = which == ORACLE_INDEX || which == ORACLE_GPU_INDEX;
    print_program(stdout, bad && index_corrupt(&own_job->now, spoiled) ? spoiled : &own_job->now);
    free(spoiled);
    fflush(stdout);
}

static void report(int end)
{
    const oracle which = end == FAILED ? own_job->verdict.oracle : ORACLE_CRASH;
    shared_jobs->failed = true;
    if (!set.whole) shrink_failure(which);
    jobs_lock();
    print_failure(which);
    jobs_unlock();
}

static int64_t median(const oracle_counts *c)
{
    int64_t seen = 0;
    int k = 0;
    while (k < 63 && (seen += c->by_calls[k]) * 2 < c->programs) k++;
    return k;
}

/* Returns the processor time in seconds of all processes that have run programs. */
static double cost(void)
{
    struct rusage used;
    getrusage(RUSAGE_CHILDREN, &used);
    return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
           1e-6 * (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
}

static void statistics(void)
{
    static oracle_counts sum;
    static coverage coverage;
    int64_t alike;
    jobs_sum(&sum, &coverage, &alike);
    const oracle_counts *c = &sum;
    const double n = c->programs ? (double)c->programs : 1;
    for (int k = 0; set.kinds && wk__cpu_isa_at(k) && k < KINDS; k++)
        printf("%s: %llu programs\n", wk__cpu_isa_at(k)->name, (unsigned long long)shared_jobs->by_kind[k]);
    if (set.kinds) printf("%lld programs on two instruction sets\n", (long long)alike);
    printf("%lld programs in %.1f s, %.0f us of processor time each; calls: median %lld, mean %.1f; with backward "
           "%.1f %%, checked by central differences %.1f %% (and %.1f %% inconclusive); large %.1f %%, against "
           "references %.1f %%, with bad indices %.1f %%\n",
           (long long)c->programs, elapsed(), 1e6 * cost() / n, (long long)median(c), (double)c->calls / n,
           100 * (double)c->backwards / n, 100 * (double)c->differences / n, 100 * (double)c->inconclusive / n,
           100 * (double)c->large / n, 100 * (double)c->referred / n, 100 * (double)c->spoiled / n);
    printf("in other sizes, one after the other, %.1f %%\n", 100 * (double)c->resized / n);
    if (set.gpu)
        printf("of tensors larger than 2 MB %.1f %%, with concurrent threads %.1f %%\n", 100 * (double)c->ranges / n,
               100 * (double)c->at_once / n);
    coverage_print(stdout, &coverage);
    for (int k = 0; k < ORACLES; k++)
        if (shared_jobs->by_oracle[k]) printf("failed: %s: %d\n", oracle_name[k], shared_jobs->by_oracle[k]);
}

/* ---- the command line -------------------------------------------------------------------------------------------- */

/* Parses SEED, SEED:VARIANT or SEED:large. */
static void read_seed(const char *text)
{
    char *colon;
    set.only = strtoull(text, &colon, 10);
    set.variant = *colon == ':' ? (int)strtol(colon + 1, NULL, 10) : 0;
    if (strcmp(colon, ":large") == 0) set.variant = VARIANT_LARGE;
}

static bool read_settings(int argc, char **argv)
{
    for (int k = 1; k < argc; k++) {
        const char *value = k + 1 < argc ? argv[k + 1] : "";
        if (strcmp(argv[k], "--keep-going") == 0) {
            set.keep_going = true;
        } else if (strcmp(argv[k], "--kinds") == 0) {
            set.kinds = true;
        } else if (strcmp(argv[k], "--opencl") == 0 || strcmp(argv[k], "--cuda") == 0) {
            set.gpu = argv[k][2] == 'c' ? WK_CUDA : WK_OPENCL;
        } else if (strcmp(argv[k], "--large") == 0) {
            set.large = true;
        } else if (strcmp(argv[k], "--print") == 0) {
            read_seed(value);
            set.print = true;
            k++;
        } else if (strcmp(argv[k], "--whole") == 0) {
            set.whole = true;
        } else if (strcmp(argv[k], "--seconds") == 0) {
            set.seconds = strtod(value, NULL);
            k++;
        } else if (strcmp(argv[k], "--programs") == 0) {
            set.programs = strtoull(value, NULL, 10);
            set.seconds = 1e9;
            k++;
        } else if (strcmp(argv[k], "--seed") == 0) {
            set.seed = strtoull(value, NULL, 10);
            k++;
        } else if (strcmp(argv[k], "--jobs") == 0) {
            set.jobs = (int)strtol(value, NULL, 10);
            if (set.jobs < 1) set.jobs = (int)sysconf(_SC_NPROCESSORS_ONLN);
            if (set.jobs > MOST_JOBS) set.jobs = MOST_JOBS;
            k++;
        } else if (strcmp(argv[k], "--only") == 0) {
            read_seed(value);
            set.just_one = true;
            set.programs = 1;
            k++;
        } else {
            fprintf(stderr,
                    "random_programs: unknown option %s; usage: random_programs [--seconds N] [--programs N] [--seed "
                    "N] [--keep-going] "
                    "[--whole] [--jobs N] [--kinds | --opencl | --cuda [--large]] [--only SEED | --print SEED]\n",
                    argv[k]);
            return false;
        }
    }
    return true;
}

/* Runs programs until a point in time, restarting the process after crashes. Returns false if one failed. */
static bool run_until(double until)
{
    bool failed = false;
    for (int end = FAILED; end != 0 && goes_on(until);) {
        const pid_t child = start_child();
        if (child == 0) run_programs(until);
        end = end_of(child);
        if (end == 0) break;
        failed = true;
        report(end);
    }
    return !failed;
}

/* Runs the same programs on each supported instruction set, in separate processes. */
static bool run_kinds(void)
{
    if (!set.kinds) return run_until(set.seconds);
    int kinds = 0;
    while (wk__cpu_isa_at(kinds)) kinds++;
    const double begin = elapsed(), share = (set.seconds - begin) / kinds;
    bool fine = true;
    for (int k = 0; k < kinds && (fine || set.keep_going); k++) {
        setenv("WICK_CPU", wk__cpu_isa_at(k)->name, 1);
        own_job->next = 0;
        fine = run_until(begin + share * (k + 1)) && fine;
        jobs_lock();
        if (k < KINDS) shared_jobs->by_kind[k] += own_job->next;
        jobs_unlock();
    }
    return fine;
}

int main(int argc, char **argv)
{
    if (!read_settings(argc, argv)) return 2;
    op_entries_load();
    if (!jobs_begin(set.print || set.just_one ? 1 : set.jobs)) return 2;
    clock_gettime(CLOCK_MONOTONIC, &start);
    if (set.print) {
        oracles_generate(&own_job->now, set.only, set.variant == VARIANT_LARGE);
        print_program(stdout, &own_job->now);
        return 0;
    }
    const bool fine = jobs_run(run_kinds);
    statistics();
    return !fine;
}
