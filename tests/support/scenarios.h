/* SPDX-License-Identifier: Apache-2.0 */
/* Small programs that use much of the library, each giving one figure: tests run them while memory runs out or a device
 * fails, and again afterwards. */
#ifndef TESTS_SUPPORT_SCENARIOS_H
#define TESTS_SUPPORT_SCENARIOS_H

#include "wick.h"

/* Files go to this folder. */
typedef struct scenario_env {
    wk_device device;
    const char *folder;
} scenario_env;

typedef struct scenario {
    const char *name;
    /* The figure, always the same one on a device; NaN when something failed. Everything that was made is
     * gone at the end. */
    double (*run)(const scenario_env *place);
} scenario;

extern const scenario scenarios[];
extern const int scenario_count;

#endif
