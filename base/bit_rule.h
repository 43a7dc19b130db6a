// A BitRule says above which value an element becomes a bit that is set.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace farvec {

/// The thresholds are zero, the mean of each dimension, or its median.
enum class BitRule : std::uint8_t { sign, mean, median };

inline constexpr std::array kBitRules{BitRule::sign, BitRule::mean, BitRule::median};

/// Returns "sign", "mean" or "median".
std::string_view to_string(BitRule rule);
/// Returns the rule of such a word; none for every other one.
std::optional<BitRule> find_bit_rule(std::string_view word);

}  // namespace farvec
