/* SPDX-License-Identifier: Apache-2.0 */
/* Number of threads: WICK_THREADS, else the CPUs the process may use. A container often shows all CPUs of its host but
 * has a quota of, say, two; further threads would only wait for each other. */
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

#include "cgroup.h"
#include "base/environment.h"
#include "base/pool.h"

enum { MAX_THREADS = 1024 };

static _Atomic int cached_count; /* 0: not determined yet */

/* ---- quota --------------------------------------------------------------------------------------------------- */

/* Lowers *cpus to the quota of this group: quota / period in microseconds. cgroup 2 has "quota period" or "max period"
 * in one file; cgroup 1 has one file for each and -1 for no quota. */
static void apply_quota(void *cpus_address, const char *folder, bool unified)
{
    int *cpus = cpus_address;
    int64_t number[2];
    int found = wk__cgroup_numbers(folder, unified ? "cpu.max" : "cpu.cfs_quota_us", number, 2);
    if (!unified && found) found = 1 + wk__cgroup_numbers(folder, "cpu.cfs_period_us", number + 1, 1);
    if (found < 2 || number[0] <= 0 || number[1] <= 0) return;
    int64_t here = number[0] / number[1] + (number[0] % number[1] > 0);
    if (*cpus == 0 || here < *cpus) *cpus = here < MAX_THREADS ? (int)here : MAX_THREADS;
}

int wk__cgroup_cpu_limit(const char *root)
{
    int cpus = 0;
    wk__cgroup_each(root, "cpu", apply_quota, &cpus);
    return cpus;
}

/* ---- count --------------------------------------------------------------------------------------------------- */

static int clamp(long count)
{
    return count < 1 ? 1 : count > MAX_THREADS ? MAX_THREADS : (int)count;
}

static int usable_cpus(void)
{
    cpu_set_t set;
    long cpus = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : sysconf(_SC_NPROCESSORS_ONLN);
    int quota = wk__cgroup_cpu_limit("");
    return clamp(quota > 0 && quota < cpus ? quota : cpus);
}

int wk__thread_count(void)
{
    int count = atomic_load_explicit(&cached_count, memory_order_relaxed);
    if (count > 0) return count;
    count = (int)wk__setting_number(WK__SETTING_THREADS, 0);
    if (count == 0) count = usable_cpus();
    int none = 0;
    /* wk__set_thread_count() may have come first */
    return atomic_compare_exchange_strong(&cached_count, &none, count) ? count : none;
}

void wk__set_thread_count(int count)
{
    atomic_store(&cached_count, clamp(count));
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
