// Which answer the bytes behind the first one are.
#pragma once

#include <cstdint>

namespace farvec::fuzz {

enum class AnswerKind : std::uint8_t { describe, search, stats, rows, receipt };
inline constexpr int kAnswerKinds = 5;

}  // namespace farvec::fuzz
