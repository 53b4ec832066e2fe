/* SPDX-License-Identifier: Apache-2.0 */
/* Implements cache_dir.h, which both stand-ins (driver and NVRTC) use. */
#include "cache_dir.h"

#include <dlfcn.h>
#include <elf.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Copies the path two levels above this library into folder; "." if it cannot be determined. */
static void place(char folder[STANDIN_PATH])
{
    Dl_info info;
    const char *given = getenv("STANDIN");
    char file[PATH_MAX];
    if (given != NULL && given[0] != '\0') {
        snprintf(folder, STANDIN_PATH, "%s", given);
        return;
    }
    if (dladdr((const void *)&standin_hash_start, &info) == 0 || realpath(info.dli_fname, file) == NULL)
        snprintf(file, sizeof file, "./a/b");
    for (int k = 0; k < 2; k++) {
        char *slash = strrchr(file, '/');
        if (slash != NULL) *slash = '\0';
    }
    snprintf(folder, STANDIN_PATH, "%.900s/cache/standin", file);
}

const char *standin_folder(void)
{
    static _Thread_local char folder[STANDIN_PATH];
    place(folder);
    for (char *p = folder + 1; *p != '\0'; p++) {
        if (*p != '/') continue;
        *p = '\0';
        mkdir(folder, 0777);
        *p = '/';
    }
    mkdir(folder, 0777);
    return folder;
}

size_t standin_length(const void *image)
{
    const Elf64_Ehdr *h = image;
    if (memcmp(image, ELFMAG, SELFMAG) != 0) return 0;
    const Elf64_Shdr *s = (const Elf64_Shdr *)(const void *)((const char *)image + h->e_shoff);
    size_t end = h->e_shoff + (size_t)h->e_shnum * h->e_shentsize;
    const size_t program = h->e_phoff + (size_t)h->e_phnum * h->e_phentsize;
    if (program > end) end = program;
    for (int k = 0; k < h->e_shnum; k++)
        if (s[k].sh_type != SHT_NOBITS && s[k].sh_offset + s[k].sh_size > end) end = s[k].sh_offset + s[k].sh_size;
    return end;
}

const uint64_t standin_hash_start = 0xcbf29ce484222325u;

uint64_t standin_hash(uint64_t start, const void *bytes, size_t count)
{
    const unsigned char *p = bytes;
    for (size_t k = 0; k < count; k++) start = (start ^ p[k]) * 0x100000001b3u;
    return start;
}

char *standin_read(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL) return NULL;
    fseek(file, 0, SEEK_END);
    const long bytes = ftell(file);
    rewind(file);
    char *content = bytes >= 0 ? malloc((size_t)bytes + 1) : NULL;
    if (content != NULL) content[fread(content, 1, (size_t)bytes, file)] = '\0';
    fclose(file);
    return content;
}

void standin_other_name(char name[STANDIN_PATH], const char *path)
{
    static atomic_int count;
    snprintf(name, STANDIN_PATH, "%.900s.%d.%p.%d", path, (int)getpid(), (void *)&count, atomic_fetch_add(&count, 1));
}

/* Closes the file and renames it to its final path if it was written completely; else removes it. */
static bool finish(FILE *file, const char *other, const char *path, bool good)
{
    good = fclose(file) == 0 && good;
    good = good && rename(other, path) == 0;
    if (!good) unlink(other);
    return good;
}

bool standin_write(const char *path, const char *const part[], int parts)
{
    char other[STANDIN_PATH];
    standin_other_name(other, path);
    FILE *file = fopen(other, "wb");
    bool good = true;
    for (int k = 0; file != NULL && k < parts; k++) good = fputs(part[k], file) >= 0 && good;
    return file != NULL && finish(file, other, path, good);
}

bool standin_write_bytes(const char *path, const void *bytes, size_t count)
{
    char other[STANDIN_PATH];
    standin_other_name(other, path);
    FILE *file = fopen(other, "wb");
    return file != NULL && finish(file, other, path, fwrite(bytes, 1, count, file) == count);
}
