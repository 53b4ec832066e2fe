/* SPDX-License-Identifier: Apache-2.0 */
/* Small programs that together use most of the library, each with one number as its result. Tests run them while memory
 * runs out or a device fails, and again without failures. */
#ifndef TESTS_SUPPORT_SCENARIOS_H
#define TESTS_SUPPORT_SCENARIOS_H

#include "wick.h"

/* Device and folder of a scenario. */
typedef struct scenario_env {
    wk_device device;
    const char *folder;
} scenario_env;

typedef struct scenario {
    const char *name;
    /* Returns the result, the same on every run on a device, or NaN on failure. Frees everything it creates. */
    double (*run)(const scenario_env *place);
} scenario;

extern const scenario scenarios[];
extern const int scenario_count;

#endif
