/* SPDX-License-Identifier: Apache-2.0 */
/* Provokes each error code that a public header promises. The promises are read from the comments of include/wick, and
 * one without a row in the tables of promised_codes*.h fails.
 *
 * A comment promises each code WK_ERR_... in it. The comment of an op begins with the op's call. Any other comment
 * belongs to the functions declared between it and the next comment or empty line (one row is enough for the group), or
 * to the header if no declaration follows. */
#include "promised_codes_base.h"
#include "promised_codes_generation.h"
#include "promised_codes_language.h"
#include "promised_codes_ops.h"
#include "promised_codes_samples.h"
#include "promised_codes_text.h"
#include "promised_codes_training.h"
#include "promised_codes_vision.h"
#include "support/sweep/sweep.h"

#include <ctype.h>
#include <dirent.h>

/* ---- the tables -------------------------------------------------------------------------------------------------- */

static const struct {
    const promised_code *rows;
    size_t count;
} tables[] = {
    {promised_by_generation, sizeof promised_by_generation / sizeof *promised_by_generation},
    {promised_by_language, sizeof promised_by_language / sizeof *promised_by_language},
    {promised_by_ops, sizeof promised_by_ops / sizeof *promised_by_ops},
    {promised_by_samples, sizeof promised_by_samples / sizeof *promised_by_samples},
    {promised_by_text, sizeof promised_by_text / sizeof *promised_by_text},
    {promised_by_training, sizeof promised_by_training / sizeof *promised_by_training},
    {promised_by_vision, sizeof promised_by_vision / sizeof *promised_by_vision},
    {promised_by_base, sizeof promised_by_base / sizeof *promised_by_base},
};
enum { TABLES = sizeof tables / sizeof *tables };

static const char *const code_names[] = {
    [WK_ERR_ARGUMENT] = "WK_ERR_ARGUMENT",
    [WK_ERR_SHAPE] = "WK_ERR_SHAPE",
    [WK_ERR_DTYPE] = "WK_ERR_DTYPE",
    [WK_ERR_DEVICE] = "WK_ERR_DEVICE",
    [WK_ERR_INDEX] = "WK_ERR_INDEX",
    [WK_ERR_MEMORY] = "WK_ERR_MEMORY",
    [WK_ERR_STATE] = "WK_ERR_STATE",
    [WK_ERR_IO] = "WK_ERR_IO",
    [WK_ERR_FORMAT] = "WK_ERR_FORMAT",
    [WK_ERR_DEVICE_LOST] = "WK_ERR_DEVICE_LOST",
    [WK_ERR_UNSUPPORTED] = "WK_ERR_UNSUPPORTED",
    [WK_ERR_INTERNAL] = "WK_ERR_INTERNAL",
    [WK_ERR_TIMEOUT] = "WK_ERR_TIMEOUT",
};

/* Returns the text of a file of the source folder; the caller frees it. */
static char *text_of(const char *folder, const char *name)
{
    char path[600];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(source_file(path), "r");
    if (!file) fail_msg("no file %s", path);
    char *text = calloc(1, 1 << 20);
    const size_t count = fread(text, 1, (1 << 20) - 1, file);
    assert_true(count > 0 && count < (1 << 20) - 1 && fclose(file) == 0);
    return text;
}

/* Returns true if the text names the code itself, not only a longer name that begins with it. */
static bool names_code(const char *text, wk_code code)
{
    const size_t length = strlen(code_names[code]);
    while ((text = strstr(text, code_names[code])) && (isupper((unsigned char)text[length]) || text[length] == '_'))
        text += length;
    return text != NULL;
}

static bool check_sample(const promised_code *row)
{
    const char *why;
    sweep_sample sample;
    wk_tensor *tensor[SWEEP_TENSORS];
    wk_value results[SWEEP_RESULTS];
    int count = SWEEP_RESULTS;
    char message[400];
    if (!sweep_parse(row->sample, &sample, &why)) fail_msg("%s(%s): %s", row->subject, row->sample, why);
    for (int k = 0; k < sample.operands; k++)
        tensor[k] =
            wk_zeros_at(WK_HERE, sample.operand[k].shape, sample.operand[k].ndim,
                        &(wk_tensor_options){.size = sizeof(wk_tensor_options), .dtype = sample.operand[k].fixed});
    sweep_bind(&sample, tensor);
    wk_code code = wk_call(NULL, row->subject + strlen("wk_"), sample.argument, sample.arguments, results, &count, NULL,
                           message, sizeof message);
    for (int k = 0; k < count; k++) {
        if (wk_sync() != WK_OK || wk_item(wk_sum(results[k].tensor)) != 0) code = wk_error_code();
        wk_free(results[k].tensor);
    }
    wk_clear_error();
    if (code != row->code)
        print_error("%s(%s): promised %s, got code %d: %s\n", row->subject, row->sample, code_names[row->code],
                    (int)code, message);
    return code == row->code;
}

static bool check_row(const promised_code *row)
{
    if (row->test) {
        char *text = text_of("tests", row->test);
        const bool is_header = strncmp(row->subject, "wk_", 3) != 0;
        const bool named = names_code(text, row->code) && (is_header || strstr(text, row->subject));
        free(text);
        if (!named) print_error("%s, %s: not in tests/%s\n", row->subject, code_names[row->code], row->test);
        return named;
    }
    WK_SCOPE;
    if (row->sample) return check_sample(row);
    row->provoke();
    const bool right = wk_error_code() == row->code;
    if (!right)
        print_error("%s: promised %s, got code %d: %s\n", row->subject, code_names[row->code], (int)wk_error_code(),
                    wk_error() ? wk_error() : "no error");
    wk_clear_error();
    return right;
}

static void calls_return_the_promised_codes(void **state)
{
    (void)state;
    int wrong = 0;
    for (int t = 0; t < TABLES; t++)
        for (size_t k = 0; k < tables[t].count; k++) wrong += !check_row(&tables[t].rows[k]);
    assert_int_equal(wrong, 0);
}

/* ---- the headers ------------------------------------------------------------------------------------------------- */

enum { NAMES = 16 };

/* Promises of the comments before the current declarations. */
typedef struct promises {
    const char *header;
    unsigned codes;        /* a bit per code */
    char name[NAMES][64];  /* of the op that begins the comment, or of the functions declared since */
    int names, unprovoked; /* unprovoked: of the complete header */
    bool declared;         /* a function has been declared */
} promises;

static bool has_row(const char *subject, int code)
{
    for (int t = 0; t < TABLES; t++)
        for (size_t k = 0; k < tables[t].count; k++)
            if ((int)tables[t].rows[k].code == code && strcmp(tables[t].rows[k].subject, subject) == 0) return true;
    return false;
}

static void settle(promises *p)
{
    if (p->names == 0) snprintf(p->name[p->names++], sizeof p->name[0], "%s", p->header);
    for (int code = 1; code <= WK_ERR_TIMEOUT; code++) {
        bool found = !(p->codes >> code & 1);
        for (int k = 0; k < p->names; k++) found = found || has_row(p->name[k], code);
        if (found) continue;
        print_error("%s promises %s of %s, but no row provokes it\n", p->header, code_names[code], p->name[0]);
        p->unprovoked++;
    }
    p->codes = 0;
    p->names = 0;
    p->declared = false;
}

/* Adds the identifier wk_... that precedes a '(' in the line, without _at. */
static bool add_name(promises *p, const char *line)
{
    const char *at = strstr(line, "wk_");
    for (; at; at = strstr(at + 1, "wk_")) {
        int length = 0;
        while (isalnum((unsigned char)at[length]) || at[length] == '_') length++;
        if (at[length] != '(') continue;
        if (length > 3 && strncmp(at + length - 3, "_at", 3) == 0) length -= 3;
        assert_true(p->names < NAMES && length < 64);
        snprintf(p->name[p->names++], sizeof p->name[0], "%.*s", length, at);
        return true;
    }
    return false;
}

static void add_codes(promises *p, const char *line)
{
    for (int code = 1; code <= WK_ERR_TIMEOUT; code++)
        if (names_code(line, (wk_code)code)) p->codes |= 1u << code;
}

static int unprovoked_of(const char *header)
{
    promises p = {.header = header};
    char *text = text_of("include/wick", header), *rest = text;
    bool in_comment = false;
    for (char *line; (line = strsep(&rest, "\n"));) {
        const char *comment = in_comment ? line : strstr(line, "/*");
        if (comment) {
            if (!in_comment && p.declared) settle(&p);
            if (!in_comment && strncmp(line, "/* wk_", 6) == 0 && strchr(line, ':')) p.declared = add_name(&p, line);
            add_codes(&p, comment);
            in_comment = !strstr(comment, "*/");
            continue;
        }
        if (!*line) settle(&p);
        if ((strncmp(line, "WK_API", 6) == 0 || strncmp(line, "WK_RESULT_API", 13) == 0) && add_name(&p, line))
            p.declared = true;
    }
    settle(&p);
    free(text);
    return p.unprovoked;
}

static void promised_codes_have_rows(void **state)
{
    (void)state;
    int headers = 0, unprovoked = 0;
    DIR *folder = opendir(source_file("include/wick"));
    assert_non_null(folder);
    for (const struct dirent *entry; (entry = readdir(folder));) {
        const size_t length = strlen(entry->d_name);
        if (length < 3 || strcmp(entry->d_name + length - 2, ".h") != 0) continue;
        unprovoked += unprovoked_of(entry->d_name);
        headers++;
    }
    closedir(folder);
    assert_true(headers > 20);
    assert_int_equal(unprovoked, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(calls_return_the_promised_codes, test_clean),
        cmocka_unit_test(promised_codes_have_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
