#include "base/stored_form.h"

#include "base/status_error.h"

namespace farvec {

void require_metric_fits(Metric metric, ElementType type) {
  if (can_compare(metric, type)) return;
  if (compares_bits(metric)) {
    throw StatusError(
        StatusCode::invalid_argument,
        "{} compares bits, and these are vectors of {}: use l2, ip or cosine, or make them "
        "bits with 'farvec dataset convert --by'",
        to_string(metric), to_string(type));
  }
  throw StatusError(
      StatusCode::invalid_argument,
      "{} compares numbers, and these are vectors of bits (b1): use hamming or jaccard",
      to_string(metric));
}

}  // namespace farvec
