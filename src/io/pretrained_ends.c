/* SPDX-License-Identifier: Apache-2.0 */
/* The tokens that end a text of a pretrained model: "eos_token_id" of generation_config.json, or of config.json if the
 * folder has no such file or it names none. */
#include "pretrained_config.h"

enum { MOST_BYTES = 1 << 24 };

static wk_code add_end(wk__json *json, void *into, wk__io_error *error)
{
    wk__pretrained_ends *ends = into;
    int64_t token;
    const wk_code code = wk__json_integer(json, &token, error);
    if (code != WK_OK) return code;
    if (ends->count == WK__PRETRAINED_ENDS)
        return wk__io_fail(error, WK_ERR_UNSUPPORTED, "\"eos_token_id\" has more than %d tokens", WK__PRETRAINED_ENDS);
    ends->token[ends->count++] = token;
    return WK_OK;
}

static wk_code read_ends(wk__json *json, void *into, wk__io_error *error)
{
    return wk__json_peek(json) == '[' ? wk__json_array(json, add_end, into, error) : add_end(json, into, error);
}

wk_code wk__pretrained_ends_read(const char *folder, wk__pretrained_ends *out, wk__io_error *error)
{
    static const char *const names[] = {"generation_config.json", "config.json"};
    static const wk__field fields[] = {{.name = "eos_token_id", .kind = WK__FIELD_READ, .read = read_ends}};
    wk_code code = WK_OK;
    *out = (wk__pretrained_ends){.count = 0};
    for (int k = 0; k < 2 && code == WK_OK && out->count == 0; k++) {
        wk__text path = wk__pretrained_path(folder, names[k]), text = {0};
        if (path.failed)
            code = wk__io_fail(error, WK_ERR_MEMORY, "out of host memory");
        else if (wk__pretrained_is_file(path.data))
            code = wk__pretrained_file_read(path.data, MOST_BYTES, &text, fields, 1, out, error);
        wk__text_free(&path);
        wk__text_free(&text);
    }
    return code;
}
