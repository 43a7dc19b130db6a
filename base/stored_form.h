// Decides in which form a metric stores and compares vectors. Cosine compares unit vectors; the
// other metrics compare vectors as they come. Nothing else asks which metric it is to find that
// out.
#pragma once

#include "base/types.h"

namespace farvec {

/// Returns true when rows are stored, and queries compared, at length 1.
constexpr bool stores_unit_vectors(Metric metric) {
  return metric == Metric::cosine;
}

/// Says whether a metric compares bits; the others compare numbers.
constexpr bool compares_bits(Metric metric) {
  return metric == Metric::hamming || metric == Metric::jaccard;
}

/// Says whether a metric can compare vectors of a type.
constexpr bool can_compare(Metric metric, ElementType type) {
  return compares_bits(metric) == (type == ElementType::b1);
}

/// Throws StatusError (invalid_argument) naming both and what would fit, unless the metric fits.
void require_metric_fits(Metric metric, ElementType type);

/// Returns the type in which vectors of type `source` are stored. Unit vectors of integers have
/// fractions and become f16; everything else keeps its type.
constexpr ElementType stored_type(Metric metric, ElementType source) {
  const bool integer = source == ElementType::u8 || source == ElementType::i8;
  return stores_unit_vectors(metric) && integer ? ElementType::f16 : source;
}

}  // namespace farvec
