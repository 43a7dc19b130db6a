// A ReducedSource makes the vectors of an index smaller than those of its data: bits, half floats
// or integers. Searches then rank their candidates again by a second copy.
#pragma once

#include <filesystem>
#include <optional>
#include <string_view>

#include "base/types.h"
#include "dataset/vector_set.h"
#include "indexing/source.h"
#include "layout/index/index_writer.h"
#include "layout/index/reduction_wish.h"
#include "layout/index/second_copy.h"
#include "quantization/reduction.h"

namespace farvec::indexing {

using layout::check_reduction;
using layout::ReductionWish;

class ReducedSource {
 public:
  /// `original` has rows in stored form, or in the type of the second copy. They are borrowed and
  /// must outlive this. Throws what check_reduction() throws, and Error for values that the type
  /// cannot have, where rows may not be any.
  ReducedSource(const Source& original, const ReductionWish& wish, unsigned threads,
                quantization::RoundedRows which = quantization::RoundedRows::apart);

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
