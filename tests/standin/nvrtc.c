/* SPDX-License-Identifier: Apache-2.0 */
/* A stand-in for libnvrtc: the real one does the work. The text is kept under the hash of the cubin, for the stand-in
 * driver, with the options in its first line.
 *
 * Text (PTX) is compiled for the stand-in's driver at once, as if that did it, from the source and for the same
 * generation of cards whatever the text is for.
 *
 * STANDIN_ERRORS has errors of calls (driver.h); STANDIN_ARCHS, 80,90, what it says that it compiles for.
 *
 * The real one is the file that STANDIN_NVRTC names, else where CUDA is installed, else where the loader finds it. */
#include "folder.h"
#include "settings.h"

#include <dlfcn.h>
#include <glob.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CALL __attribute__((visibility("default")))
enum { INVALID_PROGRAM = 4, INTERNAL_ERROR = 11 };

typedef struct program {
    void *real;
    char *text, *options;
} program;

/* ---- the real one ------------------------------------------------------------------------------------------------ */

static struct {
    int (*nvrtcVersion)(int *major, int *minor);
    const char *(*nvrtcGetErrorString)(int code);
    int (*nvrtcCreateProgram)(void **program, const char *text, const char *name, int headers,
                              const char *const *header, const char *const *header_name);
    int (*nvrtcDestroyProgram)(void **program);
    int (*nvrtcCompileProgram)(void *program, int options, const char *const *option);
    int (*nvrtcGetProgramLogSize)(void *program, size_t *bytes);
    int (*nvrtcGetProgramLog)(void *program, char *log);
    int (*nvrtcGetCUBINSize)(void *program, size_t *bytes);
    int (*nvrtcGetCUBIN)(void *program, char *cubin);
    int (*nvrtcGetPTXSize)(void *program, size_t *bytes);
    int (*nvrtcGetPTX)(void *program, char *ptx);
    int (*nvrtcGetNumSupportedArchs)(int *count);
    int (*nvrtcGetSupportedArchs)(int *arch);
} real;
static bool loaded;

/* Not this one, which has the name that the real one has. */
static void *open_other(const char *path)
{
    Dl_info mine, found;
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    void *symbol = library != NULL ? dlsym(library, "nvrtcVersion") : NULL;
    if (symbol != NULL && dladdr(symbol, &found) != 0 && dladdr((void *)&real, &mine) != 0 &&
        found.dli_fbase != mine.dli_fbase)
        return library;
    if (library != NULL) dlclose(library);
    return NULL;
}

static void *find_real(void)
{
    static const char *const patterns[] = {"/usr/local/cuda*/lib*/libnvrtc.so.13",
                                           "/usr/local/cuda*/lib*/libnvrtc.so.12", "/usr/lib/*/libnvrtc.so.1[23]"};
    const char *given = getenv("STANDIN_NVRTC");
    if (given != NULL) return open_other(given);
    void *library = NULL;
    for (size_t k = 0; k < sizeof patterns / sizeof patterns[0] && library == NULL; k++) {
        glob_t found;
        if (glob(patterns[k], 0, NULL, &found) != 0) continue;
        for (size_t p = 0; p < found.gl_pathc && library == NULL; p++) library = open_other(found.gl_pathv[p]);
        globfree(&found);
    }
    if (library == NULL) library = open_other("libnvrtc.so.13");
    return library != NULL ? library : open_other("libnvrtc.so.12");
}

/* It opens a library beside it by the bare name, which the loader finds if that is there already. */
static void load_builtins(const char *folder, size_t length)
{
    int major, minor;
    char path[512];
    if (real.nvrtcVersion(&major, &minor) != 0) return;
    snprintf(path, sizeof path, "%.*s/libnvrtc-builtins.so.%d.%d", (int)length, folder, major, minor);
    dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

static void load(void)
{
    static const struct {
        const char *name;
        void *to;
    } functions[] = {
#define ONE(name) {#name, &real.name}
        ONE(nvrtcVersion),           ONE(nvrtcGetErrorString), ONE(nvrtcCreateProgram),
        ONE(nvrtcDestroyProgram),    ONE(nvrtcCompileProgram), ONE(nvrtcGetProgramLogSize),
        ONE(nvrtcGetProgramLog),     ONE(nvrtcGetCUBINSize),   ONE(nvrtcGetCUBIN),
        ONE(nvrtcGetPTXSize),        ONE(nvrtcGetPTX),         ONE(nvrtcGetNumSupportedArchs),
        ONE(nvrtcGetSupportedArchs),
#undef ONE
    };
    void *library = find_real();
    loaded = library != NULL;
    for (size_t k = 0; k < sizeof functions / sizeof functions[0] && loaded; k++) {
        void *function = dlsym(library, functions[k].name);
        memcpy(functions[k].to, &function, sizeof function);
        loaded = function != NULL;
    }
    Dl_info found;
    void *version;
    memcpy(&version, &real.nvrtcVersion, sizeof version);
    if (!loaded || dladdr(version, &found) == 0) return;
    const char *end = strrchr(found.dli_fname, '/');
    if (end != NULL) load_builtins(found.dli_fname, (size_t)(end - found.dli_fname));
}

static bool is_there(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load);
    return loaded;
}

/* Counts a call. The error that it ends with, 0: none. */
static int begin_as(const char *name)
{
    const int told = standin_called(name);
    return is_there() ? told : INTERNAL_ERROR;
}
#define begin() begin_as(__func__)

/* ---- what programs call ------------------------------------------------------------------------------------------ */

CALL int nvrtcVersion(int *major, int *minor)
{
    const int told = begin();
    return told != 0 ? told : real.nvrtcVersion(major, minor);
}

CALL const char *nvrtcGetErrorString(int code)
{
    return is_there() ? real.nvrtcGetErrorString(code) : "the stand-in finds no NVRTC to forward to";
}

CALL int nvrtcGetNumSupportedArchs(int *count)
{
    const int told = begin();
    if (told != 0 || getenv("STANDIN_ARCHS") == NULL) return told != 0 ? told : real.nvrtcGetNumSupportedArchs(count);
    *count = 1;
    for (const char *p = getenv("STANDIN_ARCHS"); *p != '\0'; p++) *count += *p == ',';
    return 0;
}

CALL int nvrtcGetSupportedArchs(int *arch)
{
    int count;
    const int told = begin();
    if (told != 0 || getenv("STANDIN_ARCHS") == NULL) return told != 0 ? told : real.nvrtcGetSupportedArchs(arch);
    nvrtcGetNumSupportedArchs(&count);
    for (int k = 0; k < count; k++) arch[k] = standin_number("STANDIN_ARCHS", k, 0);
    return 0;
}

CALL int nvrtcCreateProgram(program **out, const char *text, const char *name, int headers, const char *const *header,
                            const char *const *header_name)
{
    const int told = begin();
    if (told != 0) return told;
    program *p = calloc(1, sizeof *p);
    if (p == NULL) return INTERNAL_ERROR;
    int code = real.nvrtcCreateProgram(&p->real, text, name, headers, header, header_name);
    if (code == 0) p->text = strdup(text);
    if (code != 0) {
        free(p);
        return code;
    }
    *out = p;
    return 0;
}

CALL int nvrtcDestroyProgram(program **p)
{
    if (p == NULL || *p == NULL) return INVALID_PROGRAM;
    int code = real.nvrtcDestroyProgram(&(*p)->real);
    free((*p)->text);
    free((*p)->options);
    free(*p);
    *p = NULL;
    return code;
}

CALL int nvrtcCompileProgram(program *p, int options, const char *const *option)
{
    size_t bytes = 8;
    const int told = begin();
    if (told != 0) return told;
    for (int k = 0; k < options; k++) bytes += strlen(option[k]) + 1;
    free(p->options);
    p->options = calloc(bytes, 1);
    if (p->options == NULL) return INTERNAL_ERROR;
    strcpy(p->options, "//");
    for (int k = 0; k < options; k++) strcat(strcat(p->options, " "), option[k]);
    strcat(p->options, "\n");
    return real.nvrtcCompileProgram(p->real, options, option);
}

CALL int nvrtcGetProgramLogSize(program *p, size_t *bytes)
{
    const int told = begin();
    return told != 0 ? told : real.nvrtcGetProgramLogSize(p->real, bytes);
}

CALL int nvrtcGetProgramLog(program *p, char *log)
{
    const int told = begin();
    return told != 0 ? told : real.nvrtcGetProgramLog(p->real, log);
}

CALL int nvrtcGetPTXSize(program *p, size_t *bytes)
{
    const int told = begin();
    return told != 0 ? told : real.nvrtcGetPTXSize(p->real, bytes);
}

CALL int nvrtcGetCUBINSize(program *p, size_t *bytes)
{
    const int told = begin();
    return told != 0 ? told : real.nvrtcGetCUBINSize(p->real, bytes);
}

/* Keeps the text with its options, for the driver's stand-in. */
static bool keep(const program *p, const char *cubin)
{
    char path[STANDIN_PATH];
    const uint64_t hash = standin_hash(standin_hash_start, cubin, standin_length(cubin));
    snprintf(path, sizeof path, "%.900s/%016llx.cu", standin_folder(), (unsigned long long)hash);
    const char *const parts[] = {p->options, p->text};
    return standin_write(path, parts, 2);
}

CALL int nvrtcGetCUBIN(program *p, char *cubin)
{
    const int told = begin();
    const int code = told != 0 ? told : real.nvrtcGetCUBIN(p->real, cubin);
    return code != 0 || keep(p, cubin) ? code : INTERNAL_ERROR;
}

/* A cubin of the same text, of which the stand-in reads parameters only. The caller frees it. */
static char *cubin_of(const program *p, size_t *bytes)
{
    static const char *const option[] = {"--gpu-architecture=sm_90", "--fmad=false"};
    void *other = NULL;
    char *cubin = NULL;
    if (real.nvrtcCreateProgram(&other, p->text, "text.cu", 0, NULL, NULL) != 0) return NULL;
    if (real.nvrtcCompileProgram(other, 2, option) == 0 && real.nvrtcGetCUBINSize(other, bytes) == 0)
        cubin = malloc(*bytes);
    if (cubin != NULL) real.nvrtcGetCUBIN(other, cubin);
    real.nvrtcDestroyProgram(&other);
    return cubin;
}

CALL int nvrtcGetPTX(program *p, char *ptx)
{
    char path[STANDIN_PATH];
    size_t bytes = 0;
    const int told = begin();
    const int code = told != 0 ? told : real.nvrtcGetPTX(p->real, ptx);
    if (code != 0) return code;
    char *cubin = cubin_of(p, &bytes);
    const uint64_t hash = standin_hash(standin_hash_start, ptx, strlen(ptx));
    snprintf(path, sizeof path, "%.900s/%016llx.cubin", standin_folder(), (unsigned long long)hash);
    const bool good = cubin != NULL && keep(p, cubin) && standin_write_bytes(path, cubin, bytes);
    free(cubin);
    return good ? 0 : INTERNAL_ERROR;
}
