/* The program's own functions that the library calls: hooks, and functions with a gradient of their own. */
#ifndef TESTS_RANDOM_CALLBACKS_H
#define TESTS_RANDOM_CALLBACKS_H

#include "program.h"

/* `user` is the machine. */
extern wk_hook *const callback_hooks[HOOKS];
extern const wk_function_kind callback_functions[FUNCTIONS];
/* Their text in a printed program. */
extern const char *const callback_hook_text[HOOKS], *const callback_function_text[FUNCTIONS];

#endif
