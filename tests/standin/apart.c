/* SPDX-License-Identifier: Apache-2.0 */
/* apart NVRTC TEXT CUBIN OPTION...: compiles the file TEXT with that NVRTC into the file CUBIN, if the compiler takes
 * it and has nothing to say. The stand-in for NVRTC starts this program for each text: in a process with
 * AddressSanitizer the compiler takes twice as long, as each of its allocations goes through the sanitizer. */
#include "../../src/backend/cuda/api.h"
#include "folder.h"

#include <dlfcn.h>
#include <stdlib.h>

static wk__nvrtc_functions nvrtc;

/* A warning is left to the process that asks: kept, it would be seen once only. */
static bool keep_cubin(nvrtcProgram program, const char *path)
{
    size_t log = 0, bytes = 0;
    if (nvrtc.GetProgramLogSize(program, &log) != NVRTC_SUCCESS || log > 1) return false;
    if (nvrtc.GetCUBINSize(program, &bytes) != NVRTC_SUCCESS) return false;
    char *cubin = malloc(bytes);
    return cubin != NULL && nvrtc.GetCUBIN(program, cubin) == NVRTC_SUCCESS && standin_write_bytes(path, cubin, bytes);
}

int main(int argc, char **argv)
{
    enum { WORDS = 4 };
    nvrtcProgram program;
    void *library = argc > WORDS ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    char *text = library != NULL && wk__nvrtc_fill(library, &nvrtc) ? standin_read(argv[2]) : NULL;
    if (text == NULL || nvrtc.CreateProgram(&program, text, "wick.cu", 0, NULL, NULL) != NVRTC_SUCCESS) return 1;
    const int code = nvrtc.CompileProgram(program, argc - WORDS, (const char *const *)(argv + WORDS));
    return code != NVRTC_SUCCESS || !keep_cubin(program, argv[3]);
}
