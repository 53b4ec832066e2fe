/* SPDX-License-Identifier: Apache-2.0 */
/* Compiles the source of a cubin to a host library: shim.h, the source that NVRTC received, an entry for each kernel in
 * the cubin, and the host's C++ compiler (STANDIN_CXX, default g++). Results are cached in the folder under a hash of
 * all of these. */
#include "driver.h"
#include "cache_dir.h"

#include <dlfcn.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* The contents of shim.h. */
extern const char standin_shim[] __attribute__((visibility("hidden")));
__asm__(".section .rodata\n.globl standin_shim\n.hidden standin_shim\nstandin_shim:\n.incbin \"" STANDIN_SHIM "\"\n"
        ".byte 0\n.text\n");

/* Loads and stores call the hooks of the thread sanitizer, whose library is not linked; volatile accesses have separate
 * hooks. The other flags: kernels cast pointers and wrap integers as on GPUs, and round products before adding to
 * them. */
static char *const flags[] = {"-x",
                              "c++",
                              "-std=c++17",
                              "-O1",
                              "-w",
                              "-fPIC",
                              "-fno-exceptions",
                              "-fno-rtti",
                              "-fno-strict-aliasing",
                              "-fwrapv",
                              "-ffp-contract=off",
                              "-fvisibility=hidden",
                              "-fsanitize=thread",
                              "--param=tsan-distinguish-volatile=1",
                              "-c"};
enum { FLAGS = sizeof flags / sizeof flags[0] };

static bool run(char *const arguments[])
{
    pid_t child;
    int status;
    if (posix_spawnp(&child, arguments[0], NULL, NULL, arguments, environ) != 0) return false;
    return waitpid(child, &status, 0) == child && status == 0;
}

static bool build(char *compiler, char *source, const char *object)
{
    char part[STANDIN_PATH + 8], library[STANDIN_PATH];
    char *compile[FLAGS + 6] = {compiler},
                          *link[] = {compiler, "-shared", "-nostdlib", part, "-o", library, "-lm", "-lgcc", NULL};
    int n = 1;
    for (int k = 0; k < FLAGS; k++) compile[n++] = flags[k];
    if (__builtin_cpu_supports("fma")) compile[n++] = "-mfma"; /* otherwise each fma calls libm */
    compile[n++] = source;
    compile[n++] = "-o";
    compile[n++] = part;
    standin_other_name(library, object);
    snprintf(part, sizeof part, "%s.o", library);
    const bool good = run(compile) && run(link) && rename(library, object) == 0;
    unlink(part);
    return good;
}

/* Rewrites `extern __shared__ T name[];` as a pointer, which no macro can do. Works in place, because the replacement
 * is not longer. */
static void rewrite_dynamic(char *text)
{
    static const char words[] = "extern __shared__ ";
    for (char *p = text; (p = strstr(p, words)) != NULL; p++) {
        char type[64], name[64], with[160];
        int length = 0;
        if (sscanf(p + sizeof words - 1, "%63[a-zA-Z0-9_] %63[a-zA-Z0-9_][];%n", type, name, &length) != 2) continue;
        if (length == 0) continue;
        length += (int)sizeof words - 1;
        int n = snprintf(with, sizeof with, "SHIM_DYNAMIC(%s,%s);", type, name);
        if (n > length) continue;
        memset(p, ' ', (size_t)length);
        memcpy(p, with, (size_t)n);
    }
}

/* Returns SHIM_ENTRY(name) for each section .text.name of the cubin. The caller frees it. */
static char *entries_of(const char *image)
{
    const char *name, *at;
    size_t bytes, length = 1;
    for (int k = 0; (name = cubin_section(image, k, &at, &bytes)) != NULL; k++) length += strlen(name) + 16;
    char *text = calloc(length, 1), *end = text;
    for (int k = 0; text != NULL && (name = cubin_section(image, k, &at, &bytes)) != NULL; k++)
        if (strncmp(name, ".text.", 6) == 0) end += sprintf(end, "SHIM_ENTRY(%s)\n", name + 6);
    return text;
}

static result compile_text(char *text, const char *entries, void **library)
{
    char object[STANDIN_PATH], source[STANDIN_PATH], other[STANDIN_PATH];
    char *compiler = getenv("STANDIN_CXX");
    if (compiler == NULL) compiler = "g++";
    rewrite_dynamic(text);
    uint64_t hash = standin_hash(standin_hash_start, standin_shim, strlen(standin_shim));
    hash = standin_hash(hash, compiler, strlen(compiler));
    hash = standin_hash(hash, text, strlen(text));
    hash = standin_hash(hash, entries, strlen(entries));
    snprintf(object, sizeof object, "%.900s/%016llx.so", standin_folder(), (unsigned long long)hash);
    if (access(object, R_OK) != 0) {
        const char *const parts[] = {standin_shim, "#line 1 \"kernels.cu\"\n", text, entries};
        snprintf(other, sizeof other, "%.900s/%016llx.cc", standin_folder(), (unsigned long long)hash);
        standin_other_name(source, other);
        if (!standin_write(source, parts, 4)) return OUT_OF_MEMORY;
        if (!build(compiler, source, object)) {
            log_line("the compiler %s failed to compile %s", compiler, source);
            return INVALID_PTX;
        }
        unlink(source);
    }
    *library = dlopen(object, RTLD_NOW | RTLD_LOCAL);
    if (*library == NULL) log_line("%s", dlerror());
    return *library != NULL ? SUCCESS : INVALID_IMAGE;
}

/* Returns true if a device can run code for the architecture in options: code runs on its own and later minor revisions
 * of the same generation; for integrated devices only on its own. */
static bool takes_code(int own, const char *options)
{
    const char *end = strchr(options, '\n'), *named = strstr(options, "=sm_");
    if (end == NULL || named == NULL || named > end) return true;
    const int made_for = atoi(named + 4);
    const bool integrated = device_attribute(context_current()->device, 18, 0) != 0;
    return integrated ? made_for == own : made_for / 10 == own / 10 && made_for <= own;
}

result compile_module(const char *image, int architecture, void **library)
{
    char path[STANDIN_PATH];
    const uint64_t hash = standin_hash(standin_hash_start, image, standin_length(image));
    snprintf(path, sizeof path, "%.900s/%016llx.cu", standin_folder(), (unsigned long long)hash);
    char *text = standin_read(path);
    if (text == NULL) {
        log_line("no source for this cubin in %s; compile it with the stand-in for NVRTC", standin_folder());
        return INVALID_IMAGE;
    }
    if (architecture > 0 && !takes_code(architecture, text)) {
        free(text);
        return NO_BINARY_FOR_GPU;
    }
    char *entries = entries_of(image);
    result code = entries != NULL ? compile_text(text, entries, library) : OUT_OF_MEMORY;
    free(entries);
    free(text);
    return code;
}
