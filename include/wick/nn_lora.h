/* SPDX-License-Identifier: Apache-2.0 */
/* wick/nn_lora.h: LoRA: fine-tuning with low-rank adapters of linear layers.
 *
 *     wk_module *net = wk_nn_pretrained("gpt2");
 *     wk_nn_lora(net, .r = 8, .lora_alpha = 16, .target_modules = "c_attn");
 *     wk_module_train(net, true);
 *     wk_optim *adamw = wk_optim_adamw(wk_parameters(net), .lr = 1e-4);     (changes only the adapters)
 *     ...
 *     wk_nn_lora_save(net, "adapter");                                      (a folder that peft can read)
 *     wk_nn_lora_merge(net);                                                (linear layers with the new weights)
 *
 * A layer with an adapter computes, for the linear layer W x + b that it contains,
 *
 *     out = W x + b + s B A dropout(x),  s = lora_alpha / r
 *
 * Linear layers are those of wk_nn_linear, wk_nn_lazy_linear and wk_nn_quantized_linear, including those inside the
 * networks of this library, and the projections of GPT-2. The layer with an adapter replaces the linear layer, which
 * becomes its child base_layer:
 *
 *     h.0.attn.c_attn.weight  ->  h.0.attn.c_attn.base_layer.weight, .lora_A.weight (r, in), .lora_B.weight (out, r)
 *
 * Source:  Hu et al. 2021, arXiv 2106.09685; Hugging Face's peft, LoraConfig */
#ifndef WICK_NN_LORA_H
#define WICK_NN_LORA_H

#if !defined __cplusplus && !defined __clang__
#pragma GCC system_header /* see macros.h */
#endif

#include "nn.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct wk_nn_lora_options {
    size_t size;
    wk_by_name by_name;
    int64_t r;           /* rank of an adapter; default 8 */
    double lora_alpha;   /* default 8 */
    double lora_dropout; /* probability that an element of an adapter's input is dropped in training; default 0 */
    const char *target_modules; /* comma-separated names of linear layers, "q_proj,v_proj": a name is a path or its last
                                 * parts; "all-linear": all except the lm_head of a language model; default the names
                                 * of "c_attn,q_proj,v_proj,query,value" that exist */
    bool use_rslora;            /* s = lora_alpha / sqrt(r); default false */
    char reserved[7];
} wk_nn_lora_options;
/* wk_nn_lora(net): Adds an adapter to each linear layer of .target_modules, and sets requires_grad of all other
 * parameters to false. Outputs do not change until the adapters are trained.
 *     wk_nn_lora(net, .r = 8, .lora_alpha = 16, .lora_dropout = 0.05, .target_modules = "q_proj,k_proj,v_proj,o_proj");
 * Parameters: lora_A.weight (r, in), initially kaiming_uniform_ with a = sqrt(5), and lora_B.weight (out, r),
 *            initially 0, on the device of the layer; f64 if its weight is f64, else f32
 * Returns:   net; NULL on error, and net is unchanged
 * Errors:    WK_ERR_ARGUMENT if an option is invalid, or no linear layer has a name of .target_modules;
 *            WK_ERR_STATE if net has adapters, a lazy layer has not been called yet, or net contains a wk_mirrored or
 *            wk_ddp, which must be created after the adapters
 * Source:    peft.get_peft_model(net, LoraConfig(r, lora_alpha, target_modules, lora_dropout, use_rslora)) */
WK_API wk_module *wk_nn_lora_at(wk_site site, wk_module *net, const wk_nn_lora_options *options);
/* wk_nn_lora_merge(net): Adds s B A to the weights of all layers with adapters, and restores the linear layers.
 * Names of parameters, and so the files of wk_save, are then those of the network without adapters. requires_grad of
 * the weights stays false.
 * Returns:   net; NULL on error, after which the layers that were not merged keep their adapters
 * Errors:    WK_ERR_STATE if net has no adapters, or a base_layer was replaced by another kind of module;
 *            WK_ERR_UNSUPPORTED if a layer with an adapter is quantised: net is unchanged
 * Source:    peft.PeftModel.merge_and_unload */
WK_API wk_module *wk_nn_lora_merge_at(wk_site site, wk_module *net);

/* wk_nn_lora_save(net, folder): Writes only the adapters, as adapter_model.safetensors and adapter_config.json, into a
 * folder, which is created if its parent exists. Tensors are named base_model.model.PATH.lora_A.weight.
 *     wk_nn_lora_save(net, "adapter");        peft: PeftModel.from_pretrained(net, "adapter")
 * Returns:   WK_OK or an error code; the code of a pending error, without writing
 * Errors:    WK_ERR_IO if the system reports an error; WK_ERR_STATE if net has no adapters
 * Source:    peft.PeftModel.save_pretrained */
WK_API wk_code wk_nn_lora_save_at(wk_site site, wk_module *net, const char *folder);
/* wk_nn_lora_load(net, folder): Adds adapters, as wk_nn_lora does, with the weights in a folder that wk_nn_lora_save or
 * peft has written. The weights are converted to the dtype of the adapters.
 * Returns:   net; NULL on error, and net is unchanged
 * Errors:    WK_ERR_IO if a file cannot be read; WK_ERR_FORMAT if one is invalid; WK_ERR_UNSUPPORTED if
 *            adapter_config.json describes another kind of adapter, or has a setting that changes the results and
 *            is not supported; WK_ERR_SHAPE if the tensors do not fit the network; WK_ERR_STATE as wk_nn_lora
 * Source:    peft.PeftModel.from_pretrained */
WK_API wk_module *wk_nn_lora_load_at(wk_site site, wk_module *net, const char *folder);

#define wk_nn_lora_merge(net)        wk_nn_lora_merge_at(WK_HERE, net)
#define wk_nn_lora_save(net, folder) wk_nn_lora_save_at(WK_HERE, net, folder)
#define wk_nn_lora_load(net, folder) wk_nn_lora_load_at(WK_HERE, net, folder)

#ifndef __cplusplus
#define wk_nn_lora(...) WK_OPT_(wk_module *, wk_nn_lora, wk_nn_lora_options, __VA_ARGS__)
#endif

#ifdef __cplusplus
}
#endif
#endif
