/* SPDX-License-Identifier: Apache-2.0 */
/* Networks by name, names of classes, and files of networks (model.h). */
#include "../src/base/utf8.h"
#include "model.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- networks ---------------------------------------------------------------------------------------------------- */

static wk_module *create_mnist(int64_t classes, int64_t channels)
{
    const int64_t pixels = channels * CLI_IMAGE_SIZE * CLI_IMAGE_SIZE;
    return wk_nn_sequential(wk_nn_flatten(), wk_nn_linear(pixels, 256), wk_nn_relu(), wk_nn_linear(256, classes));
}

static wk_module *create_lenet(int64_t classes, int64_t channels)
{
    return wk_nn_lenet(.classes = classes, .in_channels = channels);
}

static wk_module *create_resnet18(int64_t classes, int64_t channels)
{
    return wk_nn_resnet(18, .classes = classes, .in_channels = channels);
}

static const cli_model models[] = {
    {"mnist", "784-256-10 network", NULL, "3.weight", 1e-3, false, create_mnist},
    {"lenet", "LeNet", "0.weight", "11.weight", 1e-2, false, create_lenet},
    {"resnet18", "ResNet-18", "conv1.weight", "fc.weight", 1e-3, true, create_resnet18},
};

const cli_model *cli_model_find(const char *name)
{
    for (size_t k = 0; k < sizeof models / sizeof *models; k++)
        if (strcmp(models[k].name, name) == 0) return &models[k];
    return NULL;
}

const char *cli_model_names(void)
{
    return "mnist, lenet, resnet18";
}

const char *cli_model_nearest(const char *word)
{
    const char *nearest = NULL;
    for (size_t k = 0; k < sizeof models / sizeof *models; k++) nearest = cli_nearer(word, models[k].name, nearest);
    return nearest;
}

/* ---- names of classes -------------------------------------------------------------------------------------------- */

bool cli_names_split(const char *text, cli_names *out)
{
    size_t length = strlen(text), lines = 1;
    while (length > 0 && (text[length - 1] == '\n' || text[length - 1] == '\r')) length--;
    for (size_t k = 0; k < length; k++) lines += text[k] == '\n';
    *out = (cli_names){.text = malloc(length + 1), .item = calloc(lines, sizeof *out->item)};
    if (!out->text || !out->item) {
        cli_names_free(out);
        return false;
    }
    memcpy(out->text, text, length);
    out->text[length] = 0;
    for (char *at = out->text; at && length > 0;) {
        char *end = strchr(at, '\n');
        if (end) *end = 0;
        const size_t here = strlen(at);
        if (here > 0 && at[here - 1] == '\r') at[here - 1] = 0;
        out->item[out->count++] = at;
        at = end ? end + 1 : NULL;
    }
    return true;
}

char *cli_names_join(const cli_names *names)
{
    size_t length = 0;
    for (int64_t k = 0; k < names->count; k++) length += strlen(names->item[k]) + 1;
    char *text = malloc(length + 1), *at = text;
    for (int64_t k = 0; text && k < names->count; k++) at = stpcpy(k > 0 ? stpcpy(at, "\n") : at, names->item[k]);
    return text;
}

/* Returns the text of a file, at most 1 MiB, which the caller frees; NULL with errno. */
static char *read_text(const char *path)
{
    enum { MOST = 1 << 20 };
    FILE *file = fopen(path, "rb");
    char *text = file ? malloc(MOST + 1) : NULL;
    const size_t bytes = text ? fread(text, 1, MOST + 1, file) : 0;
    const int problem = !file || !text ? errno : ferror(file) ? EIO : bytes > MOST ? EFBIG : 0;
    if (file) fclose(file);
    if (problem == 0) {
        text[bytes] = 0;
        return text;
    }
    free(text);
    errno = problem;
    return NULL;
}

bool cli_names_read(const char *command, const char *path, cli_names *out)
{
    char *text = read_text(path);
    const bool valid = text && wk__is_utf8(text), split = valid && cli_names_split(text, out);
    if (!text)
        fprintf(stderr, "wick %s: cannot read --classes %s: %s\n", command, path, strerror(errno));
    else if (!valid)
        fprintf(stderr, "wick %s: --classes %s is not a text in UTF-8\n", command, path);
    else if (!split)
        fprintf(stderr, "wick %s: out of memory\n", command);
    else if (out->count == 0)
        fprintf(stderr, "wick %s: --classes %s is empty; expected one name per line\n", command, path);
    free(text);
    if (!split || out->count > 0) return split;
    cli_names_free(out);
    return false;
}

void cli_names_free(cli_names *names)
{
    free(names->text);
    free(names->item);
    *names = (cli_names){0};
}

/* ---- files of networks ------------------------------------------------------------------------------------------- */

const char *cli_metadata_of(const wk_file_info *info, const char *key)
{
    for (const wk_file_pair *const *pair = info->metadata; *pair; pair++)
        if (strcmp((*pair)->key, key) == 0) return (*pair)->value;
    return NULL;
}

const wk_file_tensor *cli_tensor_of(const wk_file_info *info, const char *name)
{
    for (const wk_file_tensor *const *tensor = info->tensors; *tensor; tensor++)
        if (strcmp((*tensor)->name, name) == 0) return *tensor;
    return NULL;
}

void cli_report_error(const char *command)
{
    const char *text = wk_error() ? wk_error() : "unknown error", *end;
    for (int skipped = 0; skipped < 2 && (end = strstr(text, ": ")); skipped++) text = end + 2;
    fprintf(stderr, "wick %s: %s\n", command, text);
    wk_clear_error();
}
