/* SPDX-License-Identifier: Apache-2.0 */
/* Pinning and symbol resolution; see dynlib.h. */
#include "dynlib.h"
#include <dlfcn.h>
#include <link.h>
#include <string.h>

/* Returns the loader's name for the object that contains this address; "" for the program itself. */
static const char *object_name(const void *address)
{
    Dl_info info;
#ifdef RTLD_DL_LINKMAP
    struct link_map *map = NULL;
    return dladdr1(address, &info, (void **)&map, RTLD_DL_LINKMAP) && map ? map->l_name : NULL;
#else
    return dladdr(address, &info) ? info.dli_fname : NULL;
#endif
}

/* libwick.so is linked with -z nodelete; this covers plug-ins that contain libwick.a. */
void wk__dynlib_pin_self(void)
{
    static const char here;
    const char *name = object_name(&here);
    if (name && *name) dlopen(name, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
}

/* The first object is the program. A dynamically linked one has an interpreter segment, which names its loader. */
static int find_interpreter(struct dl_phdr_info *program, size_t size, void *names_loader)
{
    (void)size;
    for (int k = 0; k < program->dlpi_phnum; k++)
        if (program->dlpi_phdr[k].p_type == PT_INTERP) *(bool *)names_loader = true;
    return 1;
}

bool wk__is_static_program(void)
{
    bool names_loader = false;
    dl_iterate_phdr(find_interpreter, &names_loader);
    return !names_loader;
}

const char *wk__why_no_dynlib(void)
{
    if (!wk__is_static_program()) return NULL;
    return "the program is linked with -static, so GPU drivers cannot be loaded; link without -static (libwick.a is "
           "fine)";
}

bool wk__dynlib_resolve(void *library, const wk__symbol symbols[], size_t count, void *table)
{
    for (size_t k = 0; k < count; k++) {
        void *function = dlsym(library, symbols[k].name);
        if (function == NULL) return false;
        memcpy((char *)table + symbols[k].offset, &function, sizeof function);
    }
    return true;
}
