/* SPDX-License-Identifier: Apache-2.0 */
/* Compiles kernels for architectures that are not present. The stand-in for NVRTC keeps each source that the programs
 * of mode cuda compile, with the warnings for sm_90. This program compiles them with NVRTC for seven architectures,
 * prints warnings, and counts register spills and the cubins' registers, local memory (including arrays with dynamic
 * indices) and shared memory. The kernels of `wick bench gpu` are listed one by one and must not spill.
 *
 * By default it compiles one source in sixteen, chosen by its hash, for a third of the architectures at a time
 * (test_has_turn). With WICK_MATRIX=all (make cuda-matrix), or a list such as "75 120", it compiles all sources for
 * all, or for those architectures. Totals of architectures for which all sources were compiled are kept in
 * results/cuda/matrix_sm_75 and so on, so that architectures can be done one at a time. Sources older than the library
 * belong to another build and are ignored. Logs and cubins are cached in the folder `compiled` by source, architecture
 * and compiler. */
#include "backend/cuda/api.h"
#include "standin/cache_dir.h"
#include "support/turns.h"

#include <dlfcn.h>
#include <elf.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

enum { ONE_IN = 16, PARTS = 3, MOST_KERNELS = 4096 };
static const int architectures[] = {75, 80, 86, 89, 90, 100, 120};
enum { ARCHITECTURES = sizeof architectures / sizeof *architectures };

static wk__nvrtc_functions nvrtc;

/* ---- cubins ------------------------------------------------------------------------------------------------------ */

typedef struct kernel {
    char name[24];
    unsigned symbol;                         /* symbol index in the cubin */
    unsigned registers, local_bytes, shared; /* registers and local memory per thread, shared memory per block */
} kernel;

typedef struct cubin {
    const char *image;
    const Elf64_Ehdr *header;
    const Elf64_Shdr *section;
} cubin;

static const char *name_of(const cubin *c, int section)
{
    return c->image + c->section[c->header->e_shstrndx].sh_offset + c->section[section].sh_name;
}

static uint32_t number(const char *at)
{
    uint32_t value;
    memcpy(&value, at, sizeof value);
    return value;
}

static kernel *kernel_of(kernel *all, int count, unsigned symbol)
{
    for (int k = 0; k < count; k++)
        if (all[k].symbol == symbol) return &all[k];
    return NULL;
}

/* Reads .nv.info: records of a format (1 byte), an attribute (1) and a length (2); those of interest contain a symbol
 * and a number. */
static void read_info(const cubin *c, int section, kernel *all, int count)
{
    enum { LONG = 4, FRAME = 0x11, REGISTERS = 0x2f };
    const char *p = c->image + c->section[section].sh_offset, *end = p + c->section[section].sh_size;
    while (p + 4 <= end) {
        const unsigned length = p[0] == LONG ? number(p) >> 16 : 0;
        kernel *k = length >= 8 ? kernel_of(all, count, number(p + 4)) : NULL;
        if (k != NULL && p[1] == REGISTERS) k->registers = number(p + 8);
        if (k != NULL && p[1] == FRAME) k->local_bytes = number(p + 8);
        p += 4 + length;
    }
}

/* Reads the kernels of a cubin; functions that they call are local symbols, which are skipped. */
static int read_kernels(const char *image, kernel *all, int most)
{
    const Elf64_Ehdr *header = (const Elf64_Ehdr *)(const void *)image;
    const cubin c = {image, header, (const Elf64_Shdr *)(const void *)(image + header->e_shoff)};
    int count = 0;
    for (int s = 0; s < header->e_shnum; s++) {
        if (c.section[s].sh_type != SHT_SYMTAB) continue;
        const Elf64_Sym *symbol = (const Elf64_Sym *)(const void *)(image + c.section[s].sh_offset);
        const char *names = image + c.section[c.section[s].sh_link].sh_offset;
        for (unsigned k = 0; k < c.section[s].sh_size / sizeof *symbol && count < most; k++) {
            if (symbol[k].st_info != ELF64_ST_INFO(STB_GLOBAL, STT_FUNC)) continue;
            all[count] = (kernel){.symbol = k};
            snprintf(all[count++].name, sizeof all->name, "%s", names + symbol[k].st_name);
        }
    }
    for (int s = 0; s < header->e_shnum; s++) {
        const char *name = name_of(&c, s);
        if (strcmp(name, ".nv.info") == 0) read_info(&c, s, all, count);
        if (strncmp(name, ".nv.shared.", 11) != 0) continue;
        for (int k = 0; k < count; k++)
            if (strcmp(name + 11, all[k].name) == 0) all[k].shared = (unsigned)c.section[s].sh_size;
    }
    return count;
}

/* ---- compiling --------------------------------------------------------------------------------------------------- */

/* Totals of one architecture. */
typedef struct tally {
    int texts, kernels, refused, warned, spilling,
        with_local; /* the second and the last count kernels, the others sources */
    unsigned most_registers, most_local, most_shared;
    double seconds;
} tally;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void add_function(tally *t, const kernel *k)
{
    t->kernels++;
    t->with_local += k->local_bytes > 0;
    if (k->registers > t->most_registers) t->most_registers = k->registers;
    if (k->local_bytes > t->most_local) t->most_local = k->local_bytes;
    if (k->shared > t->most_shared) t->most_shared = k->shared;
}

/* Parses the compiler's log: spills per function (-v prints them), and warnings, which are printed. */
static void read_log(char *log, const char *path, int architecture, bool *warned, bool *spilled)
{
    char *rest = NULL;
    *warned = *spilled = false;
    for (char *line = log != NULL ? strtok_r(log, "\n", &rest) : NULL; line; line = strtok_r(NULL, "\n", &rest)) {
        const char *frame = strstr(line, "bytes stack frame, ");
        unsigned stores = 0, loads = 0;
        if (frame != NULL)
            sscanf(frame, "bytes stack frame, %u bytes spill stores, %u bytes spill loads", &stores, &loads);
        if (stores + loads > 0) *spilled = true;
        const bool asked_for = frame != NULL || strncmp(line, "ptxas info", 10) == 0 || line[strspn(line, " ")] == 0;
        if (!asked_for) *warned = true;
        if (!asked_for || stores + loads > 0) printf("%s for sm_%d: %.300s\n", path, architecture, line);
    }
}

/* Log and cubin of a compilation; cubin is NULL if the compiler rejected the source. */
typedef struct compiled {
    char *log, *image;
} compiled;

enum { OPTIONS = 3 };

static compiled run_compiler(const char *text, const char *const options[OPTIONS], size_t *image_bytes)
{
    compiled to = {0};
    nvrtcProgram program;
    size_t bytes = 0;
    *image_bytes = 0;
    if (nvrtc.CreateProgram(&program, text, "wick.cu", 0, NULL, NULL) != NVRTC_SUCCESS) return to;
    const bool good = nvrtc.CompileProgram(program, OPTIONS, options) == NVRTC_SUCCESS;
    nvrtc.GetProgramLogSize(program, &bytes);
    to.log = calloc(bytes + 1, 1);
    if (to.log != NULL) nvrtc.GetProgramLog(program, to.log);
    if (good && nvrtc.GetCUBINSize(program, image_bytes) == NVRTC_SUCCESS) to.image = malloc(*image_bytes);
    if (to.image != NULL && nvrtc.GetCUBIN(program, to.image) != NVRTC_SUCCESS) {
        free(to.image);
        to.image = NULL;
    }
    nvrtc.DestroyProgram(&program);
    return to;
}

/* Like run_compiler, but uses files of an earlier run if they exist. Log and cubin depend only on the source, the
 * options and the compiler's version, whose hash names the files. */
static compiled run_compiler_once(const char *text, const char *const options[OPTIONS])
{
    char folder[STANDIN_PATH], image[STANDIN_PATH], log[STANDIN_PATH];
    int major = 0, minor = 0;
    size_t bytes;
    nvrtc.Version(&major, &minor);
    uint64_t hash = standin_hash(standin_hash_start, text, strlen(text) + 1);
    hash = standin_hash(standin_hash(hash, &major, sizeof major), &minor, sizeof minor);
    for (int k = 0; k < OPTIONS; k++) hash = standin_hash(hash, options[k], strlen(options[k]) + 1);
    snprintf(folder, sizeof folder, "%.900s/compiled", standin_folder());
    mkdir(folder, 0777);
    snprintf(image, sizeof image, "%.950s/%016llx.cubin", folder, (unsigned long long)hash);
    snprintf(log, sizeof log, "%.950s/%016llx.log", folder, (unsigned long long)hash);
    compiled to = {.log = standin_read(log)};
    if (to.log != NULL) to.image = standin_read(image);
    if (to.log != NULL && to.image != NULL) return to;
    free(to.log);
    to = run_compiler(text, options, &bytes); /* rejections are tried again */
    if (to.image != NULL && standin_write_bytes(image, to.image, bytes)) {
        const char *const part[] = {to.log != NULL ? to.log : ""};
        standin_write(log, part, 1);
    }
    return to;
}

/* Compiles a source and returns the number of its kernels. The first line of the source contains the options of the
 * device that compiled it. */
static int compile(const char *path, const char *text, int architecture, tally *t, kernel *all, int most)
{
    char target[40];
    snprintf(target, sizeof target, "--gpu-architecture=sm_%d", architecture);
    const char *const options[OPTIONS] = {target, "--fmad=false", "--ptxas-options=-v"};
    const double begin = now();
    compiled c = run_compiler_once(text, options);
    bool warned, spilled;
    read_log(c.log, path, architecture, &warned, &spilled);
    t->texts++;
    t->refused += c.image == NULL;
    t->warned += warned && c.image != NULL;
    t->spilling += spilled;
    const int count = c.image != NULL ? read_kernels(c.image, all, most) : 0;
    for (int k = 0; k < count; k++) add_function(t, &all[k]);
    t->seconds += now() - begin;
    free(c.image);
    free(c.log);
    return count;
}

/* ---- self-tests of the checks ------------------------------------------------------------------------------------ */

static bool check(bool good, const char *what)
{
    printf("%s %s\n", good ? "ok" : "not ok", what);
    return good;
}

static bool finds(void)
{
    static kernel one[4];
    static const char unused[] = "extern \"C\" __global__ void wk_0(void) { int unused; }\n",
                      spills[] =
                          "extern \"C\" __global__ void __launch_bounds__(1024, 2) wk_0(float *p) { float v[64];\n"
                          "_Pragma(\"unroll\") for (int k = 0; k < 64; k++) v[k] = p[k];\n"
                          "__syncthreads();\n"
                          "_Pragma(\"unroll\") for (int k = 0; k < 64; k++) p[63 - k] = v[k] * v[63 - k]; }\n",
                      local[] = "extern \"C\" __global__ void wk_0(int *p) { __shared__ int s[32]; int v[16];\n"
                                "s[threadIdx.x] = *p; for (int k = 0; k < 16; k++) v[p[k]] = k;\n"
                                "__syncthreads(); *p = v[p[17]] + s[5]; }\n";
    tally t[4] = {0};
    compile("(a test)", unused, 90, &t[0], one, 4);
    compile("(a test)", "no C at all\n", 90, &t[1], one, 4);
    compile("(a test)", spills, 90, &t[2], one, 4);
    const int kernels_of_it = compile("(a test)", local, 90, &t[3], one, 4);
    bool all = check(t[0].warned == 1 && t[0].refused == 0, "a warning is seen");
    all = check(t[1].refused == 1 && t[1].warned == 0, "a refusal is seen") && all;
    all = check(t[2].spilling == 1 && t[2].warned == 0, "a spill is seen") && all;
    return check(kernels_of_it == 1 && t[3].spilling == 0 && t[3].most_local >= 64 && t[3].most_registers > 0 &&
                     t[3].most_shared >= 128,
                 "registers, local and shared memory are seen") &&
           all;
}

/* ---- kept sources ------------------------------------------------------------------------------------------------ */

typedef struct text {
    uint64_t hash; /* of the source without its first line */
    char *content, path[STANDIN_PATH];
} text;

static const char *body_of(const char *content)
{
    const char *end = strchr(content, '\n');
    return end != NULL ? end + 1 : content;
}

static int by_hash(const void *a, const void *b)
{
    const uint64_t x = ((const text *)a)->hash, y = ((const text *)b)->hash;
    return x < y ? -1 : x > y;
}

/* Reads a source that the library generated; those of the stand-in's tests lack the prelude. */
static bool read_text(const char *path, time_t since, text *to)
{
    struct stat state;
    if (stat(path, &state) != 0 || state.st_mtime < since) return false;
    char *content = standin_read(path);
    if (content == NULL || strstr(content, "#define KERNEL(local)") == NULL) {
        free(content);
        return false;
    }
    const char *body = body_of(content);
    *to = (text){.hash = standin_hash(standin_hash_start, body, strlen(body)), .content = content};
    snprintf(to->path, sizeof to->path, "%s", path);
    return true;
}

/* Returns the distinct sources kept since that time; the caller frees them. */
static text *read_texts(const char *folder, time_t since, int *count)
{
    char pattern[STANDIN_PATH];
    glob_t found;
    *count = 0;
    snprintf(pattern, sizeof pattern, "%.900s/*.cu", folder);
    if (glob(pattern, 0, NULL, &found) != 0) return NULL;
    text *all = calloc(found.gl_pathc, sizeof *all);
    int read = 0;
    for (size_t k = 0; k < found.gl_pathc && all != NULL; k++) read += read_text(found.gl_pathv[k], since, &all[read]);
    globfree(&found);
    if (all == NULL) return NULL;
    qsort(all, (size_t)read, sizeof *all, by_hash);
    for (int k = 0; k < read; k++) {
        if (k > 0 && all[k].hash == all[*count - 1].hash)
            free(all[k].content);
        else
            all[(*count)++] = all[k];
    }
    return all;
}

static void free_texts(text *all, int count)
{
    for (int k = 0; k < count; k++) free(all[k].content);
    free(all);
}

/* ---- the sources of tests ---------------------------------------------------------------------------------------- */

static kernel kernels[ARCHITECTURES][MOST_KERNELS];

static void print_heading(FILE *to, const char *what)
{
    fprintf(to, "%-10s %6s %8s %8s %7s %7s %10s %11s %12s %8s\n", what, "texts", "refused", "warned", "spill",
            "kernels", "registers", "with local", "local/shared", "seconds");
}

static void print_tally(FILE *to, int architecture, const tally *t)
{
    fprintf(to, "sm_%-7d %6d %8d %8d %7d %7d %10u %11d %6u/%-6u %7.1f\n", architecture, t->texts, t->refused, t->warned,
            t->spilling, t->kernels, t->most_registers, t->with_local, t->most_local, t->most_shared, t->seconds);
}

static void print_tallies(const tally *t, const char *what)
{
    print_heading(stdout, what);
    for (int a = 0; a < ARCHITECTURES; a++) print_tally(stdout, architectures[a], &t[a]);
}

static bool report(const char *what, const tally *t)
{
    bool all = true;
    for (int a = 0; a < ARCHITECTURES; a++) {
        const bool good = t[a].refused == 0 && t[a].warned == 0;
        printf("%s %d %s for sm_%d without a warning\n", good ? "ok" : "not ok", t[a].texts, what, architectures[a]);
        all = all && good;
    }
    return all;
}

/* Returns true if all sources are to be compiled for this architecture. */
static bool is_asked_for(int a)
{
    const char *given = getenv("WICK_MATRIX");
    char list[200], *rest = list;
    if (given == NULL || strcmp(given, "all") == 0) return given != NULL;
    snprintf(list, sizeof list, "%s", given);
    for (char *word; (word = strtok_r(rest, " ", &rest)) != NULL;)
        if (atoi(word) == architectures[a]) return true;
    return false;
}

static bool is_wanted(const text *t, int a)
{
    const char *given = getenv("WICK_MATRIX");
    if (given != NULL && *given != '\0') return is_asked_for(a);
    return t->hash % ONE_IN == 0 && test_has_turn((int)(t->hash / ONE_IN % PARTS) + a, PARTS);
}

/* Saves totals, so that a run for other architectures keeps them. */
static void keep_tallies(const tally *t)
{
    const char *build = getenv("WICK_BUILD");
    char path[STANDIN_PATH];
    for (int a = 0; a < ARCHITECTURES; a++) {
        if (!is_asked_for(a) || t[a].texts == 0) continue;
        snprintf(path, sizeof path, "%.900s/results/cuda/matrix_sm_%d", build != NULL ? build : ".", architectures[a]);
        FILE *file = fopen(path, "w");
        if (file == NULL) continue;
        print_heading(file, "tests");
        print_tally(file, architectures[a], &t[a]);
        fclose(file);
    }
}

/* Prints the sources in the folder with compiler warnings in a program's run, each for sm_90. */
static int print_warned(const char *folder, time_t since)
{
    char pattern[STANDIN_PATH];
    glob_t found = {0};
    int warned = 0;
    snprintf(pattern, sizeof pattern, "%.900s/*" STANDIN_WARNED, folder);
    if (glob(pattern, 0, NULL, &found) != 0) return 0;
    for (size_t k = 0; k < found.gl_pathc; k++) {
        text one;
        if (!read_text(found.gl_pathv[k], since, &one)) continue;
        printf("%s: %.600s\n", one.path, one.content);
        free(one.content);
        warned++;
    }
    globfree(&found);
    return warned;
}

/* Compiles a source with a warning as the stand-in for NVRTC does, in a separate process, and checks that it is
 * found. */
static bool finds_warnings_of_programs(void)
{
    char command[4 * PATH_MAX];
    const char *build = getenv("WICK_BUILD"), *work = getenv("WICK_WORK");
    if (work == NULL) work = "/tmp";
    snprintf(
        command, sizeof command,
        "cd '%s' && rm -f kept.warned && printf '#define KERNEL(local)\\n__global__ void f() { int unused; }' >text && "
        "'%s/standin/apart' \"$STANDIN_NVRTC\" text kept --gpu-architecture=sm_90",
        work, build != NULL ? build : "build/debug");
    fflush(stdout);
    return check(system(command) == 0 && print_warned(work, 0) == 1, "a warning in a program's own run is seen");
}

static bool compile_tests(time_t since)
{
    tally t[ARCHITECTURES] = {0};
    int count;
    text *all = read_texts(standin_folder(), since, &count);
    if (count == 0) {
        printf("skip the texts of tests: no program of mode cuda has run with this library yet\n");
        free(all);
        return true;
    }
    for (int k = 0; k < count; k++)
        for (int a = 0; a < ARCHITECTURES; a++)
            if (is_wanted(&all[k], a))
                compile(all[k].path, body_of(all[k].content), architectures[a], &t[a], kernels[a], MOST_KERNELS);
    printf("of %d distinct texts\n", count);
    print_tallies(t, "tests");
    keep_tallies(t);
    free_texts(all, count);
    const int warned = print_warned(standin_folder(), since);
    printf("%s in the programs of mode cuda the compiler warned of no text: of %d\n", warned == 0 ? "ok" : "not ok",
           warned);
    return report("texts of tests", t) && warned == 0;
}

/* ---- the kernels of the benchmark -------------------------------------------------------------------------------- */

/* Runs the benchmark on the stand-in, with a separate folder for sources. Everything except copies and steps is timed
 * by events: six ops with x + 1 beside each, x + 1 alone, a product and the kernels of two steps, each once before and
 * once while it is measured. */
static bool run_bench(const char *folder)
{
    enum { TIMED = 2 * (6 * 2 + 1 + 1 + 2) };
    char command[4 * PATH_MAX];
    const char *build = getenv("WICK_BUILD");
    if (build == NULL) build = "build/debug";
    snprintf(command, sizeof command,
             "calls=${WICK_WORK:-/tmp}/calls; rm -f \"$calls\"; STANDIN_COUNTS=\"$calls\" STANDIN='%s' "
             "WICK_CUDA_PATH='%s/standin' WICK_CACHE_DIR=off '%s/wick' bench gpu --device cuda:0 --tiny && "
             "grep -qx 'cuEventElapsedTime %d' \"$calls\"",
             folder, build, build, TIMED);
    fflush(stdout);
    return system(command) == 0;
}

static void print_kernel(const text *from, const char *name, const int count[ARCHITECTURES])
{
    unsigned shared = 0;
    printf("%.8s %-6s", strrchr(from->path, '/') + 1, name);
    for (int a = 0; a < ARCHITECTURES; a++)
        for (int k = 0; k < count[a]; k++) {
            const kernel *one = &kernels[a][k];
            if (strcmp(one->name, name) != 0) continue;
            printf(" %3u %4u", one->registers, one->local_bytes);
            shared = one->shared;
        }
    printf(" %6u\n", shared);
}

static bool compile_bench(void)
{
    char folder[STANDIN_PATH];
    tally t[ARCHITECTURES] = {0};
    const time_t since = time(NULL);
    int count;
    snprintf(folder, sizeof folder, "%.900s/bench", standin_folder());
    if (!check(run_bench(folder), "the benchmark runs on the stand-in")) return false;
    text *all = read_texts(folder, since, &count);
    printf("registers and bytes of local memory for each architecture, shared memory:\n%-15s", "kernel");
    for (int a = 0; a < ARCHITECTURES; a++) printf(" sm_%-5d", architectures[a]);
    printf(" shared\n");
    for (int k = 0; k < count; k++) {
        int found[ARCHITECTURES];
        for (int a = 0; a < ARCHITECTURES; a++)
            found[a] = compile(all[k].path, body_of(all[k].content), architectures[a], &t[a], kernels[a], MOST_KERNELS);
        for (int f = 0; f < found[0]; f++) print_kernel(&all[k], kernels[0][f].name, found);
    }
    free_texts(all, count);
    print_tallies(t, "benchmark");
    int spilling = 0;
    for (int a = 0; a < ARCHITECTURES; a++) spilling += t[a].spilling;
    const bool good = count > 0 && spilling == 0;
    printf("%s no text of the benchmark spills registers: %d do\n", good ? "ok" : "not ok", spilling);
    return report("texts of the benchmark", t) && good;
}

int main(void)
{
    struct stat used;
    char library_path[STANDIN_PATH];
    const char *given = getenv("STANDIN_NVRTC"), *build = getenv("WICK_BUILD");
    snprintf(library_path, sizeof library_path, "%s/libwick.a", build != NULL ? build : ".");
    void *library = given != NULL ? dlopen(given, RTLD_NOW | RTLD_LOCAL) : NULL;
    if (library == NULL || !wk__nvrtc_fill(library, &nvrtc) || stat(library_path, &used) != 0) {
        printf("skip all: STANDIN_NVRTC names no NVRTC (scripts/find_nvrtc), or there is no %s\n", library_path);
        return 0;
    }
    const bool seen = finds(), warnings_found = finds_warnings_of_programs(), tests = compile_tests(used.st_mtime),
               bench = compile_bench();
    return seen && warnings_found && tests && bench ? 0 : 1;
}
