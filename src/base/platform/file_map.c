/* SPDX-License-Identifier: Apache-2.0 */
/* Mapped files; see file.h. */
#include "base/alloc.h"
#include "file.h"
#include <errno.h>
#include <sys/mman.h>

static void unmap(void *object)
{
    wk__mapping *mapping = object;
    munmap(mapping->data, (size_t)mapping->bytes);
    wk__free(mapping);
}

wk__mapping *wk__file_map(const wk__file *file, wk__io_error *error)
{
    wk__mapping *mapping = wk__alloc_zero(1, sizeof *mapping);
    if (!mapping) {
        wk__io_fail(error, WK_ERR_MEMORY, "out of host memory");
        return NULL;
    }
    void *data = mmap(NULL, (size_t)file->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE, file->fd, 0);
    if (data == MAP_FAILED) {
        wk__io_fail_errno(error, file->path, "map", errno);
        wk__free(mapping);
        return NULL;
    }
    *mapping = (wk__mapping){.counted = {.end = unmap}, .data = data, .bytes = file->bytes};
    atomic_init(&mapping->counted.refs, 1);
    return mapping;
}
