/* SPDX-License-Identifier: Apache-2.0 */
/* Modules as files. Format:
 *
 *     header | an entry per kernel: digest, function, case index, buffer parameters (wk__gpu_module_entry) | binary
 *
 * A file has a name (a hard link) for each of its kernels, so that processes that need other combinations find them. */
#include "disk_cache_module.h"

#include <string.h>

static const int64_t largest_file = (int64_t)256 << 20;

typedef struct file_header {
    char magic[16];
    wk__gpu_digest check; /* of all following bytes */
    int64_t entries;
    int64_t binary; /* size in bytes */
} file_header;

/* Validates a file's header and checksum. */
static bool file_is_good(const wk__gpu_kernel_cache *cache, const wk__text *content, file_header *header)
{
    if (content->length < (int64_t)sizeof *header) return false;
    memcpy(header, content->data, sizeof *header);
    int64_t rest = content->length - (int64_t)sizeof *header, table;
    if (memcmp(header->magic, cache->compiler->magic, sizeof header->magic) != 0) return false;
    if (header->entries < 1 || header->binary < 1) return false;
    if (!wk__mul_size(header->entries, sizeof(wk__gpu_module_entry), &table) || table > rest ||
        header->binary != rest - table) {
        return false;
    }
    wk__gpu_digest check = wk__gpu_digest_start();
    wk__gpu_digest_add(&check, content->data + sizeof *header, (size_t)rest);
    return memcmp(&check, &header->check, sizeof check) == 0;
}

static bool entries_are_good(const wk__gpu_module_entry *entry, int64_t count)
{
    for (int64_t k = 0; k < count; k++) {
        if (entry[k].function < 0 || entry[k].function >= count || entry[k].memory_slots < 0 ||
            entry[k].case_index < -1 || entry[k].case_index >= WK__GPU_SWITCH_CASES ||
            entry[k].memory_slots > WK__GPU_MAX_MEMORY) {
            return false;
        }
    }
    return true;
}

void wk__gpu_module_load(wk__gpu_kernel_cache *cache, int folder, wk__gpu_digest digest)
{
    wk__text content = {0};
    file_header header;
    if (wk__gpu_cache_read(folder, digest, largest_file, &content) && file_is_good(cache, &content, &header)) {
        const char *table = content.data + sizeof header, *binary = content.data + content.length - header.binary;
        wk__gpu_module_entry *entry = wk__alloc_zero((size_t)header.entries, sizeof *entry);
        if (entry != NULL) memcpy(entry, table, (size_t)header.entries * sizeof *entry);
        if (entry != NULL && entries_are_good(entry, header.entries)) {
            void *module = cache->compiler->load(cache->device, binary, header.binary);
            if (module != NULL) wk__gpu_add_module(cache, module, entry, header.entries);
        }
        wk__free(entry);
    }
    wk__text_free(&content);
}

void wk__gpu_module_save(const wk__gpu_kernel_cache *cache, int folder, const wk__gpu_module_entry entry[], int count,
                         const wk__text *binary)
{
    wk__text content = {0};
    file_header header = {.check = wk__gpu_digest_start(), .entries = count, .binary = binary->length};
    size_t table = (size_t)count * sizeof *entry;
    memcpy(header.magic, cache->compiler->magic, sizeof header.magic);
    wk__gpu_digest_add(&header.check, entry, table);
    wk__gpu_digest_add(&header.check, binary->data, (size_t)binary->length);
    wk__text_add_n(&content, (const char *)&header, sizeof header);
    wk__text_add_n(&content, (const char *)entry, (int64_t)table);
    wk__text_add_n(&content, binary->data, binary->length);
    wk__gpu_digest *names = wk__alloc_zero((size_t)count, sizeof *names);
    if (!content.failed && names != NULL) {
        for (int k = 0; k < count; k++) names[k] = entry[k].digest;
        wk__gpu_cache_write(folder, names, count, content.data, content.length);
    }
    wk__free(names);
    wk__text_free(&content);
}
