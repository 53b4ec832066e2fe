/* SPDX-License-Identifier: Apache-2.0 */
/* Records of event files. A file is a list of records in the format TFRecord, and each record is a protocol buffer:
 *
 *     u64 length | u32 masked CRC of the length | bytes | u32 masked CRC of the bytes         all little endian
 *
 *     Event   1: double wall_time   2: int64 step   3: string file_version   5: Summary
 *     Summary 1: repeated Value, of which a record has one
 *     Value   1: string tag   2: float simple_value
 *
 * https://github.com/tensorflow/tensorflow/blob/master/tensorflow/core/util/event.proto */
#ifndef WICK_REPORT_TENSORBOARD_RECORD_H
#define WICK_REPORT_TENSORBOARD_RECORD_H

#include "base/text.h"

/* Returns the CRC-32C of the bytes (polynomial 0x1edc6f41, reflected). */
uint32_t wk__crc32c(const void *bytes, int64_t count);
/* Appends the record that begins a file: wall_time, in seconds since 1970, and the version. */
void wk__tensorboard_add_version(wk__text *out, double wall_time);
/* Appends the record of a value. The strings are copied as they are. */
void wk__tensorboard_add_scalar(wk__text *out, double wall_time, const char *tag, int64_t step, float value);

#endif
