/* SPDX-License-Identifier: Apache-2.0 */
/* Files of language models (gpt.h). */
#include "gpt.h"
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

wk_module *cli_gpt_create(int64_t vocabulary, int64_t context, int64_t width, int64_t layers, int64_t heads)
{
    return wk_nn_gpt(.vocab_size = vocabulary, .n_positions = context, .n_embd = width, .n_layer = layers,
                     .n_head = heads, .dropout = 0);
}

/* ---- files of wick train gpt ------------------------------------------------------------------------------------- */

/* Returns the tokens of a vocabulary as one text, which the caller frees; NULL on allocation failure. */
static char *join_tokens(const wk_text *text)
{
    const int64_t count = wk_text_vocabulary(text);
    size_t length = 1;
    for (int64_t k = 0; k < count; k++) length += strlen(wk_text_token(text, k));
    char *joined = malloc(length), *at = joined;
    if (joined) *at = 0;
    for (int64_t k = 0; joined && k < count; k++) at = stpcpy(at, wk_text_token(text, k));
    return joined;
}

bool cli_gpt_save(const cli_gpt *gpt, int64_t heads, const char *file)
{
    char count[24], *characters = join_tokens(gpt->text);
    snprintf(count, sizeof count, "%lld", (long long)heads);
    const wk_file_pair about[] = {
        {"wick.model", "gpt"}, {"wick.n_head", count}, {"wick.characters", characters ? characters : ""}};
    if (!characters) fprintf(stderr, "wick: out of memory\n");
    const bool fine = characters && wk_save(gpt->net, file, .metadata = about, .pairs = 3) == WK_OK;
    free(characters);
    return fine;
}

/* Returns the number of blocks in the file. */
static int64_t count_layers(const wk_file_info *info)
{
    char name[64];
    int64_t layers = 0;
    do snprintf(name, sizeof name, "transformer.h.%lld.ln_1.weight", (long long)layers);
    while (cli_tensor_of(info, name) && ++layers < 1000);
    return layers;
}

static bool read_file(const char *command, const char *path, wk_device device, cli_gpt *out)
{
    const wk_file_info *info = wk_load_info(path);
    if (!info) {
        cli_report_error(command);
        return false;
    }
    const wk_file_tensor *tokens = cli_tensor_of(info, "transformer.wte.weight");
    const wk_file_tensor *positions = cli_tensor_of(info, "transformer.wpe.weight");
    const char *model = cli_metadata_of(info, "wick.model"), *heads = cli_metadata_of(info, "wick.n_head");
    const char *characters = cli_metadata_of(info, "wick.characters");
    if (!model || strcmp(model, "gpt") != 0 || !heads || !characters || !tokens || tokens->ndim != 2 || !positions ||
        positions->ndim != 2) {
        fprintf(stderr, "wick %s: %s is not a file of wick train gpt%s%s\n", command, path,
                model ? "; its network is " : "; for a model of transformers pass its folder", model ? model : "");
        return false;
    }
    out->context = positions->shape[0];
    out->net =
        cli_gpt_create(tokens->shape[0], out->context, tokens->shape[1], count_layers(info), strtol(heads, NULL, 10));
    out->text = wk_text_chars_of(characters);
    wk_load(out->net, path);
    wk_module_to(out->net, device);
    if (!wk_error() && wk_text_vocabulary(out->text) == tokens->shape[0]) return true;
    if (wk_error())
        cli_report_error(command);
    else
        fprintf(stderr, "wick %s: %s has %lld characters for %lld tokens\n", command, path,
                (long long)wk_text_vocabulary(out->text), (long long)tokens->shape[0]);
    return false;
}

/* ---- folders of transformers, GGUF files ------------------------------------------------------------------------- */

/* Writes "folder/name" to path. Returns true if such a file exists. */
static bool find_file(const char *folder, const char *name, char path[PATH_MAX])
{
    const int length = snprintf(path, PATH_MAX, "%s/%s", folder, name);
    return length < PATH_MAX && access(path, F_OK) == 0;
}

static wk_text *read_tokenizer(const char *command, const char *folder)
{
    char first[PATH_MAX], second[PATH_MAX];
    if (find_file(folder, "tokenizer.json", first)) return wk_text_load(first);
    const bool vocab = find_file(folder, "vocab.json", first), merges = find_file(folder, "merges.txt", second);
    if (vocab && merges) return wk_text_load_gpt2(first, second);
    fprintf(stderr, "wick %s: no tokenizer.json, or vocab.json and merges.txt, in %s%s\n", command, folder,
            vocab    ? ": merges.txt is missing"
            : merges ? ": vocab.json is missing"
                     : "");
    return NULL;
}

static bool read_pretrained(const char *command, const char *path, bool folder, wk_device device, cli_gpt *out)
{
    out->net = wk_nn_pretrained(path, .device = device, .quantized = true, .mmap = true);
    if (out->net) out->text = folder ? read_tokenizer(command, path) : wk_text_load(path);
    if (wk_error()) cli_report_error(command);
    if (!out->text) return false;
    wk_tensor *positions = wk_tensors_find(wk_parameters(out->net), "transformer.wpe.weight");
    out->context = positions ? wk_size(positions, 0) : 0;
    return true;
}

bool cli_gpt_read(const char *command, const char *path, wk_device device, cli_gpt *out)
{
    struct stat is;
    *out = (cli_gpt){.net = NULL};
    const bool folder = stat(path, &is) == 0 && S_ISDIR(is.st_mode);
    const size_t length = strlen(path);
    const bool gguf = length > 5 && strcmp(path + length - 5, ".gguf") == 0;
    return folder || gguf ? read_pretrained(command, path, folder, device, out) : read_file(command, path, device, out);
}
