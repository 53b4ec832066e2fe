/* SPDX-License-Identifier: Apache-2.0 */
/* Loads libpng and libjpeg, and allocates pixels. */
#include "base/alloc.h"
#include "base/environment.h"
#include "base/platform/dynlib.h"
#include "image_file.h"
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

wk_code wk__pixels_alloc(int64_t width, int64_t height, int channels, wk__pixels *out, wk__io_error *error)
{
    int64_t count;
    if (width < 1 || height < 1)
        return wk__io_fail(error, WK_ERR_FORMAT, "the image has a size of %lld x %lld pixels", (long long)width,
                           (long long)height);
    if (!wk__mul_size(width, height, &count) || count > WK__IMAGE_MAX_PIXELS)
        return wk__io_fail(error, WK_ERR_UNSUPPORTED,
                           "the image has %lld x %lld pixels, more than the limit of %d; reduce it first",
                           (long long)width, (long long)height, WK__IMAGE_MAX_PIXELS);
    uint8_t *data = wk__alloc((size_t)count * (size_t)channels);
    if (!data) return wk__io_fail(error, WK_ERR_MEMORY, "out of host memory");
    *out = (wk__pixels){data, width, height, channels};
    return WK_OK;
}

static pthread_mutex_t loading = PTHREAD_MUTEX_INITIALIZER;

static wk_code load(wk__image_library *library, wk__io_error *error)
{
    const char *named = wk__setting_text((wk__optim_option)library->setting);
    const char *const forced[] = {named, NULL}, *const *file = named && *named ? forced : library->files;
    char reason[200] = "the program is linked with -static";
    void *found = NULL;
    for (int k = 0; file[k] && !found && !wk__is_static_program(); k++) {
        found = dlopen(file[k], RTLD_NOW | RTLD_LOCAL);
        const char *said = found ? "it lacks a function" : dlerror();
        if (found || k == 0) snprintf(reason, sizeof reason, "%s", said ? said : "unknown reason");
    }
    if (found && wk__dynlib_resolve(found, library->symbols, library->count, library->table)) return WK_OK;
    return wk__io_fail(error, WK_ERR_UNSUPPORTED, "cannot load %s: %s; install the package %s, or set %s to its path",
                       library->name, reason, library->package, wk__setting_name((wk__optim_option)library->setting));
}

wk_code wk__image_library_load(wk__image_library *library, wk__io_error *error)
{
    pthread_mutex_lock(&loading);
    const wk_code code = library->loaded ? WK_OK : load(library, error);
    library->loaded = code == WK_OK;
    pthread_mutex_unlock(&loading);
    return code;
}
