/* SPDX-License-Identifier: Apache-2.0 */
/* wick tour: the GPU tutorial, step by step, on the devices of this machine. */
#include "tour.h"
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

wk_device tour_accelerator(int index)
{
    static const int kinds[] = {WK_CUDA, WK_OPENCL};
    for (int k = 0; k < 2; k++) {
        int count = wk_device_count(kinds[k]);
        if (index < count) return (wk_device){(int16_t)kinds[k], (int16_t)index, 0};
        index -= count;
    }
    return wk_cpu();
}

const char *tour_device(wk_device device)
{
    static char text[64];
    const char *name = wk_device_str(device);
    if (device.kind == WK_CPU)
        snprintf(text, sizeof text, "wk_cpu()");
    else
        snprintf(text, sizeof text, "wk_%.*s(%d)", (int)strcspn(name, ":"), name, device.index);
    return text;
}

void tour_code(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    printf("  %s", cli_color(CLI_BLUE));
    vprintf(format, list);
    printf("%s\n", cli_color(CLI_PLAIN));
    va_end(list);
}

/* ---- X, Y, Z ----------------------------------------------------------------------------------------------------- */

static wk_tensor *given[3];

static wk_tensor *make(char name)
{
    wk_device near = tour_accelerator(0), far = tour_accelerator(1);
    if (name == 'X') {
        tour_code("X = wk_ones((2, 3), .device = %s)", tour_device(near));
        return wk_ones((2, 3), .device = near);
    }
    if (name == 'Y') {
        tour_code("wk_seed(1); Y = wk_rand((2, 3), .device = %s)", tour_device(far));
        wk_seed(1);
        return wk_rand((2, 3), .device = far);
    }
    wk_tensor *x = tour_tensor('X');
    tour_code("Z = wk_to(X, %s)", tour_device(far));
    return wk_to(x, far);
}

wk_tensor *tour_tensor(char name)
{
    wk_tensor **place = &given[name - 'X'];
    if (*place) return *place;
    wk_tensor *made = make(name);
    *place = made ? wk_retain(made) : NULL;
    wk_sync();
    return *place;
}

static void end_given(void)
{
    for (int k = 0; k < 3; k++) {
        wk_free(given[k]);
        given[k] = NULL;
    }
}

/* ---- steps ------------------------------------------------------------------------------------------------------- */

void tour_error(void)
{
    printf("%s%s%s\n", cli_color(CLI_RED), wk_error() ? wk_error() : "(no error)", cli_color(CLI_PLAIN));
    wk_clear_error();
}

static bool show(const tour_step *step)
{
    WK_SCOPE;
    printf("\n%s%d. %s%s\n", cli_color(CLI_BOLD), step->number, step->title, cli_color(CLI_PLAIN));
    if (step->show) step->show();
    wk_sync();
    if (*step->explanation) cli_print_wrapped(4, step->explanation);
    fflush(stdout);
    if (!wk_error()) return true;
    printf("unexpected error:\n");
    tour_error();
    return false;
}

int cli_tour(int count, char **words)
{
    const tour_step *const parts[] = {tour_devices, tour_work, tour_networks};
    const char *only = NULL;
    const cli_option options[] = {{0}};
    const cli_syntax syntax = {
        "tour", "[STEP]",
        "Runs the 23 steps of the GPU tutorial on the devices of this machine: devices, placement of tensors,\n"
        "cost of copies, and reported mistakes. With STEP, runs only that one.",
        options, 1};
    int done = cli_parse(&syntax, count, words, &only);
    if (done >= 0) return done;
    long row = 0;
    if (only && !cli_number("tour", "STEP", only, 1, 23, &row)) return CLI_USAGE;

    int failed = 0;
    printf("GPU tutorial with Wick %s, on cpu", wk_version());
    for (int k = 0; k < 2 && tour_accelerator(k).kind != WK_CPU; k++) printf(" %s", wk_device_str(tour_accelerator(k)));
    printf("\n");
    for (int part = 0; part < 3; part++)
        for (const tour_step *step = parts[part]; step->number; step++)
            if (row == 0 || step->number == row) failed += !show(step);
    end_given();
    return failed ? CLI_FAILED : CLI_OK;
}
