/* SPDX-License-Identifier: Apache-2.0 */
/* wk_module_str and wk_module_print: a network as text, as PyTorch prints it. */
#include "base/alloc.h"
#include "base/sizes.h"
#include "module.h"
#include <stdio.h>
#include <string.h>

/* ---- names of kinds ---------------------------------------------------------------------------------------------- */

/* Appends a word of a kind's name: "conv2d" as Conv2d, an abbreviation as PyTorch writes it. */
static void add_word(wk__text *text, const char *word, size_t length)
{
    static const struct {
        const char *word, *written;
    } abbreviations[] = {{"relu", "ReLU"}, {"relu6", "ReLU6"}, {"prelu", "PReLU"}, {"rrelu", "RReLU"},
                         {"gelu", "GELU"}, {"elu", "ELU"},     {"celu", "CELU"},   {"selu", "SELU"},
                         {"silu", "SiLU"}, {"glu", "GLU"},     {"rms", "RMS"},     {"lp", "LP"},
                         {"rnn", "RNN"},   {"gru", "GRU"},     {"lstm", "LSTM"},   {"vgg", "VGG"},
                         {"gpt2", "GPT2"}, {"lm", "LM"},       {"mlp", "MLP"},     {"ddp", "DistributedDataParallel"}};
    for (size_t k = 0; k < sizeof abbreviations / sizeof *abbreviations; k++) {
        if (strlen(abbreviations[k].word) != length || strncmp(abbreviations[k].word, word, length) != 0) continue;
        wk__text_add(text, abbreviations[k].written);
        return;
    }
    const char first = *word >= 'a' && *word <= 'z' ? (char)(*word - 'a' + 'A') : *word;
    wk__text_add_n(text, &first, length > 0);
    if (length > 0) wk__text_add_n(text, word + 1, (int64_t)length - 1);
}

void wk__module_add_kind(wk__text *text, const wk__module *body)
{
    static const char lazy[] = "lazy_";
    const char *name = body->kind.name;
    if (!body->builtin) {
        wk__text_add(text, name);
        return;
    }
    /* after its first call a lazy layer prints as the other kind */
    if (!body->uninitialized && strncmp(name, lazy, sizeof lazy - 1) == 0) name += sizeof lazy - 1;
    for (size_t length; *name; name += length + (name[length] == '_')) {
        length = strcspn(name, "_");
        add_word(text, name, length);
    }
}

/* ---- options ----------------------------------------------------------------------------------------------------- */

void wk__text_tuple(wk__text *text, const int64_t *sizes, int count)
{
    wk__text_add(text, "(");
    for (int k = 0; k < count; k++) wk__text_format(text, k ? ", %lld" : "%lld", (long long)sizes[k]);
    wk__text_add(text, count == 1 ? ",)" : ")");
}

void wk__text_sizes(wk__text *text, wk_sizes given, wk_sizes otherwise)
{
    static const wk__sizes_rule any = {.name = "sizes", .least = INT64_MIN};
    const wk_sizes sizes = given ? given : otherwise;
    const int count = wk__sizes_count(sizes);
    int64_t size[WK__MAX_SIZES];
    if (!wk__sizes_read((wk_site){0}, "module_str", &any, sizes, count, size)) return; /* the constructor checked it */
    if (count > 1) wk__text_add(text, "(");
    for (int k = 0; k < count; k++) {
        if (k > 0) wk__text_add(text, ", ");
        if (size[k] == -1)
            wk__text_add(text, "None");
        else
            wk__text_format(text, "%lld", (long long)size[k]);
    }
    if (count > 1) wk__text_add(text, ")");
}

void wk__text_float(wk__text *text, double value)
{
    const int64_t begin = text->length;
    wk__text_double_shortest(text, value);
    if (!text->failed && !text->data[(size_t)begin + strcspn(text->data + begin, ".eni")]) wk__text_add(text, ".0");
}

void wk__text_bool(wk__text *text, bool value)
{
    wk__text_add(text, value ? "True" : "False");
}

int wk__describe_end(wk__text *text, char *out, size_t size)
{
    const int64_t length = text->failed ? -1 : text->length;
    if (size > 0) snprintf(out, size, "%s", text->data ? text->data : "");
    wk__text_free(text);
    return length > INT32_MAX ? -1 : (int)length;
}

/* Calls the kind's describe with room for `size` bytes; the callback must not be left by longjmp. */
static int call_describe(wk_module *m, char *out, size_t size)
{
    wk_context *context = wk__context();
    const wk__frame before = wk__frame_begin(context, WK__FRAME_NOUNWIND, NULL, (wk_site){0});
    const int length = wk__module_of(m)->kind.describe(m, out, size);
    wk__frame_end(context, before);
    return length;
}

/* Appends the options of a module. Returns false if its describe fails, or on allocation failure. */
static bool add_options(wk__text *text, wk_module *m)
{
    char room[256] = "", *out = room;
    if (!wk__module_of(m)->kind.describe) return true;
    int length = call_describe(m, room, sizeof room);
    if (length >= (int)sizeof room) {
        const size_t size = (size_t)length + 1;
        out = wk__alloc_zero(1, size);
        length = out ? call_describe(m, out, size) : -1;
        if (out) out[size - 1] = '\0';
    }
    room[sizeof room - 1] = '\0';
    if (length >= 0) wk__text_add(text, out);
    if (out != room) wk__free(out);
    return length >= 0;
}

/* ---- the tree ---------------------------------------------------------------------------------------------------- */

enum {
    MAX_DEPTH = 500,       /* the limit of wk_forward, too */
    MAX_MODULES = 1 << 20, /* a module with several parents is printed for each */
    MAX_TEXT = 64 << 20    /* bytes */
};

/* State of one call. */
typedef struct printer {
    wk_site site;
    const char *op;
    int64_t modules; /* printed so far */
} printer;

static bool add_module(printer *p, wk__text *text, wk_module *m, int depth);

static void add_line(wk__text *text, int depth)
{
    wk__text_add(text, "\n");
    wk__text_repeat(text, ' ', 2 * (int64_t)depth);
}

/* Appends lines of options, one per line. */
static void add_option_lines(wk__text *text, const char *options, int depth)
{
    for (const char *line = options, *end; *line; line = *end ? end + 1 : end) {
        end = line + strcspn(line, "\n");
        add_line(text, depth);
        wk__text_add_n(text, line, end - line);
    }
}

/* Equal neighbours in a list, which are printed once: "(0-3): 4 x Linear(...)". */
typedef struct repeats {
    const char *first, *last; /* names */
    int64_t count;
    wk__text text; /* of each */
} repeats;

static void add_repeats(wk__text *text, repeats *r, int depth)
{
    if (r->count > 0) add_line(text, depth);
    if (r->count > 1)
        wk__text_format(text, "(%s-%s): %lld x ", r->first, r->last, (long long)r->count);
    else if (r->count > 0)
        wk__text_format(text, "(%s): ", r->first);
    if (r->count > 0) wk__text_add(text, r->text.data ? r->text.data : "");
    if (r->text.failed) text->failed = true;
    wk__text_free(&r->text);
}

static bool add_list(printer *p, wk__text *text, const wk__module *body, int depth)
{
    repeats now = {0};
    bool fine = true;
    for (int64_t k = 0; k < body->items && fine; k++) {
        const wk__item *item = &body->item[k];
        wk__text one = {0};
        if (item->kind != WK__CHILD) continue;
        fine = add_module(p, &one, item->module, depth);
        if (fine && now.count && one.data && now.text.data && strcmp(one.data, now.text.data) == 0) {
            now.last = item->name;
            now.count++;
            wk__text_free(&one);
        } else {
            add_repeats(text, &now, depth);
            now = (repeats){item->name, item->name, 1, one};
        }
    }
    add_repeats(text, &now, depth);
    return fine;
}

static bool add_children(printer *p, wk__text *text, const wk__module *body, int depth)
{
    bool fine = true;
    for (int64_t k = 0; k < body->items && fine; k++) {
        if (body->item[k].kind != WK__CHILD) continue;
        add_line(text, depth);
        wk__text_format(text, "(%s): ", body->item[k].name);
        fine = add_module(p, text, body->item[k].module, depth);
    }
    return fine;
}

static bool report_size(const printer *p, int depth)
{
    if (depth > MAX_DEPTH)
        wk__error_set(p->site, WK_ERR_STATE, "%s: more than %d modules are nested", p->op, MAX_DEPTH);
    else
        wk__error_set(p->site, WK_ERR_STATE, "%s: the text has more than %d modules or %d MiB; print a child", p->op,
                      MAX_MODULES, MAX_TEXT >> 20);
    return false;
}

static bool add_module(printer *p, wk__text *text, wk_module *m, int depth)
{
    const wk__module *body = wk__module_of(m);
    wk__text options = {0};
    if (depth > MAX_DEPTH || ++p->modules > MAX_MODULES || text->length > MAX_TEXT) return report_size(p, depth);
    if (!add_options(&options, m)) {
        wk__text_free(&options);
        wk__error_set(p->site, WK_ERR_STATE, "%s: describe of \"%.80s\" failed", p->op, body->kind.name);
        return false;
    }
    const bool nested = wk_module_child_count_at(p->site, m) > 0;
    const char *written = options.data ? options.data : "";
    wk__module_add_kind(text, body);
    wk__text_add(text, "(");
    if (nested || strchr(written, '\n'))
        add_option_lines(text, written, depth + 1);
    else
        wk__text_add(text, written);
    const bool folds = body->builtin && strcmp(body->kind.name, "module_list") == 0;
    const bool fine = (folds ? add_list : add_children)(p, text, body, depth + 1);
    if (nested || strchr(written, '\n')) add_line(text, depth);
    wk__text_add(text, ")");
    text->failed = text->failed || options.failed;
    wk__text_free(&options);
    return fine;
}

/* Returns the text of m for the call `op`; the caller frees it. NULL on error. */
static char *module_text(wk_site site, wk_module *m, const char *op)
{
    wk__text text = {0};
    if (!wk__module_check(m, site, op)) return NULL;
    wk_context *context = wk__context();
    const wk__frame before = wk__frame_begin(context, WK__FRAME_CRITICAL, NULL, (wk_site){0});
    bool fine = add_module(&(printer){.site = site, .op = op}, &text, m, 0);
    wk__text_escape(&text, 0);
    if (fine && text.failed) wk__error_set(site, WK_ERR_MEMORY, "%s: out of host memory", op);
    if (!fine || text.failed) wk__text_free(&text);
    wk__frame_end(context, before);
    return text.data;
}

const char *wk_module_str_at(wk_site site, wk_module *m)
{
    char *text = module_text(site, m, "module_str");
    const char *kept = text ? wk__attach(site, &wk__module_of(m)->texts, text) : NULL;
    if (text && !kept) wk__error_set(site, WK_ERR_MEMORY, "module_str: out of host memory");
    return kept;
}

wk_module *wk_module_print_at(wk_site site, wk_module *m)
{
    char *text = module_text(site, m, "module_print");
    if (!text) return NULL;
    fputs(text, stdout);
    fputc('\n', stdout);
    wk__free(text);
    return m;
}
