/* SPDX-License-Identifier: Apache-2.0 */
/* CPU utilisation, temperature and power from /proc and /sys. Most are missing in virtual machines: NaN. */
#include "base/platform/clock.h"
#include "cpu.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Reads a number from a one-line file; NaN if there is none. */
static double read_number(const char *path)
{
    double value = NAN;
    FILE *file = fopen(path, "re");
    if (!file) return NAN;
    char line[64], *end;
    if (fgets(line, sizeof line, file)) {
        value = (double)strtoll(line, &end, 10);
        if (end == line) value = NAN;
    }
    fclose(file);
    return value;
}

/* The first line of /proc/stat: "cpu" and ticks in user mode, niced, in the kernel, idle, waiting for disks, ... */
double wk__cpu_utilisation(void)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static unsigned long long busy_before, all_before; /* at the last call */
    unsigned long long tick[8] = {0}, all = 0;
    char line[256], *at = line + strlen("cpu"), *end;
    FILE *file = fopen("/proc/stat", "re");
    if (!file) return NAN;
    bool there = fgets(line, sizeof line, file) && strncmp(line, "cpu ", 4) == 0;
    fclose(file);
    if (!there) return NAN;
    for (int k = 0; k < 8; k++, at = end) {
        tick[k] = strtoull(at, &end, 10);
        if (end == at && k < 5) return NAN;
        all += tick[k];
    }
    unsigned long long busy = all - tick[3] - tick[4];

    pthread_mutex_lock(&lock);
    double share = all_before && all > all_before && busy >= busy_before
                       ? (double)(busy - busy_before) / (double)(all - all_before)
                       : NAN;
    busy_before = busy;
    all_before = all;
    pthread_mutex_unlock(&lock);
    return share;
}

/* CPU sensor drivers are coretemp (Intel), k10temp (AMD) and cpu_thermal (arm64); values are in 1/1000 degree. */
double wk__cpu_temperature(void)
{
    for (int k = 0; k < 32; k++) {
        char path[64], name[32] = "";
        snprintf(path, sizeof path, "/sys/class/hwmon/hwmon%d/name", k);
        FILE *file = fopen(path, "re");
        if (!file) continue;
        if (!fgets(name, sizeof name, file)) name[0] = 0;
        fclose(file);
        name[strcspn(name, "\n")] = 0;
        if (strcmp(name, "coretemp") != 0 && strcmp(name, "k10temp") != 0 && strcmp(name, "cpu_thermal") != 0) continue;
        snprintf(path, sizeof path, "/sys/class/hwmon/hwmon%d/temp1_input", k);
        return read_number(path) / 1000;
    }
    return NAN;
}

/* Energy counter of the first package, in microjoules; on most systems only root can read it. */
double wk__cpu_power(void)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static double energy_before = NAN, time_before;
    double energy = read_number("/sys/class/powercap/intel-rapl:0/energy_uj");
    double time = 1e-9 * (double)wk__monotonic_ns();

    pthread_mutex_lock(&lock);
    double watts =
        energy >= energy_before && time > time_before ? 1e-6 * (energy - energy_before) / (time - time_before) : NAN;
    energy_before = energy;
    time_before = time;
    pthread_mutex_unlock(&lock);
    return watts;
}
