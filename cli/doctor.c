/* SPDX-License-Identifier: Apache-2.0 */
/* wick doctor: configuration of the library on this machine, and problems found. */
#include "../src/base/edit_distance.h"
#include "cli.h"
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int warnings; /* lines that began with "!" */
static int failures; /* warnings about something that does not work */

static void line(const char *subject, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void line(const char *subject, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    printf("%s%-12s%s ", cli_color(CLI_BOLD), subject, cli_color(CLI_PLAIN));
    vprintf(format, list);
    putchar('\n');
    va_end(list);
}

static void warn(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void warn(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    printf("%s!%s            ", cli_color(CLI_YELLOW), cli_color(CLI_PLAIN));
    vprintf(format, list);
    putchar('\n');
    va_end(list);
    warnings++;
}

/* ---- the processor ----------------------------------------------------------------------------------------------- */

static void check_cpu(void)
{
    wk_device_properties cpu = {.size = sizeof cpu};
    if (wk_device_get_properties(wk_cpu(), &cpu) != WK_OK) {
        warn("cpu: %s", wk_error());
        wk_clear_error();
        return;
    }
    const char *asked = getenv("WICK_CPU"), *threads = getenv("WICK_THREADS");
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    line("cpu", "%s, instructions: %s%s%s", cpu.name, cpu.driver, asked ? ", WICK_CPU=" : "", asked ? asked : "");
    if (asked && *asked && strcmp(asked, cpu.driver) != 0)
        warn("WICK_CPU=%s is not built in or not supported by this CPU; using %s", asked, cpu.driver);
    line("threads", "%d (%ld processors online%s%s)", wk_thread_count(), processors, threads ? ", WICK_THREADS=" : "",
         threads ? threads : "");
    if (wk_thread_count() > processors) warn("more threads than processors; this slows computation down");
    char total[16], left[16];
    line("memory", "%s, %s free", cli_format_bytes(total, cpu.memory_total), cli_format_bytes(left, cpu.memory_free));
    if (cpu.memory_free > 0 && cpu.memory_free < cpu.memory_total / 20) warn("less than 5 %% of the memory is free");
}

/* Reads "always [madvise] never", where the brackets mark the active setting. */
static void check_huge_pages(void)
{
    char text[128] = "", *open, *close;
    FILE *file = fopen("/sys/kernel/mm/transparent_hugepage/enabled", "re");
    if (file) {
        if (!fgets(text, sizeof text, file)) text[0] = 0;
        fclose(file);
    }
    open = strchr(text, '[');
    close = open ? strchr(open, ']') : NULL;
    if (!close) {
        line("huge pages", "unknown: this system has no transparent huge pages");
        return;
    }
    *close = 0;
    line("huge pages", "%s", open + 1);
    if (strcmp(open + 1, "never") == 0)
        warn("large tensors cause more page faults; enable with: echo madvise "
             ">/sys/kernel/mm/transparent_hugepage/enabled");
}

/* ---- backends ---------------------------------------------------------------------------------------------------- */

static void check_kind(int kind, const char *name)
{
    line(name, "%s", wk_device_status(kind));
    int count = wk_device_count(kind);
    for (int k = 0; k < count; k++) {
        wk_device device = {(int16_t)kind, (int16_t)k, 0};
        wk_device_properties is = {.size = sizeof is};
        if (wk_device_get_properties(device, &is) == WK_OK) {
            printf("             %s: %s, driver %s%s\n", wk_device_str(device), is.name, is.driver,
                   is.is_gpu ? ", a GPU" : "");
        } else {
            warn("%s: %s", wk_device_str(device), wk_error());
            wk_clear_error();
            failures++;
        }
    }
}

/* Computes on each device, because a driver may list devices that it cannot use. */
static void check_use(int kind)
{
    int count = wk_device_count(kind);
    for (int k = 0; k < count; k++) {
        WK_SCOPE;
        wk_device device = {(int16_t)kind, (int16_t)k, 0};
        double sum = wk_item(wk_sum(wk_add(wk_ones((1000), .device = device), 1)));
        if (!wk_error() && sum == 2000) continue;
        warn("%s cannot compute: %s", wk_device_str(device), wk_error() ? wk_error() : "wrong sum");
        wk_clear_error();
        failures++;
    }
}

/* ---- files and modes --------------------------------------------------------------------------------------------- */

/* Reports the cache directory for compiled kernels, from the environment. */
static void check_cache(void)
{
    char path[4096];
    const char *own = getenv("WICK_CACHE_DIR"), *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    if (own && (!*own || strcmp(own, "off") == 0)) {
        line("cache", "off (WICK_CACHE_DIR=%s)", own);
        return;
    }
    if (own)
        snprintf(path, sizeof path, "%s", own);
    else if (xdg && *xdg == '/')
        snprintf(path, sizeof path, "%s/wick", xdg);
    else if (home && *home == '/')
        snprintf(path, sizeof path, "%s/.cache/wick", home);
    else {
        line("cache", "none: neither WICK_CACHE_DIR nor HOME is set");
        return;
    }
    struct stat state;
    bool there = stat(path, &state) == 0;
    line("cache", "%s%s", path,
         there ? "" : " (not created yet; unused with drivers that have their own cache, such as PoCL)");
    if (there && !S_ISDIR(state.st_mode))
        warn("%s is not a folder; kernels are not cached", path);
    else if (there && (state.st_uid != geteuid() || (state.st_mode & (S_IWGRP | S_IWOTH)) != 0))
        warn("the cache is not used because other users can write to it; run chmod 700 %s", path);
}

/* Checks the folders in a variable, separated by colons. */
static void check_folders(const char *variable)
{
    for (const char *at = getenv(variable); at != NULL && *at != '\0';) {
        char path[4096];
        struct stat state;
        const size_t length = strcspn(at, ":");
        snprintf(path, sizeof path, "%.*s", (int)length, at);
        if (length > 0 && (stat(path, &state) != 0 || !S_ISDIR(state.st_mode)))
            warn("%s: folder %s does not exist", variable, path);
        at += length + (at[length] == ':');
    }
}

/* Warns about a variable whose name resembles one of the library's or has its prefix. */
static void check_variable_name(const char *name, size_t length)
{
    int least = 3;
    wk_setting setting = {.size = sizeof setting}, nearest = setting;
    for (int k = 0; k < wk_setting_count(); k++) {
        wk_setting_info(k, &setting);
        const int far = wk__edit_distance(name, length, setting.name);
        if (far == 0 && strncmp(name, setting.name, length) == 0) return;
        if (far < least) nearest = setting;
        if (far < least) least = far;
    }
    if (least < 3)
        warn("unknown variable %.*s; did you mean %s?", (int)length, name, nearest.name);
    else if (strncmp(name, "WICK_", 5) == 0)
        warn("unknown variable %.*s", (int)length, name);
}

/* Runs last, because reading the settings may start a log. */
static void check_modes(void)
{
    int set = 0;
    wk_setting is = {.size = sizeof is};
    for (int k = 0; k < wk_setting_count(); k++) {
        if (wk_setting_info(k, &is) != WK_OK || !is.value) continue;
        line(set++ ? "" : "modes", is.off ? "%s=%s: off (%s)" : "%s=%s: %s", is.name, is.value, is.doc);
        if (is.invalid) warn("invalid %s=%s; expected %s", is.name, is.value, is.expected);
    }
    if (set == 0) line("modes", "default: no WICK_ variable is set");
    for (char **entry = environ; *entry; entry++) check_variable_name(*entry, strcspn(*entry, "="));
    const char *file = getenv("WICK_LOG_FILE");
    if (file && *file && access(file, W_OK) != 0) warn("cannot write WICK_LOG_FILE=%s: %s", file, strerror(errno));
}

int cli_doctor(int count, char **words)
{
    const cli_option options[] = {{0}};
    const cli_syntax syntax = {
        "doctor", "",
        "Checks the installation: version, CPU, threads, huge pages, each backend (usable, or:\n"
        "library not found, no driver, driver too old, no device), cache, modes. Problems are marked with !.\n"
        "Exit status 1 if an existing device cannot be used.",
        options, 0};
    int done = cli_parse(&syntax, count, words, NULL);
    if (done >= 0) return done;

    line("wick", "%s, %d operations", wk_version(), wk_op_count());
    check_cpu();
    check_huge_pages();
    check_kind(WK_CUDA, "cuda");
    check_kind(WK_OPENCL, "opencl");
    line("gpus", "%d", wk_device_count(WK_GPU));
    check_cache();
    check_folders("WICK_CUDA_PATH");
    check_folders("WICK_CHECK_DIR");
    check_use(WK_CPU);
    check_use(WK_CUDA);
    check_use(WK_OPENCL);
    check_modes();
    if (warnings == 0) printf("%sno problems found%s\n", cli_color(CLI_GREEN), cli_color(CLI_PLAIN));
    return failures ? CLI_FAILED : CLI_OK;
}
