/* SPDX-License-Identifier: Apache-2.0 */
/* wick/models.h: ready networks that classify images.
 *
 *     wk_module *net = wk_nn_resnet(18, .classes = 10, .device = wk_try_gpu(0));
 *     wk_tensor *scores = wk_forward(net, images);
 *
 * Shapes:  (N, in_channels, H, W) -> (N, classes): scores before softmax, for wk_cross_entropy
 * Names:   parameters, buffers and children have the names that they have in torchvision, so that a file of its
 *          state_dict in the safetensors format loads with wk_load, and torchvision loads a file written by wk_save.
 * Values:  the initial ones are distributed as in torchvision; those of wk_nn_lenet and wk_nn_nin are Xavier uniform,
 *          as in Dive into Deep Learning.
 * Options: .classes and .in_channels are at least 1; .dropout is the probability with which dropout sets an element to
 *          0. .device is that of the parameters; default WK_DEVICE, else the CPU.
 * Errors:  WK_ERR_ARGUMENT if an option, a depth or a name is invalid
 *
 * Each network is a module like any other: wk_module_child(net, "features") is a part of it, and another last layer
 * replaces the one for the original classes:
 *
 *     wk_module_replace(net, "fc", wk_nn_linear(512, 3)); */
#ifndef WICK_MODELS_H
#define WICK_MODELS_H

#if !defined __cplusplus && !defined __clang__
#pragma GCC system_header /* see macros.h */
#endif

#include "nn.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- with the common options ------------------------------------------------------------------------------------- */

typedef struct wk_nn_model_options {
    size_t size;
    wk_by_name by_name;
    int64_t classes;     /* default 1000; of wk_nn_lenet 10 */
    int64_t in_channels; /* default 3; of wk_nn_lenet 1 */
    wk_device device;
} wk_nn_model_options;
/* wk_nn_lenet(): Creates LeNet-5 with sigmoid activations and average pooling.
 * Shapes:    images of 28 x 28
 * Children:  "0" to "11", as of a sequential
 * Source:    LeCun et al. 1998, Gradient-based learning applied to document recognition; Dive into Deep Learning,
 *            7.6 */
WK_RESULT_API wk_module *wk_nn_lenet_at(wk_site site, const wk_nn_model_options *options);
/* wk_nn_regnet(name): Creates RegNet-X or, with squeeze and excitation, RegNet-Y. name is "x_400mf", "x_800mf",
 * "x_1_6gf", "x_3_2gf", "x_8gf", "x_16gf" or "x_32gf", the same with y, or "y_128gf"; the suffix is the approximate
 * number of multiply-adds for a 224 x 224 image.
 *     wk_module *net = wk_nn_regnet("y_400mf", .classes = 10);
 * Shapes:    images of any size
 * Source:    Radosavovic et al. 2020, arXiv 2003.13678; torchvision.models.regnet_x_400mf, ... */
WK_RESULT_API wk_module *wk_nn_regnet_at(wk_site site, const char *name, const wk_nn_model_options *options);

/* ---- with dropout ------------------------------------------------------------------------------------------------ */

typedef struct wk_nn_dropout_model_options {
    size_t size;
    wk_by_name by_name;
    int64_t classes;     /* default 1000; of wk_nn_nin 10 */
    int64_t in_channels; /* default 3 */
    double dropout;      /* default 0.5; of wk_nn_densenet 0 */
    wk_device device;
} wk_nn_dropout_model_options;
/* wk_nn_alexnet(): Creates AlexNet, in the variant with one column.
 * Shapes:    images of at least 63 x 63
 * Source:    Krizhevsky 2014, arXiv 1404.5997; torchvision.models.alexnet */
WK_RESULT_API wk_module *wk_nn_alexnet_at(wk_site site, const wk_nn_dropout_model_options *options);
/* wk_nn_nin(): Creates Network in Network, whose last block has a channel for each class.
 * Shapes:    images of at least 67 x 67
 * Children:  "0" to "9", as of a sequential, each block with children "0" to "5"
 * Source:    Lin et al. 2013, arXiv 1312.4400; Dive into Deep Learning, 8.3 */
WK_RESULT_API wk_module *wk_nn_nin_at(wk_site site, const wk_nn_dropout_model_options *options);
/* wk_nn_densenet(depth): Creates DenseNet with 121, 161, 169 or 201 layers.
 * Shapes:    images of at least 29 x 29
 * Source:    Huang et al. 2016, arXiv 1608.06993; torchvision.models.densenet121, ... (.dropout: drop_rate) */
WK_RESULT_API wk_module *wk_nn_densenet_at(wk_site site, int depth, const wk_nn_dropout_model_options *options);

/* ---- others ------------------------------------------------------------------------------------------------------ */

typedef struct wk_nn_vgg_options {
    size_t size;
    wk_by_name by_name;
    int64_t classes;     /* default 1000 */
    int64_t in_channels; /* default 3 */
    double dropout;      /* default 0.5 */
    bool batch_norm;     /* batch norm after each convolution; default false */
    wk_device device;
    char reserved[4];
} wk_nn_vgg_options;
/* wk_nn_vgg(depth): Creates VGG with 11, 13, 16 or 19 layers.
 * Shapes:    images of at least 32 x 32
 * Source:    Simonyan and Zisserman 2014, arXiv 1409.1556; torchvision.models.vgg11, vgg11_bn, ... */
WK_RESULT_API wk_module *wk_nn_vgg_at(wk_site site, int depth, const wk_nn_vgg_options *options);

typedef struct wk_nn_googlenet_options {
    size_t size;
    wk_by_name by_name;
    int64_t classes;     /* default 1000 */
    int64_t in_channels; /* default 3 */
    double dropout;      /* before the last layer; default 0.2 */
    double dropout_aux;  /* in the auxiliary classifiers; default 0.7 */
    bool aux_logits;     /* with two auxiliary classifiers, for training; default false */
    wk_device device;
    char reserved[4];
} wk_nn_googlenet_options;
/* wk_nn_googlenet(): Creates GoogLeNet, Inception v1 with batch norm. With .aux_logits, in training mode, and if three
 * outputs are requested, it computes the scores of the auxiliary classifiers, too:
 *     wk_tensor *out[3];
 *     int count = wk_forward_n(net, (images), out, 3);
 * out[0] are the scores, out[1] those after inception4d (aux2), out[2] those after inception4a (aux1).
 * Shapes:    images of at least 15 x 15
 * Source:    Szegedy et al. 2014, arXiv 1409.4842; torchvision.models.googlenet (aux_logits=False) */
WK_RESULT_API wk_module *wk_nn_googlenet_at(wk_site site, const wk_nn_googlenet_options *options);

typedef struct wk_nn_resnet_options {
    size_t size;
    wk_by_name by_name;
    int64_t classes;         /* default 1000 */
    int64_t in_channels;     /* default 3 */
    int64_t groups;          /* of the 3 x 3 convolutions; default 1, of wk_nn_resnext50 32 */
    int64_t width_per_group; /* of the first stage; default 64, of wk_nn_resnext50 4 */
    bool zero_init_residual; /* blocks are initially the identity; default false */
    wk_device device;
    char reserved[4];
} wk_nn_resnet_options;
/* wk_nn_resnet(depth): Creates ResNet with 18, 34, 50, 101 or 152 layers; those with 50 or more have bottlenecks, whose
 * stride is that of the 3 x 3 convolution. wk_nn_resnext50(): Creates ResNeXt-50 (32x4d).
 *     wk_module *wide = wk_nn_resnet(50, .width_per_group = 128);
 * Shapes:    images of any size
 * Errors:    WK_ERR_ARGUMENT also if .groups or .width_per_group is set for 18 or 34 layers
 * Source:    He et al. 2015, arXiv 1512.03385, Xie et al. 2016, arXiv 1611.05431; torchvision.models.resnet18, ...,
 *            resnext50_32x4d, wide_resnet50_2 */
WK_RESULT_API wk_module *wk_nn_resnet_at(wk_site site, int depth, const wk_nn_resnet_options *options);
WK_RESULT_API wk_module *wk_nn_resnext50_at(wk_site site, const wk_nn_resnet_options *options);

typedef struct wk_nn_mobilenet_v2_options {
    size_t size;
    wk_by_name by_name;
    int64_t classes;     /* default 1000 */
    int64_t in_channels; /* default 3 */
    double width;        /* factor of the numbers of channels, which are multiples of 8; default 1 */
    double dropout;      /* default 0.2 */
    wk_device device;
} wk_nn_mobilenet_v2_options;
/* wk_nn_mobilenet_v2(): Creates MobileNetV2.
 * Shapes:    images of any size
 * Source:    Sandler et al. 2018, arXiv 1801.04381; torchvision.models.mobilenet_v2 (.width: width_mult) */
WK_RESULT_API wk_module *wk_nn_mobilenet_v2_at(wk_site site, const wk_nn_mobilenet_v2_options *options);

typedef struct wk_nn_vit_options {
    size_t size;
    wk_by_name by_name;
    int64_t image_size;          /* height and width of images in pixels; default 224 */
    int64_t patch_size;          /* height and width of patches in pixels; default 16 */
    int64_t hidden_size;         /* features of a patch; default 768 */
    int64_t num_hidden_layers;   /* default 12 */
    int64_t num_attention_heads; /* default 12 */
    int64_t intermediate_size;   /* features between the linear layers of a block; default 3072 */
    int64_t classes;             /* default 1000 */
    int64_t in_channels;         /* default 3 */
    double dropout;              /* default 0 */
    double attention_dropout;    /* of the weights of the attention; default 0 */
    wk_device device;
} wk_nn_vit_options;
/* wk_nn_vit(): Creates a vision transformer. A convolution, conv_proj, maps each patch to hidden_size features; after
 * class_token in front and encoder.pos_embedding have been added, blocks of attention and linear layers follow, each
 * part with a layer norm before it; a linear layer, heads.head, computes the scores of the class token. The defaults
 * are ViT-B/16; ViT-L/16 is
 *     wk_module *large = wk_nn_vit(.hidden_size = 1024, .num_hidden_layers = 24, .num_attention_heads = 16,
 *                                  .intermediate_size = 4096);
 * Shapes:    (N, in_channels, image_size, image_size) -> (N, classes)
 * Values:    heads.head begins at 0, so that the scores do, too
 * Errors:    WK_ERR_ARGUMENT also unless .image_size is a multiple of .patch_size, and .hidden_size one of
 *            .num_attention_heads; WK_ERR_SHAPE in a call with images of another size
 * Source:    Dosovitskiy et al. 2020, arXiv 2010.11929; torchvision.models.vit_b_16, vit_b_32, vit_l_16, ... */
WK_RESULT_API wk_module *wk_nn_vit_at(wk_site site, const wk_nn_vit_options *options);

/* ---- macros ------------------------------------------------------------------------------------------------------ */

#ifndef __cplusplus

#define WK_NN_MODEL_(f, type, ...)    WK_NEW_MODULE_(WK_OPT0_(wk_module *, f, type, __VA_ARGS__))
#define WK_NN_MODEL_OF_(f, type, ...) WK_NEW_MODULE_(WK_OPT_(wk_module *, f, type, __VA_ARGS__))
#define wk_nn_lenet(...)              WK_NN_MODEL_(wk_nn_lenet, wk_nn_model_options, __VA_ARGS__)
#define wk_nn_regnet(...)             WK_NN_MODEL_OF_(wk_nn_regnet, wk_nn_model_options, __VA_ARGS__)
#define wk_nn_alexnet(...)            WK_NN_MODEL_(wk_nn_alexnet, wk_nn_dropout_model_options, __VA_ARGS__)
#define wk_nn_nin(...)                WK_NN_MODEL_(wk_nn_nin, wk_nn_dropout_model_options, __VA_ARGS__)
#define wk_nn_densenet(...)           WK_NN_MODEL_OF_(wk_nn_densenet, wk_nn_dropout_model_options, __VA_ARGS__)
#define wk_nn_vgg(...)                WK_NN_MODEL_OF_(wk_nn_vgg, wk_nn_vgg_options, __VA_ARGS__)
#define wk_nn_googlenet(...)          WK_NN_MODEL_(wk_nn_googlenet, wk_nn_googlenet_options, __VA_ARGS__)
#define wk_nn_resnet(...)             WK_NN_MODEL_OF_(wk_nn_resnet, wk_nn_resnet_options, __VA_ARGS__)
#define wk_nn_resnext50(...)          WK_NN_MODEL_(wk_nn_resnext50, wk_nn_resnet_options, __VA_ARGS__)
#define wk_nn_mobilenet_v2(...)       WK_NN_MODEL_(wk_nn_mobilenet_v2, wk_nn_mobilenet_v2_options, __VA_ARGS__)
#define wk_nn_vit(...)                WK_NN_MODEL_(wk_nn_vit, wk_nn_vit_options, __VA_ARGS__)
#endif

#ifdef __cplusplus
}
#endif
#endif
