/* SPDX-License-Identifier: Apache-2.0 */
/* wick predict: classifies image files with a network that `wick train` or torchvision trained. */
#include "model.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SHOWN = 5, BAR = 30 };

/* Sizes of images: the shorter side is resized to `resize`, then the centre of crop x crop pixels is cut out. */
typedef struct input {
    int64_t channels, resize, crop;
    bool imagenet; /* subtract the mean of ImageNet's images and divide by their standard deviation */
    bool invert;   /* 1 - x: for dark strokes on a light ground */
} input;

/* A network that was read from a file. */
typedef struct network {
    wk_module *module;
    input input;
    int64_t classes;
    cli_names names; /* none: classes have numbers */
} network;

/* ---- the network ------------------------------------------------------------------------------------------------- */

/* Finds the kind of network: that of the file, or the one that the command line names. */
static const cli_model *find_model(const char *file, const wk_file_info *info, const char *named)
{
    const char *said = cli_metadata_of(info, "wick.model");
    const cli_model *model = cli_model_find(said ? said : named ? named : "");
    if (said && named && strcmp(said, named) != 0)
        fprintf(stderr, "wick predict: %s is a %s; omit --model %s\n", file, said, named);
    else if (said && !model)
        fprintf(stderr, "wick predict: %s is a network of the unknown kind \"%s\"; expected %s\n", file, said,
                cli_model_names());
    else if (!model)
        fprintf(stderr, "wick predict: %s does not name its network; add --model with one of %s\n", file,
                cli_model_names());
    else
        return model;
    return NULL;
}

/* Reads the numbers of channels and classes from the sizes of tensors. */
static bool find_sizes(const char *file, const wk_file_info *info, const cli_model *model, network *out)
{
    const wk_file_tensor *first = model->first ? cli_tensor_of(info, model->first) : NULL;
    const wk_file_tensor *last = cli_tensor_of(info, model->last);
    const bool fine = last && last->ndim == 2 && (!model->first || (first && first->ndim == 4));
    const char *missing = last && last->ndim == 2 ? model->first : model->last;
    if (fine) {
        out->input.channels = first ? first->shape[1] : 1;
        out->classes = last->shape[0];
    }
    if (fine && (out->input.channels == 1 || out->input.channels == 3) && out->classes > 0) return true;
    if (fine)
        fprintf(stderr, "wick predict: %s has %lld channels and %lld classes; expected 1 or 3 channels\n", file,
                (long long)out->input.channels, (long long)out->classes);
    else
        fprintf(stderr,
                "wick predict: %s is not a %s: tensor %s is missing or has the wrong number of dimensions; "
                "try another --model\n",
                file, model->name, missing);
    return false;
}

static bool find_input(const char *file, const wk_file_info *info, const cli_model *model, network *out)
{
    const char *text = cli_metadata_of(info, "wick.size");
    input *in = &out->input;
    in->imagenet = !text && model->imagenet && in->channels == 3;
    in->resize = in->imagenet ? 256 : CLI_IMAGE_SIZE;
    in->crop = in->imagenet ? 224 : CLI_IMAGE_SIZE;
    if (text) in->resize = in->crop = strtol(text, NULL, 10);
    if (in->crop >= 1 && in->crop <= 4096) return true;
    fprintf(stderr, "wick predict: %s: wick.size is \"%.20s\", expected a number from 1 to 4096\n", file, text);
    return false;
}

/* Names the classes as the file --classes or the metadata do. */
static bool find_names(const char *file, const wk_file_info *info, const char *classes, network *out)
{
    const char *text = cli_metadata_of(info, "wick.classes");
    if (classes && !cli_names_read("predict", classes, &out->names)) return false;
    if (!classes && text && !cli_names_split(text, &out->names)) {
        fprintf(stderr, "wick predict: out of memory\n");
        return false;
    }
    if (out->names.count == 0 || out->names.count == out->classes) return true;
    fprintf(stderr, "wick predict: %s has %lld names, but the network in %s has %lld classes\n",
            classes ? classes : "the metadata", (long long)out->names.count, file, (long long)out->classes);
    return false;
}

/* Reads a network for classification. Returns false after printing the reason. */
static bool read_network(const char *file, const char *named, const char *classes, wk_device device, network *out)
{
    const wk_file_info *info = wk_load_info(file);
    if (!info) {
        cli_report_error("predict");
        return false;
    }
    const cli_model *model = find_model(file, info, named);
    if (!model || !find_sizes(file, info, model, out) || !find_input(file, info, model, out) ||
        !find_names(file, info, classes, out))
        return false;
    out->module = model->create(out->classes, out->input.channels);
    wk_load(out->module, file);
    wk_module_to(out->module, device);
    wk_module_train(out->module, false);
    if (!wk_error()) return true;
    cli_report_error("predict");
    return false;
}

/* ---- an image ---------------------------------------------------------------------------------------------------- */

static wk_tensor *constant(const double rgb[3], wk_device device)
{
    return wk_from(rgb, (3, 1, 1), .dtype = WK_F32, .device = device);
}

/* Returns where the middle `part` of `size` begins, rounded to even as in torchvision. */
static int64_t middle(int64_t size, int64_t part)
{
    return llrint((double)(size - part) / 2);
}

/* Returns the image as the network expects it, (1, C, crop, crop); NULL on error. */
static wk_tensor *read_input(const char *path, const input *in, wk_device device)
{
    static const double mean[] = {0.485, 0.456, 0.406}, deviation[] = {0.229, 0.224, 0.225}; /* of ImageNet */
    wk_tensor *x = wk_image_read(path, .channels = (int)in->channels);
    if (!x) return NULL;
    x = wk_div(wk_unsqueeze(wk_to(x, device), 0), 255);
    const int64_t height = wk_size(x, 2), width = wk_size(x, 3), shorter = height < width ? height : width;
    const int64_t rows = height * in->resize / shorter, columns = width * in->resize / shorter;
    if (shorter != in->resize)
        x = wk_interpolate(x, .output_size = WK_PAIR(rows, columns), .mode = WK_INTERPOLATE_BILINEAR,
                           .antialias = true);
    x = wk_narrow(x, 2, middle(rows, in->crop), in->crop);
    x = wk_narrow(x, 3, middle(columns, in->crop), in->crop);
    if (in->invert) x = wk_sub(1, x);
    return in->imagenet ? wk_div(wk_sub(x, constant(mean, device)), constant(deviation, device)) : x;
}

/* Prints the likeliest classes with per cent and bars. Returns false on error. */
static bool print_classes(const network *net, wk_tensor *scores)
{
    const int64_t shown = net->classes < SHOWN ? net->classes : SHOWN;
    wk_tensor *values, *indices;
    float share[SHOWN];
    int64_t class[SHOWN];
    wk_topk(wk_select(wk_softmax(scores, 1), 0, 0), shown, 0, true, &values, &indices);
    if (wk_read(values, share, (size_t)shown * sizeof *share) != WK_OK ||
        wk_read(indices, class, (size_t)shown * sizeof *class) != WK_OK)
        return false;
    for (int k = 0; k < shown; k++) {
        const int filled = (int)lround((double)share[k] * BAR);
        char bar[BAR + 1];
        for (int column = 0; column < BAR; column++) bar[column] = column < filled ? '#' : ' ';
        bar[BAR] = 0;
        printf("  %5.1f %%  %s%s%s  ", 100 * (double)share[k], cli_color(CLI_BLUE), bar, cli_color(CLI_PLAIN));
        if (net->names.count > 0)
            printf("%s\n", net->names.item[class[k]]);
        else
            printf("class %lld\n", (long long)class[k]);
    }
    return true;
}

static bool classify(const network *net, const char *path, wk_device device)
{
    WK_SCOPE;
    WK_NO_GRAD;
    wk_tensor *x = read_input(path, &net->input, device);
    if (x) printf("%s%s%s\n", cli_color(CLI_BOLD), path, cli_color(CLI_PLAIN));
    if (x && print_classes(net, wk_forward(net->module, x))) return true;
    cli_report_error("predict");
    return false;
}

/* ---- the command line -------------------------------------------------------------------------------------------- */

/* Classifies the images. Returns the exit code. */
static int predict(network *net, const char *const *path, wk_device device)
{
    int failed = 0;
    for (; *path; path++) failed += !classify(net, *path, device);
    return failed == 0 ? CLI_OK : CLI_FAILED;
}

static int run(int count, char **words, const char **operands)
{
    const char *model = NULL, *classes = NULL, *where = "cpu", *invert = NULL;
    const cli_option options[] = {
        {"model", "NETWORK", "kind of network if FILE does not name it: mnist, lenet or resnet18", &model},
        {"classes", "FILE", "names of the classes, one per line; default the names in FILE", &classes},
        {"invert", NULL, "invert the images: for dark digits on a light ground", &invert},
        {"device", "D", "device: cpu, cuda:0, opencl:1, gpu:0; default cpu", &where},
        {0}};
    const cli_syntax syntax = {
        "predict", "FILE IMAGE...",
        "Classifies images (PNG, JPEG, PGM, PPM) with the network in FILE and shows the five likeliest classes. FILE\n"
        "was written by wick train or, for torchvision's resnet18, by safetensors.torch.save_file.\n"
        "Networks of wick train get images of 28 x 28 pixels. Other networks for colour images get the centre 224 x "
        "224\n"
        "of an image resized to 256, normalised as for ImageNet.",
        options, count};
    int done = cli_parse(&syntax, count, words, operands);
    if (done >= 0) return done;
    if (!operands[0]) return cli_usage_error("predict", "missing FILE");
    if (!operands[1]) return cli_usage_error("predict", "missing IMAGE");
    if (model && !cli_model_find(model))
        return cli_usage_error("predict", "unknown network \"%s\"; expected %s", model, cli_model_names());
    wk_device device;
    if (!cli_device("predict", where, &device)) return CLI_USAGE;
    WK_SCOPE;
    network net = {.input.invert = invert != NULL};
    const bool fine = read_network(operands[0], model, classes, device, &net);
    const int code = fine ? predict(&net, operands + 1, device) : CLI_FAILED;
    cli_names_free(&net.names);
    return code;
}

int cli_predict(int count, char **words)
{
    const char **operands = calloc((size_t)count + 1, sizeof *operands);
    if (!operands) {
        fprintf(stderr, "wick predict: out of memory\n");
        return CLI_FAILED;
    }
    const int code = run(count, words, operands);
    free(operands);
    return code;
}
