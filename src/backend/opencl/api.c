/* SPDX-License-Identifier: Apache-2.0 */
/* Loads the system's OpenCL loader. */
#include "api.h"

#include "base/platform/dynlib.h"

#include <dlfcn.h>
#include <stdio.h>

wk__cl_functions wk__cl;

const char *wk__cl_load(void)
{
#define WK__CL(result, name, parameters) {"cl" #name, offsetof(wk__cl_functions, name)},
    static const wk__symbol functions[] = {WK__CL_FUNCTIONS(WK__CL)};
#undef WK__CL
    const char *why = wk__why_no_dynlib();
    if (why != NULL) return why;
    void *library = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library == NULL)
        return "the OpenCL loader libOpenCL.so.1 was not found; install it (apt install ocl-icd-libopencl1) and your "
               "device's driver";
    if (!wk__dynlib_resolve(library, functions, sizeof functions / sizeof functions[0], &wk__cl))
        return "the OpenCL loader libOpenCL.so.1 is older than OpenCL 1.2; install a newer one (apt install "
               "ocl-icd-libopencl1)";
    return NULL;
}

const char *wk__cl_error(cl_int error, char buffer[32])
{
    switch (error) {
    case CL_DEVICE_NOT_AVAILABLE: return "CL_DEVICE_NOT_AVAILABLE";
    case CL_MEM_OBJECT_ALLOCATION_FAILURE: return "CL_MEM_OBJECT_ALLOCATION_FAILURE";
    case CL_OUT_OF_RESOURCES: return "CL_OUT_OF_RESOURCES";
    case CL_OUT_OF_HOST_MEMORY: return "CL_OUT_OF_HOST_MEMORY";
    case CL_INVALID_BUFFER_SIZE: return "CL_INVALID_BUFFER_SIZE";
    default: snprintf(buffer, 32, "OpenCL error %d", error); return buffer;
    }
}
