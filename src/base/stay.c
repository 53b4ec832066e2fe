/* Loaded for good; see stay.h. libwick.so says so itself (-z nodelete); a plug-in with libwick.a inside is linked by somebody who
 * does not know that it has to. */
#include "stay.h"
#include <dlfcn.h>
#include <link.h>
#include <stddef.h>

#ifdef RTLD_DL_LINKMAP /* glibc's: the name by which the loader knows it, "" for the program itself */
static const char *object_name(const void *address)
{
    Dl_info info;
    struct link_map *map = NULL;
    return dladdr1(address, &info, (void **)&map, RTLD_DL_LINKMAP) && map ? map->l_name : NULL;
}
#else
static const char *object_name(const void *address)
{
    Dl_info info;
    return dladdr(address, &info) ? info.dli_fname : NULL;
}
#endif

void wk__stay_loaded(void)
{
    static const char here;
    const char *name = object_name(&here);
    if (name && *name) dlopen(name, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
}
