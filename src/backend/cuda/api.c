/* SPDX-License-Identifier: Apache-2.0 */
/* Loads NVIDIA's libraries. */
#include "api.h"

#include "base/environment.h"
#include "base/platform/dynlib.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

wk__cuda_functions wk__cuda;
wk__nvrtc_functions wk__nvrtc;
wk__nvml_functions wk__nvml;
wk__nvml_extras wk__nvml_extra;

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* ---- search ------------------------------------------------------------------------------------------------------ */

/* Error message of the first library that exists and could not be loaded. */
static char broken[400];

static void *open_in(const char *folder, size_t length, const char *name)
{
    char path[4096];
    const int wanted = snprintf(path, sizeof path, "%.*s/%s", (int)length, folder, name);
    if (wanted <= 0 || (size_t)wanted >= sizeof path || access(path, F_OK) != 0) return NULL;
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    const char *said = library == NULL && broken[0] == '\0' ? dlerror() : NULL;
    if (said != NULL) snprintf(broken, sizeof broken, "cannot load an NVIDIA library: %s", said);
    return library;
}

/* Opens the first of the names that is found; newest first. Libraries stay loaded: drivers don't support unloading. */
static void *open_library(const char *const names[], size_t count)
{
    void *library = NULL;
    broken[0] = '\0';
    const char *folders = wk__setting_text(WK__SETTING_CUDA_PATH);
    for (const char *at = folders; at != NULL && library == NULL;) {
        const size_t length = strcspn(at, ":");
        for (size_t k = 0; k < count && length > 0 && library == NULL; k++) library = open_in(at, length, names[k]);
        at = at[length] == ':' ? at + length + 1 : NULL;
    }
    for (size_t k = 0; k < count && library == NULL; k++) library = dlopen(names[k], RTLD_NOW | RTLD_LOCAL);
    static const char toolkit[] = "/usr/local/cuda/lib64";
    for (size_t k = 0; k < count && library == NULL; k++) library = open_in(toolkit, sizeof toolkit - 1, names[k]);
    return library;
}

/* ---- libraries --------------------------------------------------------------------------------------------------- */

const char *wk__cuda_load_driver(void)
{
#define SYMBOL(name, parameters) {"cu" #name, offsetof(wk__cuda_functions, name)},
    static const wk__symbol symbols[] = {WK__CUDA_FUNCTIONS(SYMBOL)}, newer[] = {WK__CUDA_NEWER_FUNCTIONS(SYMBOL)};
#undef SYMBOL
    static const char *const names[] = {"libcuda.so.1"};
    const char *why = wk__why_no_dynlib();
    if (why != NULL) return why;
    void *library = open_library(names, COUNT(names));
    if (library == NULL && broken[0] != '\0') return broken;
    if (library == NULL)
        return "NVIDIA's driver library libcuda.so.1 was not found; install the driver (apt install nvidia-driver), or "
               "set WICK_CUDA_PATH to its folder";
    if (!wk__dynlib_resolve(library, symbols, COUNT(symbols), &wk__cuda))
        return "NVIDIA's driver is older than CUDA 11.2; install a newer one (apt install nvidia-driver)";
    for (size_t k = 0; k < COUNT(newer); k++) wk__dynlib_resolve(library, &newer[k], 1, &wk__cuda);
    return NULL;
}

const char *wk__cuda_nvrtc_package(int driver, char room[40])
{
    enum { SUFFIXED = 12 /* last version whose package name contains the number */ };
    snprintf(room, 40, driver > SUFFIXED ? "'nvidia-cuda-nvrtc==%d.*'" : "nvidia-cuda-nvrtc-cu%d", driver);
    return room;
}

/* Returns why no NVRTC that suits the driver was found. */
static const char *no_nvrtc(int driver)
{
    enum { FARTHEST = 3 };
    static char newer[400];
    char package[40];
    snprintf(newer, sizeof newer, "%s", broken);
    if (broken[0] != '\0') return newer;
    for (int major = driver + 1; major <= driver + FARTHEST; major++) {
        char room[24];
        const char *name = room;
        snprintf(room, sizeof room, "libnvrtc.so.%d", major);
        if (open_library(&name, 1) == NULL) continue;
        snprintf(newer, sizeof newer,
                 "NVRTC is installed only for CUDA %d, but the driver supports CUDA %d; install a newer driver or an "
                 "older NVRTC (apt install libnvrtc%d, or pip install %s and set WICK_CUDA_PATH)",
                 major, driver, driver, wk__cuda_nvrtc_package(driver, package));
        return newer;
    }
    return "NVRTC, CUDA's run-time compiler, was not found (libnvrtc.so.13, .12 or .11.2); install it (apt install "
           "libnvrtc12, or pip install nvidia-cuda-nvrtc-cu12 and set WICK_CUDA_PATH to its folder)";
}

/* NVRTC's major version must not exceed the driver's. */
const char *wk__cuda_load_nvrtc(int driver)
{
    enum { OLDEST = 12, MOST = 16 }; /* oldest with this naming scheme; before that, 11.2 */
    char room[MOST][24];
    const char *names[MOST + 1];
    size_t count = 0;
    for (int major = driver; major >= OLDEST && count < MOST; major--) {
        snprintf(room[count], sizeof room[count], "libnvrtc.so.%d", major);
        names[count] = room[count];
        count++;
    }
    names[count++] = "libnvrtc.so.11.2";
    void *library = open_library(names, count);
    if (library == NULL) return no_nvrtc(driver);
    if (!wk__nvrtc_fill(library, &wk__nvrtc))
        return "NVRTC, CUDA's run-time compiler, is older than CUDA 11.2; install a newer one, or set WICK_CUDA_PATH "
               "to its folder";
    return NULL;
}

const char *wk__cuda_load_nvml(void)
{
#define SYMBOL(name, parameters) {"nvml" #name, offsetof(wk__nvml_functions, name)},
    static const wk__symbol symbols[] = {WK__NVML_FUNCTIONS(SYMBOL)};
#undef SYMBOL
#define SYMBOL(name, parameters) {"nvml" #name, offsetof(wk__nvml_extras, name)},
    static const wk__symbol extras[] = {WK__NVML_EXTRAS(SYMBOL)};
#undef SYMBOL
    static const char *const names[] = {"libnvidia-ml.so.1"};
    void *library = open_library(names, COUNT(names));
    if (library == NULL || !wk__dynlib_resolve(library, symbols, COUNT(symbols), &wk__nvml) ||
        wk__nvml.Init_v2() != NVML_SUCCESS)
        return "NVML (libnvidia-ml.so.1) was not found or failed to initialise; temperature, power and utilisation are "
               "unknown";
    for (size_t k = 0; k < COUNT(extras); k++) wk__dynlib_resolve(library, &extras[k], 1, &wk__nvml_extra);
    return NULL;
}

const char *wk__cuda_error(CUresult error, char buffer[32])
{
    const char *name = NULL;
    if (wk__cuda.GetErrorName(error, &name) == CUDA_SUCCESS && name != NULL) return name;
    snprintf(buffer, 32, "CUDA error %d", error);
    return buffer;
}
