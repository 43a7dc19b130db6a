// A ReductionWish says what an index has of each vector where that is fewer bits than the data has,
// and what its second copy has.
#pragma once

#include <optional>

#include "base/bit_rule.h"
#include "base/types.h"

namespace farvec::layout {

struct ReductionWish {
  ElementType type = ElementType::b1;  ///< that of the index: b1, f16, u8 or i8
  /// For bits: hamming or jaccard.
  Metric bits_metric = Metric::hamming;
  BitRule rule = BitRule::sign;  ///< for bits
  /// The type of the second copy: f16 where the data has f32. None: that of the data in stored
  /// form.
  std::optional<ElementType> second = std::nullopt;

  bool operator==(const ReductionWish&) const = default;
};

/// Throws StatusError (invalid_argument) when vectors of `source_type` under the metric cannot
/// become such an index: it has no fewer bits, or the second copy has more than the data.
void check_reduction(const ReductionWish& wish, Metric metric, ElementType source_type);

/// Returns the type of the whole vectors, which are those of the second copy. Without a wish it is
/// that of vectors in stored form.
ElementType whole_type(const std::optional<ReductionWish>& wish, Metric metric,
                       ElementType source_type);

}  // namespace farvec::layout
