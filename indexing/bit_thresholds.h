// These functions make bits of numbers: a bit is set where a value is above its dimension's
// threshold.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/bit_rule.h"
#include "dataset/vector_file.h"

namespace farvec::indexing {

/// The bytes of rows, as f32, from which a median is taken. Larger data is sampled.
inline constexpr std::size_t kMedianBytes = 256u << 20;

/// Returns a threshold per dimension, from rows of any type but b1. The mean reads all rows once.
/// The median is the lower one of all rows where they fit `median_bytes`, else of a uniform sample
/// of as many rows as fit. Rows with NaN or infinity are left out with `allow_nonfinite`, else
/// refused. Throws Error.
std::vector<float> bit_thresholds(dataset::VectorReader& rows, BitRule rule,
                                  bool allow_nonfinite = false,
                                  std::size_t median_bytes = kMedianBytes);

/// Reads the thresholds of a vector file: its one row. Throws Error unless it has one row of this
/// dimension, without NaN.
std::vector<float> read_bit_thresholds(const std::string& path, std::uint32_t dimension);

/// Writes thresholds as a vector file of one row. Throws what dataset::create_vectors() throws.
void write_bit_thresholds(const std::string& path, std::span<const float> thresholds);

}  // namespace farvec::indexing
