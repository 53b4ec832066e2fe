/* SPDX-License-Identifier: Apache-2.0 */
/* Files of a folder: JSON, weights, and model.safetensors.index.json, which lists the file of each tensor; see
 * pretrained_config.h. */
#include "base/alloc.h"
#include "pretrained_config.h"
#include <string.h>

/* ---- files of one object ----------------------------------------------------------------------------------------- */

wk_code wk__pretrained_file_read(const char *path, int64_t most, wk__text *text, const wk__field *fields, int count,
                                 void *into, wk__io_error *error)
{
    wk__file file;
    wk_code code = wk__file_open(&file, path, error);
    if (code != WK_OK) return code;
    if (file.bytes > most) code = wk__io_fail(error, WK_ERR_FORMAT, "%lld bytes are too many", (long long)file.bytes);
    if (code == WK_OK) {
        wk__text_repeat(text, ' ', file.bytes);
        code = text->failed ? wk__io_fail(error, WK_ERR_MEMORY, "out of host memory")
                            : wk__file_read_at(&file, 0, text->data, file.bytes, error);
    }
    wk__file_close(&file);
    if (code == WK_OK) {
        char *const start = text->data ? text->data : (char[]){""};
        wk__json json = {.start = start, .at = start, .end = start + text->length, .whole = "file"};
        code = wk__json_part_of_object(&json, fields, count, into, error);
        if (code == WK_OK) code = wk__json_end(&json, error);
    }
    return code == WK_OK ? WK_OK : wk__io_prefix(error, "%s", wk__printable_name(path).text);
}

/* ---- lists of files ---------------------------------------------------------------------------------------------- */

void wk__pretrained_files_free(wk__pretrained_files *files)
{
    wk__free(files->name);
    wk__text_free(&files->text);
    *files = (wk__pretrained_files){.count = 0};
}

bool wk__pretrained_files_add(wk__pretrained_files *files, const char *name)
{
    if (!wk__grow(&files->name, &files->capacity, files->count + 1, sizeof *files->name)) return false;
    files->name[files->count++] = name;
    return true;
}

/* A name of a folder would read files that the program does not expect. */
static bool is_plain(const char *name)
{
    return *name && *name != '.' && !strchr(name, '/');
}

/* Adds a name that the list lacks. */
static wk_code add_name(wk__pretrained_files *files, const char *name, wk__io_error *error)
{
    enum { MOST = 4096 };
    for (int64_t k = files->count; k-- > 0;)
        if (strcmp(files->name[k], name) == 0) return WK_OK;
    if (!is_plain(name))
        return wk__io_fail(error, WK_ERR_FORMAT, "\"%s\" is not the name of a file in the folder",
                           wk__printable_name(name).text);
    if (files->count == MOST) return wk__io_fail(error, WK_ERR_FORMAT, "it lists more than %d files", MOST);
    return wk__pretrained_files_add(files, name) ? WK_OK : wk__io_fail(error, WK_ERR_MEMORY, "out of host memory");
}

/* Reads the object from names of tensors to names of files. */
static wk_code read_map(wk__json *json, void *into, wk__io_error *error)
{
    wk_code code = wk__json_expect(json, '{', error);
    for (bool first = true, more; code == WK_OK; first = false) {
        const char *tensor, *file;
        if ((code = wk__json_item(json, '}', first, &more, error)) != WK_OK || !more) break;
        code = wk__json_string(json, &tensor, error);
        if (code == WK_OK) code = wk__json_expect(json, ':', error);
        if (code == WK_OK) code = wk__json_string(json, &file, error);
        if (code == WK_OK) code = add_name(into, file, error);
    }
    return code;
}

static wk_code read_index(const char *path, wk__pretrained_files *out, wk__io_error *error)
{
    enum { MOST = 1 << 27 };
    static const wk__field fields[] = {{.name = "weight_map", .kind = WK__FIELD_READ, .read = read_map}};
    const wk_code code = wk__pretrained_file_read(path, MOST, &out->text, fields, 1, out, error);
    if (code != WK_OK || out->count > 0) return code;
    return wk__io_fail(error, WK_ERR_FORMAT, "%s: \"weight_map\" lists no files", wk__printable_name(path).text);
}

/* ---- folders ----------------------------------------------------------------------------------------------------- */

wk__text wk__pretrained_path(const char *folder, const char *name)
{
    wk__text path = {0};
    wk__text_format(&path, *name ? "%s/%s" : "%s", folder, name);
    return path;
}

bool wk__pretrained_is_file(const char *path)
{
    wk__file file;
    wk__io_error error;
    if (wk__file_open(&file, path, &error) != WK_OK) return false;
    wk__file_close(&file);
    return true;
}

wk_code wk__pretrained_files_list(const char *folder, wk__pretrained_files *out, wk__io_error *error)
{
    static const char only[] = "model.safetensors", index[] = "model.safetensors.index.json";
    wk__text path = wk__pretrained_path(folder, only), of_index = wk__pretrained_path(folder, index);
    *out = (wk__pretrained_files){.count = 0};
    wk_code code;
    if (path.failed || of_index.failed)
        code = wk__io_fail(error, WK_ERR_MEMORY, "out of host memory");
    else if (wk__pretrained_is_file(path.data) || !wk__pretrained_is_file(of_index.data))
        code = add_name(out, only, error);
    else
        code = read_index(of_index.data, out, error);
    wk__text_free(&path);
    wk__text_free(&of_index);
    if (code != WK_OK) wk__pretrained_files_free(out);
    return code;
}
