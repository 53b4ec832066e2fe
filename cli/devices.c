/* SPDX-License-Identifier: Apache-2.0 */
/* wick devices: a table of all devices of all kinds, similar to nvidia-smi. */
#include "cli.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { MOST_DEVICES = 64, SAMPLE_MILLISECONDS = 200 };

static const struct {
    int kind;
    const char *name;
} kinds[] = {{WK_CPU, "cpu"}, {WK_CUDA, "cuda"}, {WK_OPENCL, "opencl"}};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* A device and its properties. */
typedef struct row {
    wk_device device;
    wk_device_properties is;
} row;

/* Reads the present properties of all devices. Returns their number; -1 on error. */
static int describe_all(row rows[MOST_DEVICES])
{
    int count = 0;
    for (int kind = 0; kind < KINDS; kind++) {
        int devices = wk_device_count(kinds[kind].kind);
        for (int index = 0; index < devices && count < MOST_DEVICES; index++, count++) {
            rows[count].device = (wk_device){(int16_t)kinds[kind].kind, (int16_t)index, 0};
            rows[count].is.size = sizeof rows[count].is;
            if (wk_device_get_properties(rows[count].device, &rows[count].is) != WK_OK) return -1;
        }
    }
    return count;
}

static int64_t used(const row *r)
{
    return r->is.memory_total > 0 && r->is.memory_free > 0 ? r->is.memory_total - r->is.memory_free : -1;
}

/* ---- the table --------------------------------------------------------------------------------------------------- */

static void print_figure(const char *format, double value, int width)
{
    char text[24] = "N/A";
    if (isfinite(value)) snprintf(text, sizeof text, format, value);
    printf(" %*s", width, text);
}

/* Prints "88 / 700 W", or "88 W" if there is no limit. */
static void print_power(const row *r)
{
    char text[40];
    snprintf(text, sizeof text, "%%.0f / %.0f W", r->is.power_limit);
    print_figure(r->is.power_limit > 0 ? text : "%.0f W", r->is.power, 11);
}

static void print_row(const row *r, int name_width)
{
    char figure[16], memory[40] = "N/A";
    if (used(r) >= 0) snprintf(memory, sizeof memory, "%s", cli_format_bytes(figure, used(r)));
    printf("%s%-9s%s %-*.*s", cli_color(CLI_BOLD), wk_device_str(r->device), cli_color(CLI_PLAIN), name_width,
           name_width, r->is.name);
    print_figure("%.0f %%", 100 * r->is.utilisation, 6);
    printf(" %10s / %-10s", memory, r->is.memory_total > 0 ? cli_format_bytes(figure, r->is.memory_total) : "N/A");
    print_figure("%.0f C", r->is.temperature, 5);
    print_power(r);
    putchar('\n');
}

/* Prints constant properties and clocks; unknown ones are omitted. */
static void print_facts(const row *r)
{
    const wk_device_properties *is = &r->is;
    printf("%s%-9s %d %s%s", cli_color(CLI_DIM), wk_device_str(r->device), is->compute_units,
           r->device.kind == WK_CPU ? "thread" : "compute unit", is->compute_units == 1 ? "" : "s");
    if (*is->vendor) printf(", %s", is->vendor);
    if (*is->driver) printf(", %s", is->driver);
    if (*is->api_version) printf(", %s", is->api_version);
    if (is->core_clock > 0) printf(", %d MHz", is->core_clock);
    if (is->memory_clock > 0) printf(", memory %d MHz", is->memory_clock);
    printf("%s%s\n", is->is_gpu ? ", a GPU" : "", cli_color(CLI_PLAIN));
}

/* Returns the name of a process, or "" if it is not visible, for example in another container. */
static const char *process_name(int64_t id, char name[64])
{
    char path[40];
    snprintf(path, sizeof path, "/proc/%lld/comm", (long long)id);
    FILE *file = fopen(path, "r");
    if (file == NULL || fgets(name, 64, file) == NULL) name[0] = 0;
    if (file != NULL) fclose(file);
    name[strcspn(name, "\n")] = 0;
    return name;
}

static int listed(const row *r)
{
    return r->is.processes < WK_DEVICE_PROCESSES ? r->is.processes : WK_DEVICE_PROCESSES;
}

static void print_processes(const row *rows, int count)
{
    bool begun = false;
    for (int k = 0; k < count; k++)
        for (int p = 0; p < listed(&rows[k]); p++) {
            const wk_device_process *process = &rows[k].is.process[p];
            char figure[16], name[64];
            if (!begun)
                printf("\n%s%-9s %10s %10s  %s%s\n", cli_color(CLI_DIM), "DEVICE", "PROCESS", "MEMORY", "NAME",
                       cli_color(CLI_PLAIN));
            begun = true;
            printf("%-9s %10lld %10s  %s\n", wk_device_str(rows[k].device), (long long)process->id,
                   process->memory > 0 ? cli_format_bytes(figure, process->memory) : "N/A",
                   process_name(process->id, name));
        }
    if (begun) printf("\n");
}

static void print_table(const row *rows, int count)
{
    char stamp[32];
    time_t now = time(NULL);
    struct tm local;
    strftime(stamp, sizeof stamp, "%Y-%m-%d %H:%M:%S", localtime_r(&now, &local));
    int name_width = cli_columns() - 61 < 40 ? cli_columns() - 61 : 40;
    if (name_width < 20) name_width = 20;
    printf("Wick %s   %s\n\n", wk_version(), stamp);
    printf("%s%-9s %-*s %6s %10s / %-10s %5s %11s%s\n", cli_color(CLI_DIM), "DEVICE", name_width, "NAME", "UTIL",
           "USED", "MEMORY", "TEMP", "POWER", cli_color(CLI_PLAIN));
    for (int k = 0; k < count; k++) print_row(&rows[k], name_width);
    printf("\n");
    for (int k = 0; k < count; k++) print_facts(&rows[k]);
    print_processes(rows, count);
    for (int kind = 0; kind < KINDS; kind++)
        if (wk_device_count(kinds[kind].kind) == 0) {
            char text[512];
            snprintf(text, sizeof text, "%s is not usable: %s", kinds[kind].name, wk_device_status(kinds[kind].kind));
            cli_print_wrapped(0, text);
        }
}

/* ---- for scripts ------------------------------------------------------------------------------------------------- */

static double known(double value)
{
    return value > 0 ? value : NAN;
}

static void print_json_more(const row *r)
{
    printf(", \"api_version\": ");
    cli_json_text(stdout, r->is.api_version);
    printf(", \"power_limit\": ");
    cli_json_number(stdout, known(r->is.power_limit));
    printf(", \"core_clock\": ");
    cli_json_number(stdout, known(r->is.core_clock));
    printf(", \"memory_clock\": ");
    cli_json_number(stdout, known(r->is.memory_clock));
    printf(", \"processes\": [");
    for (int p = 0; p < listed(r); p++) {
        char name[64];
        printf("%s{\"id\": %lld, \"name\": ", p > 0 ? ", " : "", (long long)r->is.process[p].id);
        cli_json_text(stdout, process_name(r->is.process[p].id, name));
        printf(", \"memory\": ");
        cli_json_number(stdout, known((double)r->is.process[p].memory));
        putchar('}');
    }
    putchar(']');
}

static void print_json(const row *rows, int count)
{
    for (int k = 0; k < count; k++) {
        const row *r = &rows[k];
        printf("{\"device\": \"%s\", \"name\": ", wk_device_str(r->device));
        cli_json_text(stdout, r->is.name);
        printf(", \"vendor\": ");
        cli_json_text(stdout, r->is.vendor);
        printf(", \"driver\": ");
        cli_json_text(stdout, r->is.driver);
        printf(", \"is_gpu\": %s, \"compute_units\": %d, \"memory_total\": ", r->is.is_gpu ? "true" : "false",
               r->is.compute_units);
        cli_json_number(stdout, r->is.memory_total > 0 ? (double)r->is.memory_total : NAN);
        printf(", \"memory_used\": ");
        cli_json_number(stdout, used(r) >= 0 ? (double)used(r) : NAN);
        printf(", \"utilisation\": ");
        cli_json_number(stdout, r->is.utilisation);
        printf(", \"temperature\": ");
        cli_json_number(stdout, r->is.temperature);
        printf(", \"power\": ");
        cli_json_number(stdout, r->is.power);
        print_json_more(r);
        printf("}\n");
    }
}

static void print_csv_text(const char *text)
{
    putchar('"');
    for (; *text; text++) {
        if (*text == '"') putchar('"');
        putchar(*text);
    }
    printf("\",");
}

static void print_csv_number(double value, char end)
{
    if (isfinite(value)) cli_print_number(stdout, value);
    putchar(end);
}

static void print_csv(const row *rows, int count)
{
    for (int k = 0; k < count; k++) {
        const row *r = &rows[k];
        printf("%s,", wk_device_str(r->device));
        print_csv_text(r->is.name);
        print_csv_text(r->is.vendor);
        print_csv_text(r->is.driver);
        printf("%d,%d,", r->is.is_gpu, r->is.compute_units);
        print_csv_number(r->is.memory_total > 0 ? (double)r->is.memory_total : NAN, ',');
        print_csv_number(used(r) >= 0 ? (double)used(r) : NAN, ',');
        print_csv_number(r->is.utilisation, ',');
        print_csv_number(r->is.temperature, ',');
        print_csv_number(r->is.power, ',');
        print_csv_text(r->is.api_version);
        print_csv_number(known(r->is.power_limit), ',');
        print_csv_number(known(r->is.core_clock), ',');
        print_csv_number(known(r->is.memory_clock), ',');
        printf("%d\n", r->is.processes);
    }
}

/* ---- the command ------------------------------------------------------------------------------------------------- */

static void nap(long milliseconds)
{
    fflush(stdout);
    struct timespec pause = {milliseconds / 1000, milliseconds % 1000 * 1000000};
    nanosleep(&pause, NULL);
}

int cli_devices(int count, char **words)
{
    const char *json = NULL, *csv = NULL, *watch = NULL;
    const cli_option options[] = {{"json", NULL, "print one JSON object per line; null: unknown", &json},
                                  {"csv", NULL, "print comma-separated values with a header; empty: unknown", &csv},
                                  {"watch", "[=SECONDS]", "refresh every SECONDS, default 1", &watch},
                                  {0}};
    const cli_syntax syntax = {
        "devices", "",
        "Shows the devices of this machine: name, utilisation, memory used and total, temperature, power and limit,\n"
        "clocks, and the compute processes on NVIDIA GPUs.\n"
        "N/A: not reported by the system. Units: bytes, degrees Celsius, watts.",
        options, 0};
    int done = cli_parse(&syntax, count, words, NULL);
    if (done >= 0) return done;
    if (json && csv) return cli_usage_error("devices", "--json and --csv are mutually exclusive");
    long seconds = 1;
    if (watch && *watch && !cli_number("devices", "--watch", watch, 1, 3600, &seconds)) return CLI_USAGE;

    row rows[MOST_DEVICES];
    if (describe_all(rows) < 0) return wk_report_error(stderr); /* utilisation is measured from here on */
    nap(SAMPLE_MILLISECONDS);
    if (csv)
        printf("device,name,vendor,driver,is_gpu,compute_units,memory_total,memory_used,utilisation,temperature,power,"
               "api_version,power_limit,core_clock,memory_clock,processes\n");
    for (;;) {
        int found = describe_all(rows);
        if (found < 0) return wk_report_error(stderr);
        if (!json && !csv && watch && cli_is_terminal()) printf("\033[H\033[2J");
        (json ? print_json : csv ? print_csv : print_table)(rows, found);
        if (!watch || ferror(stdout)) return CLI_OK;
        nap(1000 * seconds);
    }
}
