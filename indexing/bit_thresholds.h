// These functions make bits of numbers: a bit is set where a value is above its dimension's
// threshold.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/types.h"
#include "dataset/vector_file.h"

namespace farvec::indexing {

/// Says what the thresholds are: zero, the mean of each dimension, or its median.
enum class BitRule : std::uint8_t { sign, mean, median };

inline constexpr std::array kBitRules{BitRule::sign, BitRule::mean, BitRule::median};

/// Returns "sign", "mean" or "median".
std::string_view to_string(BitRule rule);
/// Returns the rule of such a word; none for every other one.
std::optional<BitRule> find_bit_rule(std::string_view word);

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
