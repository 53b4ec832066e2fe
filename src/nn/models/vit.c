/* SPDX-License-Identifier: Apache-2.0 */
/* vit: the vision transformer, an encoder of the patches of an image. */
#include "base/options.h"
#include "build.h"
#include <math.h>
#include <wick/nn_transformer.h>
#include <wick/nn_vision.h>
#include <wick/pointwise.h>
#include <wick/shape.h>

/* State of the network: its children, and the token before the patches. */
typedef struct vit {
    wk_module *conv_proj, *encoder, *heads;
    wk_tensor *class_token; /* (1, 1, hidden) */
    int64_t image;          /* height and width in pixels */
} vit;

/* State of the encoder. */
typedef struct encoder {
    wk_module *dropout, *layers, *ln;
    wk_tensor *pos_embedding; /* (1, 1 + patches, hidden) */
} encoder;

/* State of a block. */
typedef struct block {
    wk_module *ln_1, *attention, *dropout, *ln_2, *mlp;
} block;

/* ---- forward ----------------------------------------------------------------------------------------------------- */

static wk_tensor *block_forward(wk_module *self, wk_tensor *x)
{
    const block *s = wk__module_of(self)->state;
    wk_tensor *y = wk_forward(s->ln_1, x);
    y = y ? wk_forward(s->dropout, wk_forward(s->attention, y)) : NULL;
    x = y ? wk_add(y, x) : NULL;
    return x ? wk_add(x, wk_forward(s->mlp, wk_forward(s->ln_2, x))) : NULL;
}

static wk_tensor *encoder_forward(wk_module *self, wk_tensor *x)
{
    const encoder *s = wk__module_of(self)->state;
    x = wk_forward(s->dropout, wk_add(x, s->pos_embedding));
    return x ? wk_forward(s->ln, wk_forward(s->layers, x)) : NULL;
}

static wk_tensor *vit_forward(wk_module *self, wk_tensor *x)
{
    const vit *s = wk__module_of(self)->state;
    if (wk_ndim(x) != 4 || wk_size(x, 2) != s->image || wk_size(x, 3) != s->image) {
        wk__tensor_refuse((wk_site){0}, WK_ERR_SHAPE, x, "", "vision_transformer: expected images (N, C, %lld, %lld)",
                          (long long)s->image, (long long)s->image);
        return NULL;
    }
    x = wk_forward(s->conv_proj, x);
    if (!x) return NULL;
    const int64_t samples = wk_size(x, 0), hidden = wk_size(x, 1);
    wk_tensor *token = wk_expand(s->class_token, (samples, 1, hidden));
    x = wk_forward(s->encoder, wk_cat((token, wk_transpose(wk_flatten(x, 2, -1), 1, 2)), 1));
    return x ? wk_forward(s->heads, wk_select(x, 1, 0)) : NULL;
}

/* ---- construction ------------------------------------------------------------------------------------------------ */

static wk_module *create_norm(int64_t size)
{
    return wk_nn_layer_norm_at((wk_site){0}, &size, 1,
                               &(wk_nn_layer_norm_options){.size = sizeof(wk_nn_layer_norm_options), .eps = 1e-6});
}

/* A linear layer of a block: Xavier's initial values, biases near 0. */
static wk_module *create_linear(int64_t in, int64_t out)
{
    wk_module *m = wk_nn_linear(in, out);
    if (!m || !wk_init_xavier_uniform_(wk_module_parameter(m, "weight"))) return NULL;
    return wk_init_normal_(wk_module_parameter(m, "bias"), 0, 1e-6) ? m : NULL;
}

static wk_module *create_mlp(const wk_nn_vit_options *o)
{
    wk_module *m = wk__append(wk_nn_sequential(), create_linear(o->hidden_size, o->intermediate_size));
    m = wk__append(m, wk_nn_gelu());
    m = wk__append(m, wk_nn_dropout(o->dropout));
    m = wk__append(m, create_linear(o->intermediate_size, o->hidden_size));
    return wk__append(m, wk_nn_dropout(o->dropout));
}

static wk_module *create_block(const wk_nn_vit_options *o)
{
    static const wk_module_kind kind = {
        .size = sizeof kind, .name = "encoder_block", .state = sizeof(block), .forward1 = block_forward};
    wk_module *m = wk__module_make((wk_site){0}, &kind);
    if (!m) return NULL;
    block *s = wk__module_of(m)->state;
    m = wk__with(m, "ln_1", s->ln_1 = create_norm(o->hidden_size));
    s->attention = wk_nn_multihead_attention(o->hidden_size, o->num_attention_heads, .dropout = o->attention_dropout,
                                             .batch_first = true);
    m = wk__with(m, "self_attention", s->attention);
    m = wk__with(m, "dropout", s->dropout = wk_nn_dropout(o->dropout));
    m = wk__with(m, "ln_2", s->ln_2 = create_norm(o->hidden_size));
    return wk__with(m, "mlp", s->mlp = create_mlp(o));
}

static wk_module *create_layers(const wk_nn_vit_options *o)
{
    wk_module *m = wk_nn_sequential();
    for (int64_t k = 0; k < o->num_hidden_layers && m; k++) {
        char name[40];
        snprintf(name, sizeof name, "encoder_layer_%lld", (long long)k);
        m = wk__with(m, name, create_block(o));
    }
    return m;
}

static wk_module *create_encoder(const wk_nn_vit_options *o)
{
    static const wk_module_kind kind = {
        .size = sizeof kind, .name = "encoder", .state = sizeof(encoder), .forward1 = encoder_forward};
    const int64_t patches = o->image_size / o->patch_size;
    wk_module *m = wk__module_make((wk_site){0}, &kind);
    wk_tensor *positions = m ? wk_empty((1, patches * patches + 1, o->hidden_size)) : NULL;
    if (!positions || !wk_init_normal_(positions, 0, 0.02)) return NULL;
    encoder *s = wk__module_of(m)->state;
    s->pos_embedding = wk_module_add_parameter(m, "pos_embedding", positions);
    if (!s->pos_embedding) return NULL;
    m = wk__with(m, "dropout", s->dropout = wk_nn_dropout(o->dropout));
    m = wk__with(m, "layers", s->layers = create_layers(o));
    return wk__with(m, "ln", s->ln = create_norm(o->hidden_size));
}

/* Creates the projection of patches. torchvision cuts the normal distribution at -2 and 2, which leaves it as it is
 * unless a patch has only one or two elements. */
static wk_module *create_projection(const wk_nn_vit_options *o)
{
    const double fan_in = (double)o->in_channels * (double)o->patch_size * (double)o->patch_size;
    wk_module *m = wk_nn_conv2d(o->in_channels, o->hidden_size, o->patch_size, .stride = o->patch_size);
    if (!m || !wk_init_normal_(wk_module_parameter(m, "weight"), 0, sqrt(1 / fan_in))) return NULL;
    return wk_init_zeros_(wk_module_parameter(m, "bias")) ? m : NULL;
}

static wk_module *create_heads(const wk_nn_vit_options *o)
{
    wk_module *head = wk_nn_linear(o->hidden_size, o->classes);
    if (!head || !wk_init_zeros_(wk_module_parameter(head, "weight"))) return NULL;
    return wk_init_zeros_(wk_module_parameter(head, "bias")) ? wk__with(wk_nn_sequential(), "head", head) : NULL;
}

static wk_module *create(const wk_nn_vit_options *o)
{
    static const wk_module_kind kind = {
        .size = sizeof kind, .name = "vision_transformer", .state = sizeof(vit), .forward1 = vit_forward};
    wk_module *m = wk__module_make((wk_site){0}, &kind);
    if (!m) return NULL;
    vit *s = wk__module_of(m)->state;
    wk_tensor *token = wk_zeros((1, 1, o->hidden_size));
    s->image = o->image_size;
    s->class_token = token ? wk_module_add_parameter(m, "class_token", token) : NULL;
    if (!s->class_token) return NULL;
    m = wk__with(m, "conv_proj", s->conv_proj = create_projection(o));
    m = wk__with(m, "encoder", s->encoder = create_encoder(o));
    return wk__with(m, "heads", s->heads = create_heads(o));
}

/* ---- the constructor --------------------------------------------------------------------------------------------- */

/* Sets defaults and checks the options. */
static bool read_options(wk_site site, const char *name, wk_nn_vit_options *o)
{
    const wk__model_size sizes[] = {{"image_size", &o->image_size, 224},
                                    {"patch_size", &o->patch_size, 16},
                                    {"hidden_size", &o->hidden_size, 768},
                                    {"num_hidden_layers", &o->num_hidden_layers, 12},
                                    {"num_attention_heads", &o->num_attention_heads, 12},
                                    {"intermediate_size", &o->intermediate_size, 3072},
                                    {"classes", &o->classes, 1000},
                                    {"in_channels", &o->in_channels, 3}};
    if (!wk__model_sizes(site, name, sizes, sizeof sizes / sizeof *sizes)) return false;
    o->dropout = wk__option_or(o->dropout, 0);
    o->attention_dropout = wk__option_or(o->attention_dropout, 0);
    if (o->image_size % o->patch_size == 0)
        return wk__model_heads_check(site, name, o->hidden_size, o->num_attention_heads);
    wk__error_set(site, WK_ERR_ARGUMENT, "%s: .image_size must be a multiple of .patch_size, got %lld and %lld", name,
                  (long long)o->image_size, (long long)o->patch_size);
    return false;
}

wk_module *wk_nn_vit_at(wk_site site, const wk_nn_vit_options *options)
{
    static const char name[] = "nn_vit";
    wk_nn_vit_options o;
    if (!wk__options(site, name, options, &o) || !read_options(site, name, &o)) return NULL;
    wk__network network = {.name = name, .site = site};
    if (!wk__network_open(&network, o.device)) return NULL;
    return wk__network_end(&network, create(&o));
}
