/* SPDX-License-Identifier: Apache-2.0 */
/* GRU: a recurrent layer with a reset gate and an update gate. Dive into Deep Learning, Gated Recurrent Units (GRU).
 *
 *     gru [DEVICE [EPOCHS [FILE [SVG]]]] */
#include "characters.h"

int main(int argc, char **argv)
{
    WK_SCOPE;
    const reading r = read_words((reading){.name = "GRU", .lr = 1, .epochs = 500, .states = 1}, argc, argv);
    const characters text = read_characters(&r);
    wk_module *layer = wk_nn_gru(text.count, 256);
    return train_characters(new_model(layer, 256, text.count), &text, &r);
}
