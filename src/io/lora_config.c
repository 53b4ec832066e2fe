/* SPDX-License-Identifier: Apache-2.0 */
/* adapter_config.json of Hugging Face's peft; see lora_config.h. */
#include "lora_config.h"
#include <math.h>
#include <string.h>

enum { MOST_BYTES = 1 << 24 };

/* ---- reading ----------------------------------------------------------------------------------------------------- */

/* The fields that the library reads. */
typedef struct fields_read {
    const char *peft_type;
    int64_t r;
    double lora_alpha, lora_dropout;
    bool use_rslora, use_dora, use_qalora;
} fields_read;

/* Takes an empty object or array. */
static wk_code read_empty(wk__json *json, void *into, wk__io_error *error)
{
    (void)into;
    const char open = wk__json_peek(json), close = open == '{' ? '}' : ']', *const at = json->at;
    bool more = open != '{' && open != '[';
    wk_code code = WK_OK;
    if (!more) code = wk__json_expect(json, open, error);
    if (code == WK_OK && !more) code = wk__json_item(json, close, true, &more, error);
    if (code != WK_OK || !more) return code;
    return wk__io_fail(error, WK_ERR_UNSUPPORTED, "the setting at byte %lld is not supported; expected it empty",
                       (long long)wk__json_position(json, at));
}

/* Takes true, false or the name of an initialisation that leaves the weights of the network as they are. */
static wk_code read_initialisation(wk__json *json, void *into, wk__io_error *error)
{
    static const char *const known[] = {"gaussian", "orthogonal", "eva"};
    (void)into;
    bool value;
    const char *name;
    if (wk__json_peek(json) != '"') return wk__json_bool(json, &value, error);
    const wk_code code = wk__json_string(json, &name, error);
    if (code != WK_OK) return code;
    for (size_t k = 0; k < sizeof known / sizeof *known; k++)
        if (strcmp(name, known[k]) == 0) return WK_OK;
    return wk__io_fail(error, WK_ERR_UNSUPPORTED, "\"init_lora_weights\" is \"%s\", which changes the other weights",
                       wk__printable_name(name).text);
}

static const wk__field fields[] = {
    WK__FIELD_OF(fields_read, peft_type, WK__FIELD_STRING),
    WK__FIELD_OF(fields_read, r, WK__FIELD_INTEGER),
    WK__FIELD_OF(fields_read, lora_alpha, WK__FIELD_NUMBER),
    WK__FIELD_OF(fields_read, lora_dropout, WK__FIELD_NUMBER),
    WK__FIELD_OF(fields_read, use_rslora, WK__FIELD_BOOL),
    WK__FIELD_OF(fields_read, use_dora, WK__FIELD_BOOL),
    WK__FIELD_OF(fields_read, use_qalora, WK__FIELD_BOOL),
    {.name = "init_lora_weights", .kind = WK__FIELD_READ, .read = read_initialisation},
    {.name = "rank_pattern", .kind = WK__FIELD_READ, .read = read_empty},
    {.name = "alpha_pattern", .kind = WK__FIELD_READ, .read = read_empty},
    {.name = "layer_replication", .kind = WK__FIELD_READ, .read = read_empty},
    {.name = "alora_invocation_tokens", .kind = WK__FIELD_READ, .read = read_empty},
    {.name = "modules_to_save", .kind = WK__FIELD_READ, .read = read_empty},
};
enum { FIELDS = sizeof fields / sizeof *fields };

static wk_code check(const fields_read *f, wk__io_error *error)
{
    if (!f->peft_type) return wk__io_fail(error, WK_ERR_FORMAT, "\"peft_type\" is missing");
    if (strcmp(f->peft_type, "LORA") != 0)
        return wk__io_fail(error, WK_ERR_UNSUPPORTED, "\"peft_type\" is \"%s\"; expected \"LORA\"",
                           wk__printable_name(f->peft_type).text);
    if (f->use_dora || f->use_qalora)
        return wk__io_fail(error, WK_ERR_UNSUPPORTED, "\"%s\" is true; expected plain LoRA",
                           f->use_dora ? "use_dora" : "use_qalora");
    if (f->r < 1) return wk__io_fail(error, WK_ERR_FORMAT, "\"r\" must be at least 1, got %lld", (long long)f->r);
    if (!isfinite(f->lora_alpha))
        return wk__io_fail(error, WK_ERR_FORMAT, "\"lora_alpha\" must be finite, got %g", f->lora_alpha);
    if (f->lora_dropout >= 0 && f->lora_dropout < 1) return WK_OK;
    return wk__io_fail(error, WK_ERR_FORMAT, "\"lora_dropout\" must be in [0, 1), got %g", f->lora_dropout);
}

wk_code wk__lora_config_read(const char *path, wk__lora_config *out, wk__io_error *error)
{
    fields_read f = {.r = 8, .lora_alpha = 8};
    wk__text text = {0};
    wk_code code = wk__pretrained_file_read(path, MOST_BYTES, &text, fields, FIELDS, &f, error);
    if (code == WK_OK && check(&f, error) != WK_OK) code = wk__io_prefix(error, "%s", wk__printable_name(path).text);
    wk__text_free(&text);
    *out = (wk__lora_config){.r = f.r, .alpha = f.lora_alpha, .dropout = f.lora_dropout, .rslora = f.use_rslora};
    return code;
}

/* ---- writing ----------------------------------------------------------------------------------------------------- */

static void add_number(wk__text *text, const char *name, double value)
{
    wk__text_format(text, "  \"%s\": ", name);
    wk__text_double_shortest(text, value);
    wk__text_add(text, ",\n");
}

static void add_bool(wk__text *text, const char *name, bool value)
{
    wk__text_format(text, "  \"%s\": %s,\n", name, value ? "true" : "false");
}

void wk__lora_config_write(wk__text *text, const wk__lora_config *config, bool transposed, const wk__lora_names *names)
{
    wk__text_add(text, "{\n  \"base_model_name_or_path\": null,\n  \"bias\": \"none\",\n");
    add_bool(text, "fan_in_fan_out", transposed);
    wk__text_add(text, "  \"inference_mode\": true,\n  \"init_lora_weights\": true,\n");
    add_number(text, "lora_alpha", config->alpha);
    add_number(text, "lora_dropout", config->dropout);
    wk__text_format(text, "  \"peft_type\": \"LORA\",\n  \"r\": %lld,\n  \"target_modules\": [", (long long)config->r);
    for (int64_t k = 0; k < names->count; k++) {
        wk__text_add(text, k == 0 ? "\n    " : ",\n    ");
        wk__json_add_string(text, names->name[k]);
    }
    wk__text_add(text, "\n  ],\n  \"task_type\": null,\n");
    wk__text_format(text, "  \"use_rslora\": %s\n}\n", config->rslora ? "true" : "false");
}
