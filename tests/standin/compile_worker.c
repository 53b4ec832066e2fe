/* SPDX-License-Identifier: Apache-2.0 */
/* Usage: apart NVRTC TEXT CUBIN OPTION...
 *
 * Compiles the file TEXT with that NVRTC and writes the cubin to CUBIN if there are no errors and no warnings. With
 * warnings, it writes CUBIN.warned (the warnings, then the source) for tests/backend/cuda/matrix.c. The stand-in for
 * NVRTC starts this program for each source, because NVRTC takes twice as long in a process with AddressSanitizer,
 * which intercepts each of its allocations. */
#include "backend/cuda/api.h"
#include "cache_dir.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

static wk__nvrtc_functions nvrtc;

static bool keep_warning(nvrtcProgram program, size_t bytes, const char *path, const char *text)
{
    char name[STANDIN_PATH + 8], *log = calloc(bytes + 1, 1);
    snprintf(name, sizeof name, "%s" STANDIN_WARNED, path);
    const char *const parts[] = {log, "\n", text};
    return log != NULL && nvrtc.GetProgramLog(program, log) == NVRTC_SUCCESS && standin_write(name, parts, 3);
}

/* Writes the cubin unless there are warnings. With a cached cubin, a warning would be reported only once, so the
 * calling process compiles such a source again. */
static bool keep(nvrtcProgram program, const char *path, const char *text)
{
    size_t log = 0, bytes = 0;
    if (nvrtc.GetProgramLogSize(program, &log) != NVRTC_SUCCESS) return false;
    if (log > 1) return keep_warning(program, log, path, text);
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
    return code != NVRTC_SUCCESS || !keep(program, argv[3], text);
}
