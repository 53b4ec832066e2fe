/* SPDX-License-Identifier: Apache-2.0 */
/* Loads NVRTC's functions and a library that NVRTC depends on. Also used by the stand-in for NVRTC (tests/standin), so
 * it depends only on the dynamic loader. */
#include "base/platform/dynlib.h"
#include "api.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

/* NVRTC opens its builtins library by name without a directory. If both are in a directory that the loader doesn't
 * search, such as that of a Python package, it is found because it is already loaded. */
static void load_builtins(const wk__nvrtc_functions *nvrtc)
{
    int major, minor;
    Dl_info place;
    void *function;
    char path[4096];
    memcpy(&function, &nvrtc->Version, sizeof function);
    if (nvrtc->Version(&major, &minor) != NVRTC_SUCCESS || dladdr(function, &place) == 0) return;
    const char *end = strrchr(place.dli_fname, '/');
    if (end == NULL) return;
    const int wanted = snprintf(path, sizeof path, "%.*s/libnvrtc-builtins.so.%d.%d", (int)(end - place.dli_fname),
                                place.dli_fname, major, minor);
    if (wanted > 0 && (size_t)wanted < sizeof path) dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

bool wk__nvrtc_fill(void *library, wk__nvrtc_functions *table)
{
#define SYMBOL(name, parameters) {"nvrtc" #name, offsetof(wk__nvrtc_functions, name)},
    static const wk__symbol symbols[] = {WK__NVRTC_FUNCTIONS(SYMBOL)};
#undef SYMBOL
    if (!wk__dynlib_resolve(library, symbols, sizeof symbols / sizeof symbols[0], table)) return false;
    load_builtins(table);
    return true;
}
