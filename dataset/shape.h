// Checks what every vector file must satisfy, before memory is asked for.
#pragma once

#include <cstddef>
#include <cstdint>

#include "dataset/vector_file.h"

namespace farvec::dataset {

/// Throws Error when there are no rows, more rows than ids, or a dimension outside 1 to
/// max_dimension().
void check_shape(const VectorFileInfo& info);

/// Throws Error unless the file has exactly `header_bytes` and the rows that the header promises.
/// Call it after check_shape(), which bounds the product.
void check_payload(const VectorFileInfo& info, std::uint64_t header_bytes);

/// A compressed file cannot be measured without unpacking it, but DEFLATE never shrinks more than
/// 1032 times: throws Error when `stored_bytes` cannot hold the promised rows.
void check_compressed_payload(const VectorFileInfo& info, std::uint64_t stored_bytes);

}  // namespace farvec::dataset
