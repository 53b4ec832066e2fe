/* SPDX-License-Identifier: Apache-2.0 */
/* CUDA's compiler, for the units that all dialects build alike (gpu/build.c). */
#include "../gpu/build.h"
#include "device.h"

#include <stdio.h>
#include <string.h>

enum { MOST_OPTIONS = 8 };

/* The card's options are separated by spaces. */
static int split(char *text, const char *option[MOST_OPTIONS])
{
    int count = 0;
    char *rest = NULL;
    for (char *one = strtok_r(text, " ", &rest); one != NULL && count < MOST_OPTIONS; one = strtok_r(NULL, " ", &rest))
        option[count++] = one;
    return count;
}

/* What the compiler wrote. */
static wk_code refused(nvrtcProgram program, wk__fail *fail)
{
    wk__text log = {0};
    size_t bytes = 0;
    if (wk__nvrtc.GetProgramLogSize(program, &bytes) == NVRTC_SUCCESS && bytes > 0) {
        wk__text_char(&log, '\0', (int64_t)bytes); /* room for it */
        if (!log.failed && wk__nvrtc.GetProgramLog(program, log.data) != NVRTC_SUCCESS) wk__text_end(&log);
    }
    const wk_code code = wk__gpu_refused(fail, log.data != NULL ? log.data : "it did not say why");
    wk__text_end(&log);
    return code;
}

/* What failed was not what the text says: it is tried again when it is wanted next (gpu/build.c). */
static wk_code not_the_text(wk__fail *fail)
{
    if (fail->code == WK_ERR_INTERNAL) fail->code = WK_ERR_DEVICE;
    return fail->code;
}

/* Code for the card, or text from which its driver makes that. */
static int read_code(const wk__cuda_card *card, nvrtcProgram program, wk__text *binary)
{
    size_t bytes = 0;
    int error = card->as_ptx ? wk__nvrtc.GetPTXSize(program, &bytes) : wk__nvrtc.GetCUBINSize(program, &bytes);
    if (error != NVRTC_SUCCESS) return error;
    wk__text_char(binary, '\0', (int64_t)bytes); /* room for it */
    if (bytes == 0 || binary->failed) return NVRTC_ERROR_OUT_OF_MEMORY;
    return card->as_ptx ? wk__nvrtc.GetPTX(program, binary->data) : wk__nvrtc.GetCUBIN(program, binary->data);
}

/* From source to code; *binary is empty on failure. */
static wk_code translate(const wk__cuda_card *card, const char *source, wk__text *binary, wk__fail *fail)
{
    char options[sizeof card->options];
    const char *option[MOST_OPTIONS];
    nvrtcProgram program;
    snprintf(options, sizeof options, "%s", card->options);
    const int count = split(options, option);
    int error = wk__nvrtc.CreateProgram(&program, source, "wick.cu", 0, NULL, NULL);
    wk_code code = WK_OK;
    if (error == NVRTC_SUCCESS) {
        error = wk__nvrtc.CompileProgram(program, count, option);
        if (error != NVRTC_SUCCESS && error != NVRTC_ERROR_OUT_OF_MEMORY) {
            code = refused(program, fail);
            if (error != NVRTC_ERROR_COMPILATION) code = not_the_text(fail);
        }
        if (error == NVRTC_SUCCESS) error = read_code(card, program, binary);
        wk__nvrtc.DestroyProgram(&program);
    }
    if (code == WK_OK && error == NVRTC_ERROR_OUT_OF_MEMORY)
        code = wk__fail_set(fail, WK_ERR_MEMORY, "no host memory to compile a kernel");
    else if (code == WK_OK && error != NVRTC_SUCCESS)
        code = wk__fail_set(fail, WK_ERR_DEVICE, "compiling a kernel: NVRTC error %d", error);
    if (code != WK_OK) wk__text_end(binary);
    return code;
}

/* The device's lock is held. */
static wk_code compile(void *user, const char *source, void **out, wk__text *binary, wk__fail *fail)
{
    wk__cuda_device *device = user;
    wk__text here = {0};
    CUmodule module = NULL;
    wk_code code = translate(device->card, source, &here, fail);
    if (code != WK_OK) return code;
    const CUresult error = wk__cuda.ModuleLoadData(&module, here.data);
    if (error != CUDA_SUCCESS) {
        wk__cuda_failed(device, fail, error, "loading a kernel");
        code = not_the_text(fail);
    }
    *out = module;
    if (code == WK_OK && binary != NULL)
        *binary = here;
    else
        wk__text_end(&here);
    return code;
}

static void *load(void *user, const char *binary, int64_t bytes)
{
    (void)user, (void)bytes;
    CUmodule module = NULL;
    return wk__cuda.ModuleLoadData(&module, binary) == CUDA_SUCCESS ? module : NULL;
}

static void *function(void *program, const char *name)
{
    CUfunction made = NULL;
    return wk__cuda.ModuleGetFunction(&made, program, name) == CUDA_SUCCESS ? made : NULL;
}

static void release_program(void *program)
{
    wk__cuda.ModuleUnload(program);
}

const wk__gpu_compiler wk__cuda_compiler = {
    .magic = "wick cuda 1\n",
    .compile = compile,
    .load = load,
    .function = function,
    .release_program = release_program,
};
