/* SPDX-License-Identifier: Apache-2.0 */
/* Deep LSTM: two layers, the second of which reads the states of the first. Dive into Deep Learning, Deep Recurrent
 * Neural Networks.
 *
 *     lstm_deep [DEVICE [EPOCHS [FILE [SVG]]]] */
#include "characters.h"

int main(int argc, char **argv)
{
    WK_SCOPE;
    const reading r = read_words((reading){.name = "Deep LSTM", .lr = 2, .epochs = 500, .states = 2}, argc, argv);
    const characters text = read_characters(&r);
    wk_module *layer = wk_nn_lstm(text.count, 256, .num_layers = 2);
    return train_characters(new_model(layer, 256, text.count), &text, &r);
}
