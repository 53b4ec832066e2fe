/* SPDX-License-Identifier: Apache-2.0 */
/* Cards that are used, the code compiled for them, and the reported reasons for unusable cards, drivers and
 * compilers. */
#include "child.h"

#include "backend/cuda/device.h"

#include <sys/stat.h>

/* Computes something that needs compilation. */
static bool computes(int index)
{
    WK_SCOPE;
    wk_tensor *x = wk_to(wk_arange(100, .dtype = WK_F32), wk_cuda(index));
    return wk_item(wk_sum(wk_mul(x, 2))) == 9900 && wk_error() == NULL;
}

static const wk__cuda_device_desc *card(int index)
{
    wk__fail fail;
    const wk__cuda_device_desc *found = wk__cuda_device_desc_at(index, &fail);
    must(found != NULL);
    return found;
}

/* Checks the state, and that the reason contains words. */
static void expect_absent(wk__backend_status presence, const char *words)
{
    wk__text why = {0};
    must(wk__cuda_status(&why) == presence);
    must(why.data != NULL && strstr(why.data, words) != NULL);
    must(wk__cuda_count() == 0);
    wk__text_free(&why);
    WK_SCOPE;
    wk_ones((2), .device = wk_cuda(0));
    must(wk_error_code() == WK_ERR_DEVICE && strstr(wk_error(), words) != NULL);
    wk_clear_error();
    must(wk_item(wk_sum(wk_ones((3)))) == 3);
}

/* ---- compilation target ------------------------------------------------------------------------------------------ */

static long compiler_calls(const char *name)
{
    long (*count)(const char *);
    standin_find("libnvrtc.so.13", "standin_count", &count);
    return count(name);
}

static struct {
    int compiled_for;
    bool as_ptx;
} wanted;

static void is_compiled_so(void)
{
    char option[40];
    snprintf(option, sizeof option, "--gpu-architecture=%s_%d", wanted.as_ptx ? "compute" : "sm", wanted.compiled_for);
    must(card(0)->compiled_for == wanted.compiled_for && card(0)->needs_ptx == wanted.as_ptx);
    must(strcmp(card(0)->gpu.option[0], option) == 0);
    must(computes(0) && compiler_calls(wanted.as_ptx ? "nvrtcGetPTX" : "nvrtcGetCUBIN") > 0);
    must(compiler_calls(wanted.as_ptx ? "nvrtcGetCUBIN" : "nvrtcGetPTX") == 0);
}

static void architectures(void **state)
{
    (void)state;
    static const struct {
        const char *settings;
        int compiled_for;
        bool as_ptx;
    } cases[] = {
        {"STANDIN_ARCH=90 STANDIN_ARCHS=80,90,100", 90, false},
        {"STANDIN_ARCH=89 STANDIN_ARCHS=90,86,80,75", 86, false}, /* an older architecture of its generation */
        {"STANDIN_ARCH=86 STANDIN_ARCHS=89,80,87", 80, false},    /* never a newer one */
        {"STANDIN_ARCH=120 STANDIN_ARCHS=90,75,80", 90, true},    /* newer than all of them */
        {"STANDIN_ARCH=90 STANDIN_ARCHS=80,100", 80, true},
    };
    char settings[120];
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        wanted.compiled_for = cases[k].compiled_for;
        wanted.as_ptx = cases[k].as_ptx;
        snprintf(settings, sizeof settings, "%s WICK_CACHE_DIR=off", cases[k].settings);
        in_child(settings, is_compiled_so);
    }
}

static const char *folder_of(const char *name)
{
    static char path[1024];
    const char *work = getenv("WICK_WORK");
    snprintf(path, sizeof path, "%s/%s", work != NULL ? work : "/tmp", name);
    mkdir(path, 0777);
    return path;
}

static void driver_compiles(void)
{
    must(card(0)->compiled_for == 80 && !card(0)->needs_ptx && computes(0));
    must(compiler_calls("nvrtcGetCUBIN") == 1 &&
         compiler_calls("nvrtcGetPTX") == compiler_calls("nvrtcCompileProgram") - 1);
    wk_tensor *x = wk_to(wk_arange(100, .dtype = WK_F32), wk_cuda(0));
    const long before = compiler_calls("nvrtcCompileProgram");
    must(wk_item(wk_amax(wk_sqrt(x))) > 9.9 && compiler_calls("nvrtcCompileProgram") > before);
    must(compiler_calls("nvrtcGetCUBIN") == 1);
    wk_free(x);
}

/* The code is tried only once. */
static void driver_takes_neither(void)
{
    long compiled[3] = {0};
    for (int k = 1; k < 3; k++) {
        must(!computes(0) && wk_error_code() == WK_ERR_DEVICE);
        wk_clear_error();
        compiled[k] = compiler_calls("nvrtcCompileProgram") - compiled[0];
        compiled[0] += compiled[k];
    }
    must(compiled[1] == compiled[2] + 1 && compiler_calls("nvrtcGetCUBIN") == 1);
}

static void driver_is_broken(void)
{
    must(!computes(0) && wk_error_code() == WK_ERR_DEVICE && compiler_calls("nvrtcGetPTX") == 0);
}

static void leaves_a_file(void)
{
    must(computes(0));
}

static void file_has_text(void)
{
    must(computes(0) && compiler_calls("nvrtcCompileProgram") == 0);
}

/* The driver rejects code for an older card of the generation. Another machine's card accepts it, and the text as
 * well. */
static void cards_that_take_text(void **state)
{
    (void)state;
    char settings[1200];
    const char *folder = folder_of("text");
    in_child("STANDIN_ARCH=87 STANDIN_ARCHS=80 STANDIN_ATTRIBUTES=18=1 WICK_CACHE_DIR=off", driver_compiles);
    in_child("STANDIN_ERRORS=cuModuleLoadData=200 WICK_CACHE_DIR=off", driver_is_broken);
    in_child("STANDIN_ERRORS=cuModuleLoadData=209 WICK_CACHE_DIR=off", driver_takes_neither);
    snprintf(settings, sizeof settings, "STANDIN_ARCH=87 STANDIN_ARCHS=80 STANDIN_ATTRIBUTES=18=1 WICK_CACHE_DIR=%s",
             folder);
    in_child(settings, leaves_a_file);
    in_child(settings, file_has_text);
    snprintf(settings, sizeof settings, "STANDIN_ARCH=86 STANDIN_ARCHS=80 WICK_CACHE_DIR=%s", folder);
    in_child(settings, file_has_text);
}

static void no_supported_card(void)
{
    expect_absent(WK__NO_LIBRARY, "too new for this GPU");
}

static void only_first_card_is_supported(void)
{
    must(wk_device_count(WK_CUDA) == 2 && computes(0));
    must(!computes(1));
    must(strstr(wk_error(), "sm_70") != NULL && strstr(wk_error(), "install an older one") != NULL);
}

static void cards_older_than_the_compiler(void **state)
{
    (void)state;
    in_child("STANDIN_ARCH=70 STANDIN_ARCHS=75,80", no_supported_card);
    in_child("STANDIN_ARCH=80,70 STANDIN_ARCHS=75,80", only_first_card_is_supported);
}

/* ---- choice of the compiler -------------------------------------------------------------------------------------- */

static void link_standin(const char *folder, const char *library, const char *as)
{
    char from[2048], to[2048];
    assert_true(snprintf(from, sizeof from, "%s/standin/%s", getenv("WICK_BUILD"), library) < (int)sizeof from);
    assert_true(snprintf(to, sizeof to, "%s/%s", folder, as) < (int)sizeof to);
    unlink(to);
    assert_int_equal(symlink(from, to), 0);
}

/* Checks the file name of the compiler in use. */
static bool compiles_with(const char *name)
{
    Dl_info from;
    void *function;
    memcpy(&function, &wk__nvrtc.Version, sizeof function);
    return dladdr(function, &from) != 0 && strcmp(strrchr(from.dli_fname, '/') + 1, name) == 0;
}

static void uses_13(void)
{
    must(computes(0) && compiles_with("libnvrtc.so.13"));
}

static void uses_12(void)
{
    must(computes(0) && compiles_with("libnvrtc.so.12"));
}

static void no_compiler_is_old_enough(void)
{
    expect_absent(WK__NO_LIBRARY, "is installed only for CUDA 13, but the driver supports CUDA 12");
    expect_absent(WK__NO_LIBRARY, "pip install nvidia-cuda-nvrtc-cu12 and");
}

static void is_broken(void)
{
    expect_absent(WK__NO_LIBRARY, "libcuda.so.1: file too short");
}

/* The newest one that is not newer than the driver, in the first folder that contains any. */
static void compilers_newer_than_the_driver(void **state)
{
    (void)state;
    char both[1200], one[1400], path[4096];
    snprintf(both, sizeof both, "%s", folder_of("both"));
    link_standin(both, "libcuda.so.1", "libcuda.so.1");
    link_standin(both, "libnvrtc.so.13", "libnvrtc.so.13");
    link_standin(both, "libnvrtc.so.13", "libnvrtc.so.12");
    snprintf(one, sizeof one, "%s", folder_of("one"));
    link_standin(one, "libnvrtc.so.13", "libnvrtc.so.12");
    snprintf(path, sizeof path, "WICK_CUDA_PATH=%s STANDIN_DRIVER=13010", both);
    in_child(path, uses_13);
    snprintf(path, sizeof path, "WICK_CUDA_PATH=%s STANDIN_DRIVER=12040", both);
    in_child(path, uses_12);
    snprintf(path, sizeof path, "WICK_CUDA_PATH=/nowhere::%s:%s STANDIN_DRIVER=13000", one, both);
    in_child(path, uses_12);
    in_child("STANDIN_DRIVER=12090", no_compiler_is_old_enough);
    /* There may be machines with NVRTC for CUDA 13, but a driver for 13 always includes it. */
    assert_string_equal(wk__cuda_nvrtc_package(13, (char[40]){""}), "'nvidia-cuda-nvrtc==13.*'");
}

/* A file that is not a library is reported in the loader's words. */
static void broken_libraries(void **state)
{
    (void)state;
    char path[2048];
    const char *folder = folder_of("broken");
    snprintf(path, sizeof path, "%s/libcuda.so.1", folder);
    FILE *empty = fopen(path, "w");
    assert_non_null(empty);
    fclose(empty);
    snprintf(path, sizeof path, "WICK_CUDA_PATH=%s", folder);
    in_child(path, is_broken);
}

static void expect_no_version(void)
{
    expect_absent(WK__NO_LIBRARY, "does not report its targets");
}

static void is_too_old(void)
{
    expect_absent(WK__NO_LIBRARY, "NVRTC, CUDA's run-time compiler, is older than CUDA 11.2");
}

/* A library without some functions, or whose functions fail. */
static void incomplete_compilers(void **state)
{
    (void)state;
    char path[2000];
    const char *old = folder_of("old");
    link_standin(old, "libcuda.so.1", "libcuda.so.1");
    link_standin(old, "libnvidia-ml.so.1", "libnvrtc.so.13");
    snprintf(path, sizeof path, "WICK_CUDA_PATH=%s", old);
    in_child(path, is_too_old);
    in_child("STANDIN_ERRORS=nvrtcVersion=11", expect_no_version);
    in_child("STANDIN_ERRORS=nvrtcGetNumSupportedArchs=11", expect_no_version);
    in_child("STANDIN_ERRORS=nvrtcGetSupportedArchs=11", expect_no_version);
}

/* ---- drivers that do not start ----------------------------------------------------------------------------------- */

static struct {
    wk__backend_status presence;
    const char *words;
} reason;

static void is_absent(void)
{
    expect_absent(reason.presence, reason.words);
}

static void drivers(void **state)
{
    (void)state;
    static const struct {
        const char *settings;
        wk__backend_status presence;
        const char *words;
    } cases[] = {
        {"STANDIN_ERRORS=cuInit=100", WK__NO_DEVICE, "CUDA_VISIBLE_DEVICES"},
        {"STANDIN_ERRORS=cuDeviceGetCount=100", WK__NO_DEVICE, "CUDA_VISIBLE_DEVICES"},
        {"STANDIN_ERRORS=cuInit=802", WK__NO_DRIVER, "fabricmanager"},
        {"STANDIN_ERRORS=cuInit=804", WK__NO_DRIVER, "cuda-compat"},
        {"STANDIN_ERRORS=cuInit=34", WK__NO_DRIVER, "stub"},
        {"STANDIN_ERRORS=cuInit=803", WK__NO_DRIVER, "different versions"},
        {"STANDIN_ERRORS=cuInit=999", WK__NO_DRIVER, "CUDA_ERROR_UNKNOWN"},
        {"STANDIN_ERRORS=cuInit=12345", WK__NO_DRIVER, "CUDA error 12345"},
        {"STANDIN_DRIVER=11010", WK__DRIVER_TOO_OLD, "older than CUDA 11.2"},
        {"STANDIN_ERRORS=cuDriverGetVersion=1", WK__DRIVER_TOO_OLD, "older than CUDA 11.2"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        reason.presence = cases[k].presence;
        reason.words = cases[k].words;
        in_child(cases[k].settings, is_absent);
    }
}

/* Properties that no driver reports are left empty. */
static wk_code describe(int index, wk__device_info *info)
{
    wk__fail fail;
    const wk_code code = wk__cuda_info(index, info, &fail);
    if (code == WK_OK) wk__cuda_live_info(index, info);
    return code;
}

static void figures_are_unknown(void)
{
    wk__device_info info;
    must(describe(0, &info) == WK_OK);
    must(strcmp(info.driver, "CUDA 12.4") == 0 || strcmp(info.driver, "CUDA 13.0") == 0);
    must(info.temperature != info.temperature && info.power != info.power && info.utilisation != info.utilisation);
    must(info.memory_available == -1 && info.memory_total == (int64_t)2 << 30);
}

static void figures_are_known(void)
{
    wk__device_info info;
    must(describe(1, &info) == WK_OK);
    must(strcmp(info.driver, "580.65.06") == 0 && strcmp(info.pci, "0000:1b:00.0") == 0);
    must(info.temperature == 39 && info.power > 71 && info.power < 72 && info.utilisation == 0);
    must(info.memory_available > 0 && info.memory_available < info.memory_total);
}

/* MIG instances are devices with separate memory; temperature and power are the card's. */
static void mig_instances(void)
{
    wk__device_info info[2];
    for (int k = 0; k < 2; k++) {
        must(describe(k, &info[k]) == WK_OK);
        must(strcmp(info[k].pci, "0000:1a:00.0") == 0 && info[k].temperature == 41 && info[k].power == 87.5);
        must(info[k].memory_available == info[k].memory_total - ((int64_t)(64 + k) << 20));
        must(info[k].utilisation != info[k].utilisation);
    }
    must(wk_device_count(WK_GPU) == 2 && wk_device_eq(wk_device_parse("gpu:1"), wk_cuda(1)));
}

static void mig_instances_of_unknown_memory(void)
{
    wk__device_info info;
    must(describe(0, &info) == WK_OK);
    must(info.memory_available == -1 && info.temperature == 41);
}

/* The stand-in reports this process and one of unknown memory use, on the first card only. */
static void processes_are_known(void)
{
    wk__device_info info[2];
    for (int k = 0; k < 2; k++) must(describe(k, &info[k]) == WK_OK);
    must(info[0].processes == 2 && info[1].processes == 0);
    must(info[0].process[0].id == (int64_t)getpid() && info[0].process[0].memory == (int64_t)64 << 20);
    must(info[0].process[1].id == 4194303 && info[0].process[1].memory == 0);
}

static int asked_for_heat;

static int heat(nvmlDevice device, int sensor, unsigned *degrees)
{
    (void)device, (void)sensor;
    asked_for_heat++;
    *degrees = 55;
    return NVML_SUCCESS;
}

/* Parsing gpu:0 searches the cards on each call, without calling NVML, which is slow and used only for statistics. */
static void gpus_are_found_without_figures(void)
{
    wk_device_properties known = {.size = sizeof known};
    must(wk_device_count(WK_CUDA) == 2);
    wk__nvml.DeviceGetTemperature = heat;
    must(wk_device_eq(wk_gpu(0), wk_cuda(0)) && wk_device_count(WK_GPU) >= 2 && asked_for_heat == 0);
    must(wk_device_get_properties(wk_gpu(0), &known) == WK_OK && known.temperature == 55 && asked_for_heat == 1);
}

static void figures(void **state)
{
    (void)state;
    in_child("STANDIN_ERRORS=nvmlInit_v2=1", figures_are_unknown);
    in_child("STANDIN_ERRORS=", figures_are_known);
    in_child("STANDIN_ENTRIES=24", processes_are_known);
    in_child("STANDIN_ENTRIES=32", processes_are_known);
    in_child("STANDIN_ERRORS=", gpus_are_found_without_figures);
    in_child("STANDIN_MIG=1", mig_instances);
    in_child("STANDIN_MIG=1 STANDIN_ERRORS=nvmlDeviceGetHandleByUUID=6", mig_instances_of_unknown_memory);
    in_child("STANDIN_MIG=1 STANDIN_ERRORS=cuDeviceGetUuid_v2=1", mig_instances_of_unknown_memory);
}

/* ---- fork -------------------------------------------------------------------------------------------------------- */

static bool sums_on(wk_device device)
{
    WK_SCOPE;
    return wk_item(wk_sum(wk_ones((3), .device = device))) == 3 && wk_error() == NULL;
}

static void ends_well(void (*body)(void))
{
    int status = 1;
    const pid_t child = fork();
    if (child == 0) {
        body();
        exit(0);
    }
    must(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void uses_cuda(void)
{
    must(wk_device_count(WK_CUDA) == 2 && sums_on(wk_cuda(1)));
}

static long counts_by_nvml(void)
{
    long (*count)(const char *);
    standin_find("libnvidia-ml.so.1", "standin_count", &count);
    return count("nvmlDeviceGetCount_v2");
}

static void counts_again(void)
{
    for (int k = 0; k < 3; k++) must(wk_device_count(WK_CUDA) == 2);
    must(counts_by_nvml() == 1 && driver_calls("cuInit") == 0);
}

/* NVML counts the cards once, without initialising the driver; children inherit the count. Only the driver knows of
 * cards that environment variables hide later. */
static void counts_once(void)
{
    counts_again();
    ends_well(counts_again);
    setenv("CUDA_VISIBLE_DEVICES", "1", 1);
    must(wk_device_count(WK_CUDA) == 2 && driver_calls("cuInit") == 1 && counts_by_nvml() == 1);
}

static void counts_none_twice(void)
{
    const long before = counts_by_nvml();
    for (int k = 0; k < 2; k++) must(wk_device_count(WK_CUDA) == 0);
    must(counts_by_nvml() == before + 2 && driver_calls("cuInit") == 0);
}

/* On a machine without cards, a card may be added later. */
static void counts_none(void)
{
    wk_device_count(WK_CUDA);
    counts_none_twice();
    ends_well(counts_none_twice);
}

/* A server that counts devices before it forks can use all of them in its workers. */
static void count_then_fork(void)
{
    must(wk_device_count(WK_CUDA) == 2);
    ends_well(uses_cuda);
    ends_well(figures_are_known); /* also those of NVML, which the parent had initialised */
    must(sums_on(wk_cuda(0)));
}

static void may_not_use_cuda(void)
{
    WK_SCOPE;
    must(wk_device_count(WK_CUDA) == 2 && sums_on(wk_cpu()));
    const wk_device gpu = wk_try_gpu(0); /* not the CPU, which would be a silent, slower choice */
    must(wk_device_eq(gpu, wk_cuda(0)) && wk_error() == NULL);
    for (int k = 0; k < 2; k++) {
        must(wk_ones((3), .device = k == 0 ? gpu : wk_gpu(1)) == NULL && strstr(wk_error(), "forked") != NULL);
        wk_clear_error();
    }
    if (wk_device_count(WK_OPENCL) > 0) must(sums_on(wk_opencl(0))); /* even though no device was listed before */
}

/* Questions that only the driver can answer initialise it; afterwards children cannot use it. */
static void query_driver_then_fork(void)
{
    wk_device_properties known = {.size = sizeof known};
    must(wk_device_get_properties(wk_cuda(0), &known) == WK_OK);
    ends_well(may_not_use_cuda);
    must(sums_on(wk_cuda(0)));
}

/* In a child of a process that has computed, the devices are listed, and each call on them fails with advice. */
static void expect_no_cuda_in_child(void)
{
    WK_SCOPE;
    wk_device all[3];
    must(wk_device_count(WK_CUDA) == 2 && wk_device_count(WK_GPU) == 2 && wk_try_all_gpus(all, 3) == 2);
    const wk_device tried[] = {wk_try_gpu(0), wk_try_gpu(1), all[1]};
    must(wk_device_eq(tried[0], wk_cuda(0)) && wk_device_eq(tried[1], wk_cuda(1)) && wk_device_eq(all[1], wk_cuda(1)));
    must(wk_error() == NULL);
    for (int k = 0; k < 3; k++) {
        must(wk_ones((3), .device = tried[k]) == NULL && wk_error_code() == WK_ERR_STATE);
        must(strstr(wk_error(), "used cuda:1 (first in ones at") != NULL &&
             strstr(wk_error(), "fork before the first use") != NULL);
        wk_clear_error();
    }
}

static void compute_then_fork(void)
{
    must(sums_on(wk_cuda(1)));
    ends_well(expect_no_cuda_in_child);
}

static void counts_by_the_driver(void)
{
    must(wk_device_count(WK_CUDA) == 2);
    ends_well(may_not_use_cuda);
}

/* NVML counts two cards, but neither can compute. */
static void count_no_usable_device(void)
{
    must(wk_device_count(WK_CUDA) == 0);
}

static void forks(void **state)
{
    (void)state;
    in_child("STANDIN_ERRORS=", counts_once);
    in_child("STANDIN_DRIVER=11010", count_no_usable_device);
    in_child("STANDIN_ERRORS=nvrtcVersion=11", count_no_usable_device);
    in_child("STANDIN_DEVICES=0", counts_none);
    in_child("STANDIN_ERRORS=", count_then_fork);
    in_child("STANDIN_ERRORS=", query_driver_then_fork);
    in_child("STANDIN_ERRORS=", compute_then_fork);
    in_child("CUDA_VISIBLE_DEVICES=0,1", counts_by_the_driver);
    in_child("STANDIN_MIG=1", counts_by_the_driver);
    in_child("STANDIN_ERRORS=nvmlInit_v2=1", counts_by_the_driver);
}

/* ---- cards that cannot be opened --------------------------------------------------------------------------------- */

static const char *mode_words;

static void is_not_opened(void)
{
    must(wk_device_count(WK_CUDA) == 2);
    must(!computes(0));
    must(wk_error_code() == WK_ERR_DEVICE && strstr(wk_error(), mode_words) != NULL);
    wk_clear_error();
    must(wk_item(wk_sum(wk_ones((3)))) == 3);
}

static void compute_modes(void **state)
{
    (void)state;
    mode_words = "the compute mode of this GPU is Prohibited";
    in_child("STANDIN_ATTRIBUTES=20=2", is_not_opened);
    mode_words = "another process has exclusive use of this GPU";
    in_child("STANDIN_ATTRIBUTES=20=3", is_not_opened);
    in_child("STANDIN_ERRORS=cuDevicePrimaryCtxRetain=46", is_not_opened);
}

/* ---- launches in parts ------------------------------------------------------------------------------------------- */

/* Elementwise by work-items of four elements, by rows, and in chunks with scratch memory. */
static void has_few_blocks(void)
{
    enum { ROWS = 10, COLUMNS = 1100, COUNT = ROWS * COLUMNS, LONG = 100000 };
    WK_SCOPE;
    must(card(0)->max_groups == 3);
    wk_tensor *x = wk_to(wk_arange(COUNT, .dtype = WK_F32), wk_cuda(0));
    wk_tensor *doubled = wk_to(wk_mul(x, 2), wk_cpu());
    wk_tensor *rows = wk_to(wk_sum(wk_reshape(x, (ROWS, COLUMNS)), (1)), wk_cpu());
    const long before = driver_calls("cuLaunchKernel");
    wk_flush();
    must(driver_calls("cuLaunchKernel") - before >= (COUNT / 4 / 256 + 1) / 3 + ROWS / 3);
    for (int k = 0; k < COUNT; k++) must(wk_item(wk_select(doubled, 0, k)) == 2 * k);
    for (int k = 0; k < ROWS; k++)
        must(wk_item(wk_select(rows, 0, k)) == COLUMNS * (COLUMNS * k + (COLUMNS - 1) / 2.0));
    wk_tensor *ones = wk_to(wk_ones((LONG)), wk_cuda(0));
    must(wk_item(wk_sum(ones)) == LONG && wk_error() == NULL);
}

static void limits_are_known(void)
{
    must(card(0)->max_groups == 32768);
}

static void expect_no_time_limit(void)
{
    must(card(0)->max_groups == INT32_MAX);
}

/* If the driver stops kernels that run for seconds, launches are split into shorter ones. */
static void maximum_number_of_blocks(void **state)
{
    (void)state;
    in_child("STANDIN_ATTRIBUTES=5=3", has_few_blocks);
    in_child("STANDIN_ATTRIBUTES=17=1", limits_are_known);
    in_child("STANDIN_ATTRIBUTES=17=0", expect_no_time_limit);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(architectures),
        cmocka_unit_test(cards_that_take_text),
        cmocka_unit_test(cards_older_than_the_compiler),
        cmocka_unit_test(compilers_newer_than_the_driver),
        cmocka_unit_test(broken_libraries),
        cmocka_unit_test(incomplete_compilers),
        cmocka_unit_test(drivers),
        cmocka_unit_test(figures),
        cmocka_unit_test(forks),
        cmocka_unit_test(compute_modes),
        cmocka_unit_test(maximum_number_of_blocks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
