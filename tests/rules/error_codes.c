/* SPDX-License-Identifier: Apache-2.0 */
/* Each error code that a public header promises is provoked: the promises are read from the comments of include/wick,
 * and one without a row in the tables of promised_codes*.h fails.
 *
 * A comment promises the codes WK_ERR_... in it. An op's comment begins with the op's call, any other belongs to the
 * functions that are declared behind it up to the next comment or empty line (for a group of functions, one row does),
 * and a comment that no declaration follows to the header. */
#include "promised_codes_ops.h"
#include "promised_codes_training.h"

#include <ctype.h>
#include <dirent.h>

/* ---- tensors, devices, files of others --------------------------------------------------------------------------- */

static void *resizes(void *user, void *block, size_t size)
{
    return user ? NULL : realloc(block, size);
}
static void allocator_too_late(void)
{
    wk_set_allocator(resizes, NULL);
}
static void options_of_a_newer_version(void)
{
    const struct {
        wk_tensor_options now;
        char later[8];
    } options = {{.size = sizeof options}, {1}};
    wk_zeros_at(WK_HERE, (const int64_t[]){2}, 1, &options.now);
}
static void options_without_a_size(void)
{
    wk_zeros_at(WK_HERE, (const int64_t[]){2}, 1, &(wk_tensor_options){0});
}
static float four[4];
static void from_of_other_bytes(void)
{
    wk_from_at(WK_HERE, WK_F32, four, sizeof four, (const int64_t[]){5}, 1);
}
static void of_of_other_bytes(void)
{
    wk_of_at(WK_HERE, WK_F32, four, sizeof four, (const int64_t[]){5}, 1);
}
static void strides_past_the_end(void)
{
    const int64_t shape = 2, stride = 4;
    wk_from_strided_sized_at(WK_HERE, WK_F32, four, sizeof four, &shape, &stride, 1, NULL);
}
static void borrow_of_too_few(void)
{
    wk_borrow_sized_at(WK_HERE, WK_F32, four, sizeof four, (const int64_t[]){5}, 1, NULL, NULL);
}
static void read_as_another_dtype(void)
{
    wk_read(wk_arange(2), four, sizeof(int64_t[2]));
}
static void read_of_other_bytes(void)
{
    wk_read(wk_ones((2)), four, sizeof four);
}
static void read_as_no_dtype(void)
{
    wk_read_as_at(WK_HERE, wk_ones((4)), four, sizeof four, (wk_dtype)99);
}
static void negative_limit(void)
{
    wk_memory_set_limit(wk_cpu(), -1);
}
static void log_of_no_subject(void)
{
    wk_set_log("no such subject", NULL, NULL);
}
static void no_sync_mode(void)
{
    wk_set_sync_debug_mode((wk_sync_mode)9);
}
static void transfers_without_a_size(void)
{
    wk_transfer_stats(&(wk_transfer_counters){0});
}
static void setting_past_the_end(void)
{
    wk_setting_info(wk_setting_count(), &(wk_setting){.size = sizeof(wk_setting)});
}
static void op_past_the_end(void)
{
    wk_op_info(wk_op_count(), &(wk_op){.size = sizeof(wk_op)});
}
static void parameter_past_the_end(void)
{
    wk_op_parameter(0, 99, &(wk_parameter){.size = sizeof(wk_parameter)});
}
static void replay_of_a_text(void)
{
    wk_replay(file_with("int main(void) { return 0; }"), NULL, NULL);
}
static void replay_of_no_file(void)
{
    wk_replay(no_file(), NULL, NULL);
}
static void event_on_no_device(void)
{
    wk_event_record(no_device());
}

static const promised_code promised_by_others[] = {
    {"core.h", WK_ERR_UNSUPPORTED, options_of_a_newer_version, NULL},
    {"core.h", WK_ERR_ARGUMENT, options_without_a_size, NULL},
    {"wk_report_error", WK_ERR_TIMEOUT, NULL, "distributed/failing.c"},
    {"wk_set_allocator", WK_ERR_STATE, allocator_too_late, NULL},
    {"tensor.h", WK_ERR_STATE, NULL, "engine/events_refused.c"},
    {"wk_from", WK_ERR_SHAPE, from_of_other_bytes, NULL},
    {"wk_of", WK_ERR_SHAPE, of_of_other_bytes, NULL},
    {"wk_from_strided_sized", WK_ERR_SHAPE, strides_past_the_end, NULL},
    {"wk_borrow_sized", WK_ERR_SHAPE, borrow_of_too_few, NULL},
    {"wk_read", WK_ERR_DTYPE, read_as_another_dtype, NULL},
    {"wk_read", WK_ERR_SHAPE, read_of_other_bytes, NULL},
    {"wk_read_as", WK_ERR_ARGUMENT, read_as_no_dtype, NULL},
    {"wk_memory_set_limit", WK_ERR_ARGUMENT, negative_limit, NULL},
    {"wk_set_log", WK_ERR_ARGUMENT, log_of_no_subject, NULL},
    {"wk_set_sync_debug_mode", WK_ERR_ARGUMENT, no_sync_mode, NULL},
    {"wk_transfer_stats", WK_ERR_ARGUMENT, transfers_without_a_size, NULL},
    {"wk_replay", WK_ERR_INTERNAL, NULL, "engine/replay.c"},
    {"wk_replay", WK_ERR_FORMAT, replay_of_a_text, NULL},
    {"wk_replay", WK_ERR_IO, replay_of_no_file, NULL},
    {"log.h", WK_ERR_ARGUMENT, NULL, "base/environment.c"},
    {"wk_setting_info", WK_ERR_ARGUMENT, setting_past_the_end, NULL},
    {"wk_op_info", WK_ERR_ARGUMENT, op_past_the_end, NULL},
    {"wk_op_parameter", WK_ERR_ARGUMENT, parameter_past_the_end, NULL},
    {"wk_call", WK_ERR_STATE, NULL, "autograd/calls.c"},
    {"wk_to_dlpack", WK_ERR_STATE, NULL, "io/dlpack_out.c"},
    {"wk_to_dlpack", WK_ERR_DEVICE, NULL, "io/dlpack_out.c"},
    {"wk_from_dlpack", WK_ERR_UNSUPPORTED, NULL, "io/dlpack_refused.c"},
    {"wk_from_dlpack", WK_ERR_DEVICE, NULL, "io/dlpack_refused.c"},
    {"wk_from_dlpack", WK_ERR_DTYPE, NULL, "io/dlpack_refused.c"},
    {"wk_from_dlpack", WK_ERR_SHAPE, NULL, "io/dlpack_refused.c"},
    {"wk_from_dlpack", WK_ERR_ARGUMENT, NULL, "io/dlpack_refused.c"},
    {"wk_from_dlpack", WK_ERR_MEMORY, NULL, "failing/dlpack.c"},
    {"wk_event_record", WK_ERR_DEVICE, event_on_no_device, NULL},
    {"wk_event_record", WK_ERR_MEMORY, NULL, "engine/events_refused.c"},
    {"wk_event_record", WK_ERR_DEVICE_LOST, NULL, "engine/events_refused.c"},
    {"wk_event_record", WK_ERR_UNSUPPORTED, NULL, "engine/events.c"},
    {"wk_event_record", WK_ERR_STATE, NULL, "engine/events_refused.c"},
    {"wk_event_synchronize", WK_ERR_DEVICE_LOST, NULL, "backend/cuda/lost.c"},
    {"wk_event_elapsed_time", WK_ERR_STATE, NULL, "engine/events.c"},
    {"wk_event_elapsed_time", WK_ERR_DEVICE, NULL, "engine/events.c"},
    {"wk_event_elapsed_time", WK_ERR_DEVICE_LOST, NULL, "backend/cuda/lost.c"},
};

/* ---- the tables -------------------------------------------------------------------------------------------------- */

static const struct {
    const promised_code *rows;
    size_t count;
} tables[] = {
    {promised_by_ops, sizeof promised_by_ops / sizeof *promised_by_ops},
    {promised_by_training, sizeof promised_by_training / sizeof *promised_by_training},
    {promised_by_others, sizeof promised_by_others / sizeof *promised_by_others},
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

/* The text of a file of the source folder; free() it. */
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

static bool check_row(const promised_code *row)
{
    if (row->test) {
        char *text = text_of("tests", row->test);
        const bool is_header = strncmp(row->subject, "wk_", 3) != 0;
        const bool named = strstr(text, code_names[row->code]) && (is_header || strstr(text, row->subject));
        free(text);
        if (!named) print_error("%s, %s: not in tests/%s\n", row->subject, code_names[row->code], row->test);
        return named;
    }
    WK_SCOPE;
    row->provoke();
    const bool right = wk_error_code() == row->code;
    if (!right)
        print_error("%s: %s is promised, given was %d: %s\n", row->subject, code_names[row->code], (int)wk_error_code(),
                    wk_error() ? wk_error() : "no error");
    wk_clear_error();
    return right;
}

static void calls_give_the_promised_codes(void **state)
{
    (void)state;
    int wrong = 0;
    for (int t = 0; t < TABLES; t++)
        for (size_t k = 0; k < tables[t].count; k++) wrong += !check_row(&tables[t].rows[k]);
    assert_int_equal(wrong, 0);
}

/* ---- the headers ------------------------------------------------------------------------------------------------- */

enum { NAMES = 16 };

/* The promises of the comments before the declarations at hand. */
typedef struct promises {
    const char *header;
    unsigned codes;        /* as bits */
    char name[NAMES][64];  /* of the op that the comment begins with, or of the functions declared since */
    int names, unprovoked; /* the latter counts over all of the header */
    bool declared;         /* a function has come */
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
        print_error("%s promises %s of %s: no row provokes it\n", p->header, code_names[code], p->name[0]);
        p->unprovoked++;
    }
    p->codes = 0;
    p->names = 0;
    p->declared = false;
}

/* The identifier wk_... that ends before a '(' in the line, without _at, as a name. */
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
        if (strstr(line, code_names[code])) p->codes |= 1u << code;
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
        if (strncmp(line, "WK_API", 6) == 0 && add_name(&p, line)) p.declared = true;
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
        cmocka_unit_test_teardown(calls_give_the_promised_codes, test_clean),
        cmocka_unit_test(promised_codes_have_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
