// Finds out whether an index of a data set may have fewer bits than its data, by comparing all rows
// of a sample.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/progress.h"
#include "indexing/reduced_source.h"
#include "measure/advise/sample.h"

namespace farvec::measure {

/// How many times k candidates are ranked again, in ascending order.
inline constexpr std::array<std::uint32_t, 6> kRefines{1, 2, 4, 8, 16, 32};

/// A FewBits is one way to have fewer bits, and what it finds in a sample.
struct FewBits {
  indexing::ReductionWish wish;
  std::size_t vector_bytes = 0;
  /// The share of the true neighbours that are among the kRefines[i] * k nearest of all rows by the
  /// reduced vectors. Ranking them again finds these, and no search of such an index finds more.
  std::array<double, kRefines.size()> recall{};

  /// Returns the least of kRefines with which at least `wanted` are found; none where none is
  /// enough.
  std::optional<std::uint32_t> enough(double wanted) const;
};

struct FewBitsOptions {
  std::uint32_t k = 10;
  unsigned threads = 0;
  Interruption interrupted = {};
};

/// The most rows and queries that are compared.
inline constexpr std::size_t kMostFewBitsRows = 50'000;
inline constexpr std::size_t kMostFewBitsQueries = 200;

/// Tries bits by each rule and metric, 8-bit integers and half floats, where these are fewer than
/// those of the sample. `queries` are of the sample's stored type. None where the sample has bits.
/// Throws WorkInterrupted.
std::vector<FewBits> try_few_bits(const Sample& sample, const VectorView& queries,
                                  const FewBitsOptions& options);

/// Returns the one with the fewest bytes that is enough, and of equal ones the one that ranks the
/// fewest again; none where none is.
std::optional<std::size_t> choose_few_bits(const std::vector<FewBits>& tried, double wanted);

/// Returns "b1 by mean, hamming".
std::string to_string(const indexing::ReductionWish& wish);
/// Returns the options of `farvec build graph` that make such an index.
std::string store_options(const indexing::ReductionWish& wish);

}  // namespace farvec::measure
