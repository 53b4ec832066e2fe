/* SPDX-License-Identifier: Apache-2.0 */
/* Table of environment variables; see environment.h. */
#include "environment.h"
#include "context.h"
#include "log.h"
#include "options.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <wick/log.h>

typedef enum kind { ANY, SECRET, SWITCH, NUMBER, CHOICE, FLAGS } kind;
enum { MAX_WORDS = 7 };

static const struct {
    const char *name, *doc, *takes;
    kind kind;
    int64_t least, most; /* NUMBER: range */
    const char *words[MAX_WORDS];
} table[WK__SETTINGS] = {
    [WK__SETTING_EAGER] = {.name = "WICK_EAGER",
                           .doc = "run every call immediately (eager mode)",
                           .takes = "0 or 1",
                           .kind = SWITCH},
    [WK__SETTING_NOFUSE] = {.name = "WICK_NOFUSE", .doc = "disable kernel fusion", .takes = "0 or 1", .kind = SWITCH},
    [WK__SETTING_CHECK] = {.name = "WICK_CHECK",
                           .doc = "execute everything twice (call by call and as planned) and compare",
                           .takes = "0 or 1",
                           .kind = SWITCH},
    [WK__SETTING_CHECK_DIR] =
        {.name = "WICK_CHECK_DIR",
         .doc = "folder for the files that WICK_CHECK writes for `wick replay`; default the current folder",
         .takes = "a folder"},
    [WK__SETTING_ANOMALY] = {.name = "WICK_ANOMALY",
                             .doc = "the first call that produces a NaN or an infinity is an error",
                             .takes = "0 or 1",
                             .kind = SWITCH},
    [WK__SETTING_CPU] = {.name = "WICK_CPU",
                         .doc = "CPU instruction set",
                         .takes = "avx512_bf16, avx512_vnni, avx512, avx2, neon or portable",
                         .kind = CHOICE,
                         .words = {"avx512_bf16", "avx512_vnni", "avx512", "avx2", "neon", "portable"}},
    [WK__SETTING_THREADS] = {.name = "WICK_THREADS",
                             .doc = "number of CPU threads",
                             .takes = "an integer from 1 to 1024",
                             .kind = NUMBER,
                             .least = 1,
                             .most = 1024},
    [WK__SETTING_PLACEMENT] = {.name = "WICK_PLACEMENT",
                               .doc = "soft: copy operands on different devices to one device automatically",
                               .takes = "strict or soft",
                               .kind = CHOICE,
                               .words = {"strict", "soft"}},
    [WK__SETTING_GPU] = {.name = "WICK_GPU",
                         .doc = "a backend whose devices all count as GPUs",
                         .takes = "opencl or cuda",
                         .kind = CHOICE,
                         .words = {"opencl", "cuda"}},
    [WK__SETTING_CACHE_DIR] = {.name = "WICK_CACHE_DIR",
                               .doc = "folder of compiled kernels",
                               .takes = "a folder, or off"},
    [WK__SETTING_CACHE_MB] = {.name = "WICK_CACHE_MB",
                              .doc = "size limit of the kernel cache in megabytes; 0 keeps everything",
                              .takes = "an integer of at least 0",
                              .kind = NUMBER,
                              .most = INT64_MAX >> 20},
    [WK__SETTING_OPENCL_OPTIONS] = {.name = "WICK_OPENCL_OPTIONS",
                                    .doc = "options for the OpenCL compiler",
                                    .takes = "any text"},
    [WK__SETTING_CUDA_PATH] = {.name = "WICK_CUDA_PATH",
                               .doc = "directories searched first for NVIDIA's libraries",
                               .takes = "folders separated by colons"},
    [WK__SETTING_LIBPNG] = {.name = "WICK_LIBPNG",
                            .doc = "path of libpng, for PNG files; default libpng16.so.16",
                            .takes = "a file"},
    [WK__SETTING_LIBJPEG] = {.name = "WICK_LIBJPEG",
                             .doc = "path of libjpeg, for JPEG files; default libjpeg.so.62 or libjpeg.so.8",
                             .takes = "a file"},
    [WK__SETTING_MPI_PLUGIN] = {.name = "WICK_MPI_PLUGIN",
                                .doc = "path of the MPI plug-in; default next to the library",
                                .takes = "a file"},
    [WK__SETTING_RSH] = {.name = "WICK_RSH",
                         .doc = "remote shell of `wick run`, called with a host and a command; default ssh -x",
                         .takes = "a command"},
    [WK__SETTING_LOG] = {.name = "WICK_LOG",
                         .doc = "log subjects",
                         .takes = "a comma-separated list of placement, sync, kernel, leaks, check, parallel",
                         .kind = FLAGS,
                         .words = {[WK__LOG_PLACEMENT] = "placement",
                                   [WK__LOG_SYNC] = "sync",
                                   [WK__LOG_KERNEL] = "kernel",
                                   [WK__LOG_LEAKS] = "leaks",
                                   [WK__LOG_CHECK] = "check",
                                   [WK__LOG_PARALLEL] = "parallel"}},
    [WK__SETTING_LOG_FILE] = {.name = "WICK_LOG_FILE", .doc = "log file; default stderr", .takes = "a file"},
    [WK__SETTING_COMM] = {.name = "WICK_COMM",
                          .doc = "communication backend between processes",
                          .takes = "self, tcp or mpi",
                          .kind = CHOICE,
                          .words = {"self", "tcp", "mpi"}},
    [WK__SETTING_RANK] = {.name = "WICK_RANK",
                          .doc = "rank of this process",
                          .takes = "an integer of at least 0",
                          .kind = NUMBER,
                          .most = 1023},
    [WK__SETTING_WORLD_SIZE] = {.name = "WICK_WORLD_SIZE",
                                .doc = "world size",
                                .takes = "an integer from 1 to 1024",
                                .kind = NUMBER,
                                .least = 1,
                                .most = 1024},
    [WK__SETTING_LOCAL_RANK] = {.name = "WICK_LOCAL_RANK",
                                .doc = "rank of this process on its host",
                                .takes = "an integer of at least 0",
                                .kind = NUMBER,
                                .most = 1023},
    [WK__SETTING_COORDINATOR] = {.name = "WICK_COORDINATOR", .doc = "address of rank 0", .takes = "host:port"},
    [WK__SETTING_SECRET] = {.name = "WICK_SECRET",
                            .doc = "shared secret that authenticates the processes of a job",
                            .takes = "any text",
                            .kind = SECRET},
    [WK__SETTING_TIMEOUT] = {.name = "WICK_TIMEOUT",
                             .doc = "timeout of collectives, in seconds",
                             .takes = "an integer of at least 1",
                             .kind = NUMBER,
                             .least = 1,
                             .most = 100000000},
    [WK__SETTING_LISTEN_FD] = {.name = "WICK_LISTEN_FD",
                               .doc = "listening socket that the launcher opened for rank 0",
                               .takes = "a descriptor",
                               .kind = NUMBER,
                               .most = INT32_MAX},
    [WK__SETTING_STATUS_FD] = {.name = "WICK_STATUS_FD",
                               .doc = "pipe on which this process reports progress to the launcher",
                               .takes = "a descriptor",
                               .kind = NUMBER,
                               .most = INT32_MAX},
};

const char *wk__setting_takes(wk__optim_option which)
{
    return table[which].takes;
}

const char *wk__setting_name(wk__optim_option which)
{
    return table[which].name;
}

const char *wk__setting_text(wk__optim_option which)
{
    return getenv(table[which].name);
}

static bool is_one_of(const char *const *words, const char *text)
{
    while (*words && strcasecmp(text, *words) != 0) words++;
    return *words != NULL;
}

static bool is_off(const char *text)
{
    static const char *const words[] = {"", "0", "off", "no", "false", NULL};
    return !text || is_one_of(words, text);
}

static bool is_on(const char *text)
{
    static const char *const words[] = {"1", "on", "yes", "true", NULL};
    return is_one_of(words, text);
}

bool wk__setting_on(wk__optim_option which)
{
    return !is_off(wk__setting_text(which));
}

/* Parses the entire text as an integer; returns less than the minimum if it is not one. */
static int64_t number_in(wk__optim_option which, const char *text)
{
    char *end;
    const long long number = strtoll(text, &end, 10);
    return end == text || *end ? table[which].least - 1 : number;
}

int64_t wk__setting_number(wk__optim_option which, int64_t otherwise)
{
    const char *text = wk__setting_text(which);
    const int64_t number = text ? number_in(which, text) : table[which].least - 1;
    return number < table[which].least ? otherwise : number > table[which].most ? table[which].most : number;
}

static int word_at(wk__optim_option which, const char *text, size_t length)
{
    for (int k = 0; k < MAX_WORDS && table[which].words[k]; k++) {
        const char *word = table[which].words[k];
        if (strncmp(word, text, length) == 0 && !word[length]) return k;
    }
    return -1;
}

int wk__setting_parse_flags(wk__optim_option which, const char *text, const char **unknown, int *length)
{
    int found = 0;
    *unknown = NULL;
    while (text && *(text += strspn(text, ", "))) {
        const size_t n = strcspn(text, ", ");
        const int place = word_at(which, text, n);
        if (place >= 0) {
            found |= 1 << place;
        } else if (!*unknown) {
            *unknown = text;
            *length = (int)n;
        }
        text += n;
    }
    return found;
}

static bool is_wrong(wk__optim_option which, const char *text)
{
    const char *unknown = NULL;
    int length;
    const int64_t number = table[which].kind == NUMBER ? number_in(which, text) : 0;
    if (!*text) return false;
    switch (table[which].kind) {
    case SWITCH: return !is_off(text) && !is_on(text);
    case NUMBER: return number < table[which].least || number > table[which].most;
    case CHOICE: return word_at(which, text, strlen(text)) < 0;
    case FLAGS: return wk__setting_parse_flags(which, text, &unknown, &length), unknown != NULL;
    default: return false;
    }
}

bool wk__settings_valid(char *why, size_t room)
{
    for (int k = 0; k < WK__SETTINGS; k++) {
        const char *text = getenv(table[k].name);
        if (!text || !is_wrong((wk__optim_option)k, text)) continue;
        snprintf(why, room, "invalid environment variable %s=\"%.60s\"; expected %s", table[k].name, text,
                 table[k].takes);
        return false;
    }
    return true;
}

/* ---- queries by user code ---------------------------------------------------------------------------------------- */

int wk_setting_count(void)
{
    return WK__SETTINGS;
}

wk_code wk_setting_info_at(wk_site site, int index, wk_setting *info)
{
    if (index < 0 || index >= WK__SETTINGS) {
        wk__error_set(site, WK_ERR_ARGUMENT, "setting_info: the index is out of range");
        return WK_ERR_ARGUMENT;
    }
    const wk__optim_option which = (wk__optim_option)index;
    const char *text = wk__setting_text(which);
    const bool empty = text && (!*text || (table[index].kind == SWITCH && is_off(text)));
    const wk_setting known = {.size = sizeof known,
                              .name = table[index].name,
                              .doc = table[index].doc,
                              .expected = table[index].takes,
                              .value = table[index].kind == SECRET && text && !empty ? "(not shown)" : text,
                              .off = empty,
                              .invalid = text && is_wrong(which, text)};
    return wk__sized_store(site, "setting_info", wk_setting, info, &known);
}
