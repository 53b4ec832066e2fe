/* SPDX-License-Identifier: Apache-2.0 */
/* RNN: the layer of the library. Dive into Deep Learning, Concise Implementation of Recurrent Neural Networks.
 *
 *     rnn [DEVICE [EPOCHS [FILE [SVG]]]] */
#include "characters.h"

int main(int argc, char **argv)
{
    WK_SCOPE;
    const reading r = read_words((reading){.name = "RNN", .lr = 1, .epochs = 500, .states = 1}, argc, argv);
    const characters text = read_characters(&r);
    wk_module *layer = wk_nn_rnn(text.count, 256);
    return train_characters(new_model(layer, 256, text.count), &text, &r);
}
