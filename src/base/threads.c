/* How many threads take part: what WICK_THREADS says, else the CPUs that the process may use. A container often shows
 * all CPUs of its host and grants the time of two; threads beyond the quota only wait for each other. */
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pool.h"

enum { MOST_THREADS = 1024, PATH_SIZE = 4096 };

static _Atomic int chosen; /* 0: not looked up yet */

/* ---- quota --------------------------------------------------------------------------------------------------- */

/* A small file as a string; false if it cannot be read. */
static bool read_file(const char *path, char *out, size_t size)
{
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return false;
    ssize_t count = read(file, out, size - 1);
    close(file);
    out[count > 0 ? count : 0] = '\0';
    return count > 0;
}

/* cgroup 2 has "quota period" or "max period" in one file, cgroup 1 a file for each, and -1 for none. Microseconds;
 * words count as 0. */
static bool read_quota(const char *folder, bool unified, long long *quota, long long *period)
{
    char path[PATH_SIZE + 32], text[128], *rest;
    snprintf(path, sizeof path, "%s/%s", folder, unified ? "cpu.max" : "cpu.cfs_quota_us");
    if (!read_file(path, text, sizeof text)) return false;
    *quota = strtoll(text, &rest, 10);
    if (!unified) {
        snprintf(path, sizeof path, "%s/cpu.cfs_period_us", folder);
        if (!read_file(path, text, sizeof text)) return false;
        rest = text;
    }
    *period = strtoll(rest, NULL, 10);
    return true;
}

/* The tightest quota of a group and of all groups around it; 0 for none. `mount` is the start of `folder`. */
static int tightest(char *folder, size_t mount, bool unified)
{
    int cpus = 0;
    for (;;) {
        long long quota, period;
        if (read_quota(folder, unified, &quota, &period) && quota > 0 && period > 0) {
            long long here = quota / period + (quota % period > 0);
            if (here > MOST_THREADS) here = MOST_THREADS;
            if (cpus == 0 || here < cpus) cpus = (int)here;
        }
        char *slash = strrchr(folder + mount, '/');
        if (!slash) return cpus;
        *slash = '\0';
    }
}

/* Does a comma-separated list hold "cpu"? */
static bool lists_cpu(const char *list, size_t length)
{
    for (const char *item = list; item < list + length;) {
        size_t count = strcspn(item, ",:");
        if (count == 3 && memcmp(item, "cpu", 3) == 0) return true;
        item += count + 1;
    }
    return false;
}

int wk__quota_cpus(const char *root)
{
    char path[PATH_SIZE], groups[PATH_SIZE];
    int cpus = 0;
    snprintf(path, sizeof path, "%s/proc/self/cgroup", root);
    if (!read_file(path, groups, sizeof groups)) return 0;

    /* a line is "number:controllers:/path"; cgroup 2 has the one with no controllers */
    char *rest = NULL;
    for (char *line = strtok_r(groups, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        char *list = strchr(line, ':');
        char *group = list ? strchr(list + 1, ':') : NULL;
        if (!group) continue;
        list++;
        bool unified = list == group;
        if (!unified && !lists_cpu(list, (size_t)(group - list))) continue;
        group++;
        if (strcmp(group, "/") == 0) group++;
        int mount = snprintf(path, sizeof path, "%s/sys/fs/cgroup%s", root, unified ? "" : "/cpu");
        if (snprintf(path + mount, sizeof path - (size_t)mount, "%s", group) >= (int)(sizeof path - (size_t)mount))
            continue;
        int here = tightest(path, (size_t)mount, unified);
        if (here > 0 && (cpus == 0 || here < cpus)) cpus = here;
    }
    return cpus;
}

/* ---- count --------------------------------------------------------------------------------------------------- */

static int clamp(long count)
{
    return count < 1 ? 1 : count > MOST_THREADS ? MOST_THREADS : (int)count;
}

/* 0 when the variable is not there or is no number from 1 on. */
static int from_environment(void)
{
    const char *text = getenv("WICK_THREADS");
    if (!text || !*text) return 0;
    char *end;
    long count = strtol(text, &end, 10);
    return *end || count < 1 ? 0 : clamp(count);
}

static int usable_cpus(void)
{
    cpu_set_t set;
    long cpus = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : sysconf(_SC_NPROCESSORS_ONLN);
    int quota = wk__quota_cpus("");
    return clamp(quota > 0 && quota < cpus ? quota : cpus);
}

int wk__threads(void)
{
    int count = atomic_load_explicit(&chosen, memory_order_relaxed);
    if (count > 0) return count;
    count = from_environment();
    if (count == 0) count = usable_cpus();
    int none = 0;
    return atomic_compare_exchange_strong(&chosen, &none, count) ? count : none; /* wk__set_threads was quicker */
}

void wk__set_threads(int count)
{
    atomic_store(&chosen, clamp(count));
}

/* ---- threads of the library ------------------------------------------------------------------------------------ */

bool wk__thread_start(pthread_t *thread, void *(*run)(void *), void *user)
{
    static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};
    sigset_t blocked, before;
    sigfillset(&blocked);
    for (size_t k = 0; k < sizeof faults / sizeof *faults; k++) sigdelset(&blocked, faults[k]);
    pthread_sigmask(SIG_SETMASK, &blocked, &before);
    bool started = pthread_create(thread, NULL, run, user) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}
