// level_of() says on how many layers a vertex of an HNSW graph is.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "base/random.h"
#include "base/types.h"

namespace farvec::graph {

/// No vertex is above it: with m = 2, one in 2^15 would be.
inline constexpr std::uint32_t kMaxLevel = 15;
inline constexpr std::uint32_t kLayers = kMaxLevel + 1;

struct LevelRule {
  std::uint64_t seed = 1;
  std::uint32_t m = 24;                 ///< one vertex in m goes on to the next layer; >= 2
  std::uint32_t max_level = kMaxLevel;  ///< at most kMaxLevel
};

/// Returns the highest layer of a vertex, 0 for most: exponential with mean 1 / ln m (Malkov and
/// Yashunin, section 4). It depends on the rule and the id alone. So a vertex gets the same level
/// in whatever order, by whichever thread, and in memory or on pages it is inserted.
inline std::uint32_t level_of(const LevelRule& rule, NodeId id) {
  Random mixed(rule.seed);
  Random random(mixed.next() ^ (std::uint64_t{id} * 0x9e3779b97f4a7c15u));
  const double uniform = 1.0 - random.uniform();  // never 0
  const double level = std::floor(-std::log(uniform) / std::log(static_cast<double>(rule.m)));
  return static_cast<std::uint32_t>(std::min(level, static_cast<double>(rule.max_level)));
}

}  // namespace farvec::graph
