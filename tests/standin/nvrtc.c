/* SPDX-License-Identifier: Apache-2.0 */
/* A stand-in for libnvrtc that forwards to the real one, which STANDIN_NVRTC names. For the stand-in driver, it keeps
 * each source under the hash of its cubin, with the options in the first line.
 *
 * Cubins that were compiled without warnings are cached under a hash of the version, the options and the source, so
 * that no process compiles the same source twice. With STANDIN_KEEPS=no, for tests of the compiler itself, every
 * compilation runs.
 *
 * PTX is replaced by a cubin for the generation of the stand-in's devices, compiled from the source, whatever its
 * target, as if the driver had compiled it.
 *
 * STANDIN_ERRORS lists errors of calls (driver.h); STANDIN_ARCHS (80,90) the architectures that it reports.
 *
 * With STANDIN_NVRTC_VERSION=13.0 it serves kernels that were compiled elsewhere for sm_90 by that version
 * (scripts/gpu-check): it reports that version and refuses every source; the real one is not needed. */
#include "backend/cuda/api.h"
#include "cache_dir.h"
#include "settings.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define CALL __attribute__((visibility("default")))
enum { INVALID_PROGRAM = 4, INTERNAL_ERROR = 11, ARCHIVED_ARCHITECTURE = 90 };
static const char no_compiler[] = "error: this kernel is not in the archive, and there is no NVRTC to compile it";

typedef struct program {
    nvrtcProgram real; /* NULL without a real NVRTC */
    char *text, *options;
    char *kept; /* the cached cubin */
} program;

/* ---- the real NVRTC ---------------------------------------------------------------------------------------------- */

static wk__nvrtc_functions real;
static bool loaded;

static bool is_archived(int *major, int *minor)
{
    const char *given = getenv("STANDIN_NVRTC_VERSION");
    return given != NULL && sscanf(given, "%d.%d", major, minor) == 2;
}

static void load(void)
{
    const char *given = getenv("STANDIN_NVRTC");
    void *library = given != NULL ? dlopen(given, RTLD_NOW | RTLD_LOCAL) : NULL;
    loaded = library != NULL && wk__nvrtc_fill(library, &real);
    int major, minor;
    if (!loaded && !is_archived(&major, &minor))
        fprintf(stderr, "stand-in: STANDIN_NVRTC names no NVRTC: export STANDIN_NVRTC=$(scripts/find_nvrtc)\n");
}

static bool is_there(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load);
    return loaded;
}

/* Counts a call. Returns the error that STANDIN_ERRORS requests, or 0. */
static int begin_as(const char *name)
{
    int major, minor;
    const int injected = standin_count_call(name);
    return is_there() || is_archived(&major, &minor) ? injected : INTERNAL_ERROR;
}
#define begin() begin_as(__func__)

/* ---- public calls ------------------------------------------------------------------------------------------------ */

CALL int nvrtcVersion(int *major, int *minor)
{
    const int injected = begin();
    if (injected != 0 || is_archived(major, minor)) return injected;
    return real.Version(major, minor);
}

CALL int nvrtcGetNumSupportedArchs(int *count)
{
    const int injected = begin();
    const char *given = getenv("STANDIN_ARCHS");
    if (injected != 0) return injected;
    if (given == NULL && is_there()) return real.GetNumSupportedArchs(count);
    *count = 1;
    for (const char *p = given; p != NULL && *p != '\0'; p++) *count += *p == ',';
    return 0;
}

CALL int nvrtcGetSupportedArchs(int *arch)
{
    int count;
    const int injected = begin();
    if (injected != 0) return injected;
    if (getenv("STANDIN_ARCHS") == NULL && is_there()) return real.GetSupportedArchs(arch);
    nvrtcGetNumSupportedArchs(&count);
    for (int k = 0; k < count; k++) arch[k] = standin_number("STANDIN_ARCHS", k, ARCHIVED_ARCHITECTURE);
    return 0;
}

CALL int nvrtcCreateProgram(program **out, const char *text, const char *name, int headers, const char *const *header,
                            const char *const *header_name)
{
    const int injected = begin();
    if (injected != 0) return injected;
    program *p = calloc(1, sizeof *p);
    if (p == NULL) return INTERNAL_ERROR;
    int code = is_there() ? real.CreateProgram(&p->real, text, name, headers, header, header_name) : NVRTC_SUCCESS;
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
    int code = (*p)->real != NULL ? real.DestroyProgram(&(*p)->real) : NVRTC_SUCCESS;
    free((*p)->text);
    free((*p)->options);
    free((*p)->kept);
    free(*p);
    *p = NULL;
    return code;
}

/* ---- cache of compiled sources ----------------------------------------------------------------------------------- */

/* Sets path to the cache file. Returns false for PTX, which is compiled for the stand-in's devices and not cached. */
static bool kept_path(const program *p, char path[STANDIN_PATH])
{
    int version[2];
    if (getenv("STANDIN_KEEPS") != NULL) return false;
    if (strstr(p->options, "=sm_") == NULL || real.Version(&version[0], &version[1]) != NVRTC_SUCCESS) return false;
    uint64_t hash = standin_hash(standin_hash_start, version, sizeof version);
    hash = standin_hash(hash, p->options, strlen(p->options));
    hash = standin_hash(hash, p->text, strlen(p->text));
    snprintf(path, STANDIN_PATH, "%.900s/%016llx.kept", standin_folder(), (unsigned long long)hash);
    return true;
}

/* Compiles the source in a separate process (compile_worker.c), which writes the cubin to the cache unless there are
 * warnings. If that program is missing, nothing is cached. */
static void compile_apart(const program *p, int options, const char *const *option, const char *path)
{
    enum { MOST = 16, WORDS = 4 };
    char tool[STANDIN_PATH + 8], text[STANDIN_PATH], *words[WORDS + MOST + 1] = {tool, getenv("STANDIN_NVRTC"), text};
    const char *const part[] = {p->text};
    Dl_info own;
    pid_t child;
    int status;
    if (options > MOST || words[1] == NULL || dladdr((const void *)&loaded, &own) == 0) return;
    char *file = realpath(own.dli_fname, NULL), *slash = file != NULL ? strrchr(file, '/') : NULL;
    snprintf(tool, sizeof tool, "%.*s/apart", slash != NULL ? (int)(slash - file) : 0, file != NULL ? file : "");
    free(file);
    standin_other_name(text, path);
    words[3] = (char *)(uintptr_t)path;
    for (int k = 0; k < options; k++) words[WORDS + k] = (char *)(uintptr_t)option[k];
    if (!standin_write(text, part, 1)) return;
    if (posix_spawn(&child, tool, NULL, NULL, words, environ) == 0)
        while (waitpid(child, &status, 0) < 0 && errno == EINTR)
            ;
    unlink(text);
}

static int compile(program *p, int options, const char *const *option)
{
    char path[STANDIN_PATH];
    const bool may_be_kept = kept_path(p, path);
    free(p->kept);
    p->kept = may_be_kept ? standin_read(path) : NULL;
    if (p->kept == NULL && may_be_kept) {
        compile_apart(p, options, option, path);
        p->kept = standin_read(path);
    }
    return p->kept != NULL ? NVRTC_SUCCESS : real.CompileProgram(p->real, options, option);
}

/* ---- public calls for programs ----------------------------------------------------------------------------------- */

CALL int nvrtcCompileProgram(program *p, int options, const char *const *option)
{
    size_t bytes = 8;
    const int injected = begin();
    if (injected != 0) return injected;
    for (int k = 0; k < options; k++) bytes += strlen(option[k]) + 1;
    free(p->options);
    p->options = calloc(bytes, 1);
    if (p->options == NULL) return INTERNAL_ERROR;
    strcpy(p->options, "//");
    for (int k = 0; k < options; k++) strcat(strcat(p->options, " "), option[k]);
    strcat(p->options, "\n");
    return p->real != NULL ? compile(p, options, option) : NVRTC_ERROR_COMPILATION;
}

CALL int nvrtcGetProgramLogSize(program *p, size_t *bytes)
{
    const int injected = begin();
    if (injected != 0) return injected;
    if (p->real != NULL && p->kept == NULL) return real.GetProgramLogSize(p->real, bytes);
    *bytes = p->kept != NULL ? 1 : sizeof no_compiler;
    return NVRTC_SUCCESS;
}

CALL int nvrtcGetProgramLog(program *p, char *log)
{
    const int injected = begin();
    if (injected != 0) return injected;
    if (p->kept != NULL)
        *log = '\0';
    else if (p->real != NULL)
        return real.GetProgramLog(p->real, log);
    else
        memcpy(log, no_compiler, sizeof no_compiler);
    return NVRTC_SUCCESS;
}

CALL int nvrtcGetPTXSize(program *p, size_t *bytes)
{
    const int injected = begin();
    return injected != 0 ? injected : real.GetPTXSize(p->real, bytes);
}

CALL int nvrtcGetCUBINSize(program *p, size_t *bytes)
{
    const int injected = begin();
    if (injected != 0 || p->kept == NULL) return injected != 0 ? injected : real.GetCUBINSize(p->real, bytes);
    *bytes = standin_length(p->kept);
    return NVRTC_SUCCESS;
}

/* Keeps the source with its options for the stand-in driver. */
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
    const int injected = begin();
    int code = injected;
    if (code == 0 && p->kept != NULL)
        memcpy(cubin, p->kept, standin_length(p->kept));
    else if (code == 0)
        code = real.GetCUBIN(p->real, cubin);
    return code != 0 || keep(p, cubin) ? code : INTERNAL_ERROR;
}

/* Compiles the source to a cubin, from which the stand-in reads only the parameters. The caller frees it. */
static char *cubin_of(const program *p, size_t *bytes)
{
    static const char *const option[] = {"--gpu-architecture=sm_90", "--fmad=false"};
    nvrtcProgram other = NULL;
    char *cubin = NULL;
    if (real.CreateProgram(&other, p->text, "text.cu", 0, NULL, NULL) != 0) return NULL;
    if (real.CompileProgram(other, 2, option) == 0 && real.GetCUBINSize(other, bytes) == 0) cubin = malloc(*bytes);
    if (cubin != NULL) real.GetCUBIN(other, cubin);
    real.DestroyProgram(&other);
    return cubin;
}

CALL int nvrtcGetPTX(program *p, char *ptx)
{
    char path[STANDIN_PATH];
    size_t bytes = 0;
    const int injected = begin();
    const int code = injected != 0 ? injected : real.GetPTX(p->real, ptx);
    if (code != 0) return code;
    char *cubin = cubin_of(p, &bytes);
    const uint64_t hash = standin_hash(standin_hash_start, ptx, strlen(ptx));
    snprintf(path, sizeof path, "%.900s/%016llx.cubin", standin_folder(), (unsigned long long)hash);
    const bool good = cubin != NULL && keep(p, cubin) && standin_write_bytes(path, cubin, bytes);
    free(cubin);
    return good ? 0 : INTERNAL_ERROR;
}
