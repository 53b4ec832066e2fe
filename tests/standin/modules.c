/* SPDX-License-Identifier: Apache-2.0 */
/* Modules and their functions. Parameters, shared memory and the maximum number of threads are read from the cubin. */
#include "driver.h"
#include "cache_dir.h"

#include <dlfcn.h>
#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <stdio.h>

const char *cubin_section(const char *image, int k, const char **at, size_t *bytes)
{
    const Elf64_Ehdr *h = (const Elf64_Ehdr *)(const void *)image;
    const Elf64_Shdr *s = (const Elf64_Shdr *)(const void *)(image + h->e_shoff);
    if (k >= h->e_shnum) return NULL;
    *at = image + s[k].sh_offset;
    *bytes = s[k].sh_size;
    return image + s[h->e_shstrndx].sh_offset + s[k].sh_name;
}

bool function_is_alive(const function *f)
{
    for (int d = 0; d < DEVICES; d++)
        for (const module *m = contexts[d].modules; m != NULL; m = m->next)
            for (const function *g = m->functions; g != NULL; g = g->next)
                if (g == f) return true;
    return false;
}

/* ---- functions --------------------------------------------------------------------------------------------------- */

static uint16_t number16(const char *p)
{
    uint16_t value;
    memcpy(&value, p, sizeof value);
    return value;
}

static uint32_t number32(const char *p)
{
    uint32_t value;
    memcpy(&value, p, sizeof value);
    return value;
}

/* A parameter record: index into the constants (4 bytes), ordinal (2), offset (2), a word with the size in bits 18 and
 * up. */
static void note_parameter(function *f, const char *p)
{
    const unsigned k = number16(p + 4);
    if (k >= 256) return;
    f->bytes[k] = (uint16_t)(number32(p + 8) >> 18);
    if ((int)k >= f->parameters) f->parameters = (int)k + 1;
}

/* Reads records of a format (1 byte), an attribute (1) and a value (2); format 4 is followed by that many bytes. */
static void read_info(function *f, const char *p, size_t bytes)
{
    enum { LONG = 4, MOST_THREADS = 0x05, PARAMETER = 0x17 };
    for (const char *end = p + bytes; p + 4 <= end;) {
        const size_t more = p[0] == LONG ? number16(p + 2) : 0;
        if (p[0] == LONG && p[1] == PARAMETER) note_parameter(f, p + 4);
        if (p[0] == LONG && p[1] == MOST_THREADS)
            f->most_threads = number32(p + 4) * number32(p + 8) * number32(p + 12);
        p += 4 + more;
    }
}

static void read_function(function *f, const char *image)
{
    const char *name, *at;
    size_t bytes;
    f->most_threads = FIBRES_THREADS;
    for (int k = 0; (name = cubin_section(image, k, &at, &bytes)) != NULL; k++) {
        if (strncmp(name, ".nv.info.", 9) == 0 && strcmp(name + 9, f->name) == 0) read_info(f, at, bytes);
        if (strncmp(name, ".nv.shared.", 11) == 0 && strcmp(name + 11, f->name) == 0) f->shared = (unsigned)bytes;
    }
    for (int k = 0; k < f->parameters; k++) {
        f->place[k] = (uint16_t)f->argument_bytes;
        f->argument_bytes += (f->bytes[k] + 15u) / 16 * 16;
    }
}

CALL cuModuleGetFunction(function **out, module *of, const char *name)
{
    char symbol[160];
    result code = call_begin(NEEDS_CONTEXT);
    if (code != SUCCESS) return call_end(code);
    const module *m = context_current()->modules;
    while (m != NULL && m != of) m = m->next;
    if (m == NULL) return call_end(INVALID_HANDLE);
    for (function *f = of->functions; f != NULL; f = f->next) {
        if (strcmp(f->name, name) != 0) continue;
        *out = f;
        return call_end(SUCCESS);
    }
    snprintf(symbol, sizeof symbol, "shim_call_%.120s", name);
    if (strlen(name) >= 120 || dlsym(of->library, symbol) == NULL) return call_end(NOT_FOUND);
    function *f = calloc(1, sizeof *f);
    if (f == NULL) return call_end(OUT_OF_MEMORY);
    snprintf(f->name, sizeof f->name, "%s", name);
    read_function(f, of->image);
    f->module = of;
    f->next = of->functions;
    of->functions = f;
    *out = f;
    return call_end(SUCCESS);
}

/* Values of CUfunction_attribute. */
enum {
    MOST_THREADS,
    STATIC_SHARED,
    CONSTANT,
    LOCAL,
    REGISTERS,
    PTX,
    BINARY,
    CACHE,
    MOST_DYNAMIC,
    CARVEOUT,
    ATTRIBUTES
};

CALL cuFuncGetAttribute(int *value, int attribute, const function *f)
{
    char key[16];
    result code = call_begin(NEEDS_CONTEXT);
    if (code == SUCCESS && !function_is_alive(f)) code = INVALID_HANDLE;
    if (code == SUCCESS && (attribute < 0 || attribute >= ATTRIBUTES)) code = INVALID_VALUE;
    if (code != SUCCESS) return call_end(code);
    const int values[ATTRIBUTES] = {[MOST_THREADS] = (int)f->most_threads,
                                    [STATIC_SHARED] = (int)f->shared,
                                    [REGISTERS] = 32,
                                    [PTX] = 90,
                                    [BINARY] = 90,
                                    [MOST_DYNAMIC] =
                                        (int)(f->most_shared > 0 ? f->most_shared : SHARED_BYTES - f->shared),
                                    [CARVEOUT] = -1};
    snprintf(key, sizeof key, "%d", attribute);
    *value = standin_keyed("STANDIN_FUNCTIONS", key, values[attribute]);
    return call_end(SUCCESS);
}

CALL cuFuncSetAttribute(function *f, int attribute, int value)
{
    result code = call_begin(NEEDS_CONTEXT);
    if (code == SUCCESS && !function_is_alive(f)) code = INVALID_HANDLE;
    if (code != SUCCESS) return call_end(code);
    if (attribute == CARVEOUT && value >= -1 && value <= 100) return call_end(SUCCESS);
    if (attribute != MOST_DYNAMIC || value < 0 || (unsigned)value + f->shared > MOST_SHARED_BYTES)
        return call_end(INVALID_VALUE);
    f->most_shared = (unsigned)value + f->shared;
    return call_end(SUCCESS);
}

/* ---- modules ----------------------------------------------------------------------------------------------------- */

/* Finds the cubin that the stand-in for NVRTC left for a PTX text, in place of the driver's own compiler. The caller
 * frees it. */
static char *from_text(int device, const char *text)
{
    char path[STANDIN_PATH];
    const char *target = strstr(text, ".target sm_");
    if (target == NULL || atoi(target + 11) > device_architecture(device)) return NULL;
    const uint64_t hash = standin_hash(standin_hash_start, text, strlen(text));
    snprintf(path, sizeof path, "%.900s/%016llx.cubin", standin_folder(), (unsigned long long)hash);
    return standin_read(path);
}

static result load_code(module **out, const char *image, int architecture)
{
    const size_t length = standin_length(image);
    if (length == 0) return INVALID_IMAGE;
    module *m = calloc(1, sizeof *m);
    if (m == NULL) return OUT_OF_MEMORY;
    result code = compile_module(image, architecture, &m->library);
    m->image = code == SUCCESS ? malloc(length) : NULL;
    if (m->image == NULL) {
        if (m->library != NULL) dlclose(m->library);
        free(m);
        return code != SUCCESS ? code : OUT_OF_MEMORY;
    }
    memcpy(m->image, image, length);
    m->context = context_current();
    m->next = m->context->modules;
    m->context->modules = m;
    *out = m;
    return SUCCESS;
}

static result load(module **out, const char *image)
{
    const int device = context_current()->device;
    if (standin_length(image) > 0 || strstr(image, ".version") == NULL)
        return load_code(out, image, device_architecture(device));
    char *code = from_text(device, image);
    const result loaded = code != NULL ? load_code(out, code, 0) : INVALID_PTX;
    free(code);
    return loaded;
}

CALL cuModuleLoadData(module **out, const void *image)
{
    result code = call_begin(NEEDS_CONTEXT);
    return call_end(code == SUCCESS ? load(out, image) : code);
}

/* The options concern the compilation of PTX, and are ignored. */
CALL cuModuleLoadDataEx(module **out, const void *image, unsigned options, const int *option, void *const *values)
{
    (void)options, (void)option, (void)values;
    result code = call_begin(NEEDS_CONTEXT);
    return call_end(code == SUCCESS ? load(out, image) : code);
}

static void unload(module **link)
{
    module *gone = *link;
    *link = gone->next;
    for (function *f = gone->functions, *next; f != NULL; f = next) {
        next = f->next;
        free(f);
    }
    fibres_forget(gone->library);
    dlclose(gone->library);
    free(gone->image);
    free(gone);
}

/* Does not run pending work first: launches of an unloaded module are refused. */
CALL cuModuleUnload(module *of)
{
    result code = call_begin(NEEDS_CONTEXT);
    if (code != SUCCESS) return call_end(code);
    module **link = &context_current()->modules;
    while (*link != NULL && *link != of) link = &(*link)->next;
    if (*link == NULL) return call_end(INVALID_HANDLE);
    unload(link);
    return call_end(SUCCESS);
}

void modules_end(context *c)
{
    while (c->modules != NULL) unload(&c->modules);
}
