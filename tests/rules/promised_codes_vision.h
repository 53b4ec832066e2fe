/* SPDX-License-Identifier: Apache-2.0 */
/* Promises of wick/vision.h and of the padding and shuffling in wick/shape.h, as calls by name; see
 * promised_codes_samples.h. */
#ifndef TESTS_RULES_PROMISED_CODES_VISION_H
#define TESTS_RULES_PROMISED_CODES_VISION_H

#include "promised_codes.h"

static wk_tensor *one_index(int ndim)
{
    const int64_t shape[] = {1, 1, 1, 1, 1};
    return wk_full(WK_ARRAY(shape, ndim), 99);
}

static void unpool_beyond_1d(void)
{
    (void)wk_max_unpool1d(wk_ones((1, 1, 1)), one_index(3), 2); /* refused at once in mode WICK_EAGER */
    (void)wk_sync();
}
static void unpool_beyond_2d(void)
{
    (void)wk_max_unpool2d(wk_ones((1, 1, 1, 1)), one_index(4), 2); /* refused at once in mode WICK_EAGER */
    (void)wk_sync();
}
static void unpool_beyond_3d(void)
{
    (void)wk_max_unpool3d(wk_ones((1, 1, 1, 1, 1)), one_index(5), 2); /* refused at once in mode WICK_EAGER */
    (void)wk_sync();
}

static void nn_max_pool1d_of_nothing(void)
{
    assert_null(wk_nn_max_pool1d(1, .padding = 1));
}
static void nn_lp_pool1d_of_nothing(void)
{
    assert_null(wk_nn_lp_pool1d(0, 2));
}
static void nn_adaptive_avg_pool1d_of_nothing(void)
{
    assert_null(wk_nn_adaptive_avg_pool1d(-2));
}
static void nn_adaptive_max_pool1d_of_nothing(void)
{
    assert_null(wk_nn_adaptive_max_pool1d(-2));
}
static void nn_max_unpool1d_of_nothing(void)
{
    assert_null(wk_nn_max_unpool1d(0));
}
static void nn_zero_pad1d_of_nothing(void)
{
    assert_null(wk_nn_zero_pad1d((1, 2, 3)));
}
static void nn_pixel_shuffle_of_nothing(void)
{
    assert_null(wk_nn_pixel_shuffle(0));
}
static void network_without_classes(void)
{
    assert_null(wk_nn_lenet(.classes = -1));
}
static void nn_resnet_of_basic_blocks_in_groups(void)
{
    assert_null(wk_nn_resnet(18, .groups = 2));
}
static void nn_vit_of_other_patches(void)
{
    assert_null(wk_nn_vit(.patch_size = 15));
}
static void nn_vit_of_other_images(void)
{
    wk_module *m = wk_nn_vit(.image_size = 4, .patch_size = 2, .hidden_size = 2, .num_hidden_layers = 1,
                             .num_attention_heads = 1, .intermediate_size = 2);
    assert_null(wk_forward(m, wk_ones((1, 3, 4, 6))));
}
static void nn_conv1d_of_a_negative_stride(void)
{
    assert_null(wk_nn_conv1d(2, 2, 3, .stride = -1));
}
static void nn_conv1d_of_negative_channels(void)
{
    assert_null(wk_nn_conv1d(-2, 2, 3));
}
static void nn_unfold_of_nothing(void)
{
    assert_null(wk_nn_unfold(0));
}
static void nn_upsample_of_nothing(void)
{
    assert_null(wk_nn_upsample(0));
}
static void nn_upsampling_nearest2d_of_nothing(void)
{
    assert_null(wk_nn_upsampling_nearest2d(0));
}
static void nn_unflatten_of_nothing(void)
{
    assert_null(wk_nn_unflatten(1, ()));
}

static const promised_code promised_by_vision[] = {
    {"wk_pad", WK_ERR_ARGUMENT, .sample = "[2],(1)"},
    {"wk_pad", WK_ERR_SHAPE, .sample = "[2],(-3,0)"},
    {"wk_pixel_shuffle", WK_ERR_ARGUMENT, .sample = "[4,2,2],0"},
    {"wk_pixel_shuffle", WK_ERR_SHAPE, .sample = "[3,2,2],2"},
    {"wk_pixel_unshuffle", WK_ERR_ARGUMENT, .sample = "[4,2,2],0"},
    {"wk_pixel_unshuffle", WK_ERR_SHAPE, .sample = "[4,3,2],2"},
    {"wk_channel_shuffle", WK_ERR_ARGUMENT, .sample = "[1,4,2],0"},
    {"wk_channel_shuffle", WK_ERR_SHAPE, .sample = "[1,4,2],3"},
    {"wk_conv1d", WK_ERR_SHAPE, .sample = "[1,2,6],[2,3,3]"},
    {"wk_conv1d", WK_ERR_ARGUMENT, .sample = "[1,2,6],[2,2,3],none,-1"},
    {"wk_conv1d", WK_ERR_DTYPE, .sample = "[1,2,6],[2,2,3]:i64"},
    {"wk_conv2d", WK_ERR_SHAPE, .sample = "[1,2,6,6],[2,3,3,3]"},
    {"wk_conv2d", WK_ERR_ARGUMENT, .sample = "[1,2,6,6],[2,2,3,3],none,-1"},
    {"wk_conv2d", WK_ERR_DTYPE, .sample = "[1,2,6,6],[2,2,3,3]:i64"},
    {"wk_conv3d", WK_ERR_SHAPE, .sample = "[1,2,6,6,6],[2,3,3,3,3]"},
    {"wk_conv3d", WK_ERR_ARGUMENT, .sample = "[1,2,6,6,6],[2,2,3,3,3],none,-1"},
    {"wk_conv3d", WK_ERR_DTYPE, .sample = "[1,2,6,6,6],[2,2,3,3,3]:i64"},
    {"wk_conv_transpose1d", WK_ERR_SHAPE, .sample = "[1,2,6],[3,2,3]"},
    {"wk_conv_transpose1d", WK_ERR_ARGUMENT, .sample = "[1,2,6],[2,2,3],none,-1"},
    {"wk_conv_transpose1d", WK_ERR_DTYPE, .sample = "[1,2,6],[2,2,3]:i64"},
    {"wk_conv_transpose2d", WK_ERR_SHAPE, .sample = "[1,2,6,6],[3,2,3,3]"},
    {"wk_conv_transpose2d", WK_ERR_ARGUMENT, .sample = "[1,2,6,6],[2,2,3,3],none,-1"},
    {"wk_conv_transpose2d", WK_ERR_DTYPE, .sample = "[1,2,6,6],[2,2,3,3]:i64"},
    {"wk_conv_transpose3d", WK_ERR_SHAPE, .sample = "[1,2,6,6,6],[3,2,3,3,3]"},
    {"wk_conv_transpose3d", WK_ERR_ARGUMENT, .sample = "[1,2,6,6,6],[2,2,3,3,3],none,-1"},
    {"wk_conv_transpose3d", WK_ERR_DTYPE, .sample = "[1,2,6,6,6],[2,2,3,3,3]:i64"},
    {"wk_max_pool1d", WK_ERR_SHAPE, .sample = "[1,2,6],7"},
    {"wk_max_pool1d", WK_ERR_SHAPE, .sample = "[1,1,2],2,none,1,3"},
    {"wk_max_pool1d", WK_ERR_ARGUMENT, .sample = "[1,2,6],2,1,2"},
    {"wk_max_pool1d", WK_ERR_DTYPE, .sample = "[1,2,6]:bool,2"},
    {"wk_max_pool2d", WK_ERR_SHAPE, .sample = "[1,2,6,6],7"},
    {"wk_max_pool2d", WK_ERR_ARGUMENT, .sample = "[1,2,6,6],2,1,2"},
    {"wk_max_pool2d", WK_ERR_DTYPE, .sample = "[1,2,6,6]:bool,2"},
    {"wk_max_pool3d", WK_ERR_SHAPE, .sample = "[1,2,6,6,6],7"},
    {"wk_max_pool3d", WK_ERR_ARGUMENT, .sample = "[1,2,6,6,6],2,1,2"},
    {"wk_max_pool3d", WK_ERR_DTYPE, .sample = "[1,2,6,6,6]:bool,2"},
    {"wk_avg_pool1d", WK_ERR_SHAPE, .sample = "[1,2,6],7"},
    {"wk_avg_pool1d", WK_ERR_ARGUMENT, .sample = "[1,2,6],2,1,2"},
    {"wk_avg_pool1d", WK_ERR_DTYPE, .sample = "[1,2,6]:i64,2"},
    {"wk_avg_pool2d", WK_ERR_SHAPE, .sample = "[1,2,6,6],7"},
    {"wk_avg_pool2d", WK_ERR_ARGUMENT, .sample = "[1,2,6,6],2,1,2"},
    {"wk_avg_pool2d", WK_ERR_DTYPE, .sample = "[1,2,6,6]:i64,2"},
    {"wk_avg_pool3d", WK_ERR_SHAPE, .sample = "[1,2,6,6,6],7"},
    {"wk_avg_pool3d", WK_ERR_ARGUMENT, .sample = "[1,2,6,6,6],2,1,2"},
    {"wk_avg_pool3d", WK_ERR_DTYPE, .sample = "[1,2,6,6,6]:i64,2"},
    {"wk_lp_pool1d", WK_ERR_SHAPE, .sample = "[1,2,6],2.0,7"},
    {"wk_lp_pool1d", WK_ERR_ARGUMENT, .sample = "[1,2,6],0.0,2"},
    {"wk_lp_pool1d", WK_ERR_DTYPE, .sample = "[1,2,6]:i64,2.0,2"},
    {"wk_lp_pool2d", WK_ERR_SHAPE, .sample = "[1,2,6,6],2.0,7"},
    {"wk_lp_pool2d", WK_ERR_ARGUMENT, .sample = "[1,2,6,6],0.0,2"},
    {"wk_lp_pool2d", WK_ERR_DTYPE, .sample = "[1,2,6,6]:i64,2.0,2"},
    {"wk_lp_pool3d", WK_ERR_SHAPE, .sample = "[1,2,6,6,6],2.0,7"},
    {"wk_lp_pool3d", WK_ERR_ARGUMENT, .sample = "[1,2,6,6,6],0.0,2"},
    {"wk_lp_pool3d", WK_ERR_DTYPE, .sample = "[1,2,6,6,6]:i64,2.0,2"},
    {"wk_adaptive_max_pool1d", WK_ERR_SHAPE, .sample = "[2],2"},
    {"wk_adaptive_max_pool1d", WK_ERR_ARGUMENT, .sample = "[1,2,6],-2"},
    {"wk_adaptive_max_pool1d", WK_ERR_DTYPE, .sample = "[1,2,6]:bool,2"},
    {"wk_adaptive_max_pool2d", WK_ERR_SHAPE, .sample = "[2],2"},
    {"wk_adaptive_max_pool2d", WK_ERR_ARGUMENT, .sample = "[1,2,6,6],-2"},
    {"wk_adaptive_max_pool2d", WK_ERR_DTYPE, .sample = "[1,2,6,6]:bool,2"},
    {"wk_adaptive_max_pool3d", WK_ERR_SHAPE, .sample = "[2],2"},
    {"wk_adaptive_max_pool3d", WK_ERR_ARGUMENT, .sample = "[1,2,6,6,6],-2"},
    {"wk_adaptive_max_pool3d", WK_ERR_DTYPE, .sample = "[1,2,6,6,6]:bool,2"},
    {"wk_adaptive_avg_pool1d", WK_ERR_SHAPE, .sample = "[2],2"},
    {"wk_adaptive_avg_pool1d", WK_ERR_ARGUMENT, .sample = "[1,2,6],-2"},
    {"wk_adaptive_avg_pool1d", WK_ERR_DTYPE, .sample = "[1,2,6]:i64,2"},
    {"wk_adaptive_avg_pool2d", WK_ERR_SHAPE, .sample = "[2],2"},
    {"wk_adaptive_avg_pool2d", WK_ERR_ARGUMENT, .sample = "[1,2,6,6],-2"},
    {"wk_adaptive_avg_pool2d", WK_ERR_DTYPE, .sample = "[1,2,6,6]:i64,2"},
    {"wk_adaptive_avg_pool3d", WK_ERR_SHAPE, .sample = "[2],2"},
    {"wk_adaptive_avg_pool3d", WK_ERR_ARGUMENT, .sample = "[1,2,6,6,6],-2"},
    {"wk_adaptive_avg_pool3d", WK_ERR_DTYPE, .sample = "[1,2,6,6,6]:i64,2"},
    {"wk_max_unpool1d", WK_ERR_SHAPE, .sample = "[1,1,1],[1,1,2]:i64,2"},
    {"wk_max_unpool1d", WK_ERR_INDEX, .provoke = unpool_beyond_1d},
    {"wk_max_unpool1d", WK_ERR_ARGUMENT, .sample = "[1,1,1],[1,1,1]:i64,0"},
    {"wk_max_unpool1d", WK_ERR_DTYPE, .sample = "[1,1,1],[1,1,1]:i32,2"},
    {"wk_max_unpool2d", WK_ERR_SHAPE, .sample = "[1,1,1,1],[1,1,1,2]:i64,2"},
    {"wk_max_unpool2d", WK_ERR_INDEX, .provoke = unpool_beyond_2d},
    {"wk_max_unpool2d", WK_ERR_ARGUMENT, .sample = "[1,1,1,1],[1,1,1,1]:i64,0"},
    {"wk_max_unpool2d", WK_ERR_DTYPE, .sample = "[1,1,1,1],[1,1,1,1]:i32,2"},
    {"wk_max_unpool3d", WK_ERR_SHAPE, .sample = "[1,1,1,1,1],[1,1,1,1,2]:i64,2"},
    {"wk_max_unpool3d", WK_ERR_INDEX, .provoke = unpool_beyond_3d},
    {"wk_max_unpool3d", WK_ERR_ARGUMENT, .sample = "[1,1,1,1,1],[1,1,1,1,1]:i64,0"},
    {"wk_max_unpool3d", WK_ERR_DTYPE, .sample = "[1,1,1,1,1],[1,1,1,1,1]:i32,2"},
    {"wk_interpolate", WK_ERR_SHAPE, .sample = "[1,2,4],2,none,\"bilinear\""},
    {"wk_interpolate", WK_ERR_ARGUMENT, .sample = "[1,2,4]"},
    {"wk_interpolate", WK_ERR_DTYPE, .sample = "[1,2,4]:i64,2"},
    {"wk_adaptive_avg_pool1d", WK_ERR_MEMORY, .sample = "[1,2,6],4000000000000"},
    {"wk_adaptive_max_pool1d", WK_ERR_MEMORY, .sample = "[1,2,6],4000000000000"},
    {"wk_max_unpool1d", WK_ERR_MEMORY, .sample = "[1,1,1],[1,1,1]:i64,4000000000000"},
    {"wk_adaptive_avg_pool2d", WK_ERR_MEMORY, .sample = "[1,2,6,6],(500000000,500000000)"},
    {"wk_adaptive_max_pool2d", WK_ERR_MEMORY, .sample = "[1,2,6,6],(500000000,500000000)"},
    {"wk_max_unpool2d", WK_ERR_MEMORY, .sample = "[1,1,1,1],[1,1,1,1]:i64,(500000000,500000000)"},
    {"wk_adaptive_avg_pool3d", WK_ERR_MEMORY, .sample = "[1,2,6,6,6],(500000,500000,500000)"},
    {"wk_adaptive_max_pool3d", WK_ERR_MEMORY, .sample = "[1,2,6,6,6],(500000,500000,500000)"},
    {"wk_max_unpool3d", WK_ERR_MEMORY, .sample = "[1,1,1,1,1],[1,1,1,1,1]:i64,(500000,500000,500000)"},
    {"wk_interpolate", WK_ERR_MEMORY, .sample = "[1,2,4],4000000000000"},
    {"wk_affine_grid", WK_ERR_SHAPE, .sample = "[1,2,3],(2,1,2,2)"},
    {"wk_affine_grid", WK_ERR_ARGUMENT, .sample = "[1,2,3],(1,1,0,2)"},
    {"wk_affine_grid", WK_ERR_DTYPE, .sample = "[1,2,3]:i64,(1,1,2,2)"},
    {"wk_grid_sample", WK_ERR_SHAPE, .sample = "[1,1,2,2],[1,2,2,3]"},
    {"wk_grid_sample", WK_ERR_ARGUMENT, .sample = "[1,1,2,2],[1,2,2,2],\"linear\""},
    {"wk_grid_sample", WK_ERR_DTYPE, .sample = "[1,1,2,2],[1,2,2,2]:i64"},
    {"wk_im2col", WK_ERR_SHAPE, .sample = "[1,2,3,3],4"},
    {"wk_im2col", WK_ERR_ARGUMENT, .sample = "[1,2,3,3],0"},
    {"wk_col2im", WK_ERR_SHAPE, .sample = "[1,3,4],(3,3),2"},
    {"wk_col2im", WK_ERR_ARGUMENT, .sample = "[1,4,4],(0,3),2"},
    {"wk_col2im", WK_ERR_DTYPE, .sample = "[1,4,4]:bool,(3,3),2"},
    {"models.h", WK_ERR_ARGUMENT, .provoke = network_without_classes},
    {"wk_nn_resnet", WK_ERR_ARGUMENT, .provoke = nn_resnet_of_basic_blocks_in_groups},
    {"wk_nn_vit", WK_ERR_ARGUMENT, .provoke = nn_vit_of_other_patches},
    {"wk_nn_vit", WK_ERR_SHAPE, .provoke = nn_vit_of_other_images},
    {"wk_nn_conv1d", WK_ERR_ARGUMENT, .provoke = nn_conv1d_of_a_negative_stride},
    {"wk_nn_conv1d", WK_ERR_SHAPE, .provoke = nn_conv1d_of_negative_channels},
    {"wk_nn_unfold", WK_ERR_ARGUMENT, .provoke = nn_unfold_of_nothing},
    {"wk_nn_upsample", WK_ERR_ARGUMENT, .provoke = nn_upsample_of_nothing},
    {"wk_nn_upsampling_nearest2d", WK_ERR_ARGUMENT, .provoke = nn_upsampling_nearest2d_of_nothing},
    {"wk_nn_unflatten", WK_ERR_ARGUMENT, .provoke = nn_unflatten_of_nothing},
    {"wk_nn_max_pool1d", WK_ERR_ARGUMENT, .provoke = nn_max_pool1d_of_nothing},
    {"wk_nn_lp_pool1d", WK_ERR_ARGUMENT, .provoke = nn_lp_pool1d_of_nothing},
    {"wk_nn_adaptive_avg_pool1d", WK_ERR_ARGUMENT, .provoke = nn_adaptive_avg_pool1d_of_nothing},
    {"wk_nn_adaptive_max_pool1d", WK_ERR_ARGUMENT, .provoke = nn_adaptive_max_pool1d_of_nothing},
    {"wk_nn_max_unpool1d", WK_ERR_ARGUMENT, .provoke = nn_max_unpool1d_of_nothing},
    {"wk_nn_zero_pad1d", WK_ERR_ARGUMENT, .provoke = nn_zero_pad1d_of_nothing},
    {"wk_nn_pixel_shuffle", WK_ERR_ARGUMENT, .provoke = nn_pixel_shuffle_of_nothing},
};

#endif
