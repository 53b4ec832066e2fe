/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the OpenCL loader of the system at run time. */
#include "api.h"

#include "../../base/loading.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

wk__cl_functions wk__cl;

const char *wk__cl_load(void)
{
    static const struct {
        const char *name;
        size_t place;
    } functions[] = {
#define WK__CL(result, name, parameters) {"cl" #name, offsetof(wk__cl_functions, name)},
        WK__CL_FUNCTIONS(WK__CL)
#undef WK__CL
    };
    if (wk__linked_statically()) {
        return "this program is linked with -static, and no driver can be loaded into such a program: leave -static "
               "out "
               "(libwick.a may stay inside)";
    }
    void *library = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        return "the OpenCL loader libOpenCL.so.1 was not found: apt install ocl-icd-libopencl1 and your device's "
               "driver";
    }
    for (size_t k = 0; k < sizeof functions / sizeof functions[0]; k++) {
        void *function = dlsym(library, functions[k].name);
        if (function == NULL) {
            dlclose(library);
            return "the OpenCL loader libOpenCL.so.1 is older than OpenCL 1.2: apt install ocl-icd-libopencl1";
        }
        memcpy((char *)&wk__cl + functions[k].place, &function, sizeof function);
    }
    return NULL; /* the library stays loaded: drivers do not survive being unloaded */
}

const char *wk__cl_error(cl_int error, char room[32])
{
    switch (error) {
    case CL_DEVICE_NOT_AVAILABLE: return "CL_DEVICE_NOT_AVAILABLE";
    case CL_MEM_OBJECT_ALLOCATION_FAILURE: return "CL_MEM_OBJECT_ALLOCATION_FAILURE";
    case CL_OUT_OF_RESOURCES: return "CL_OUT_OF_RESOURCES";
    case CL_OUT_OF_HOST_MEMORY: return "CL_OUT_OF_HOST_MEMORY";
    case CL_INVALID_BUFFER_SIZE: return "CL_INVALID_BUFFER_SIZE";
    default: snprintf(room, 32, "OpenCL error %d", error); return room;
    }
}
