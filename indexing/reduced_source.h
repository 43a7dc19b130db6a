// A ReducedSource makes the vectors of an index smaller than those of its data: bits, half floats
// or integers. Searches then rank their candidates again by a second copy.
#pragma once

#include <filesystem>
#include <optional>
#include <string_view>

#include "base/types.h"
#include "dataset/vector_set.h"
#include "indexing/bit_thresholds.h"
#include "indexing/source.h"
#include "layout/index/index_writer.h"
#include "layout/index/second_copy.h"
#include "quantization/reduction.h"

namespace farvec::indexing {

/// Says what the index has of each vector, and what the second copy has.
struct ReductionWish {
  ElementType type = ElementType::b1;  ///< that of the index: b1, f16, u8 or i8
  /// For bits: hamming or jaccard.
  Metric bits_metric = Metric::hamming;
  BitRule rule = BitRule::sign;  ///< for bits
  /// The type of the second copy: f16 where the data has f32. None: that of the data in stored
  /// form.
  std::optional<ElementType> second = std::nullopt;
};

/// Throws StatusError (invalid_argument) when vectors of `source_type` under the metric cannot
/// become such an index: it has no fewer bits, or the second copy has more than the data.
void check_reduction(const ReductionWish& wish, Metric metric, ElementType source_type);

class ReducedSource {
 public:
  /// `original` has rows in stored form, which are borrowed and must outlive this. Throws what
  /// check_reduction() throws, and Error for values that the type cannot have.
  ReducedSource(const Source& original, const ReductionWish& wish, unsigned threads);

  /// Returns what the index is built of. Its rows live as long as this.
  Source source() const { return {manifest_, rows_.view()}; }
  /// Says how vectors are reduced.
  const layout::SecondCopyFacts& facts() const { return facts_; }
  /// Writes the second copy into the folder of the index that was built, with this manifest. Shows
  /// progress. Throws what layout::write_second_copy() throws, and WorkInterrupted; then the index
  /// is removed.
  void write_second(const std::filesystem::path& folder, const layout::Manifest& manifest,
                    const layout::WriteOptions& options) const;

 private:
  layout::Manifest manifest_;
  layout::SecondCopyFacts facts_;
  std::optional<dataset::VectorSet> halved_;  ///< the rows of second_, where they are in f16
  VectorView second_;
  dataset::VectorSet rows_;
};

}  // namespace farvec::indexing
