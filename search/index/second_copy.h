// A SecondCopy is what a compute node keeps of the second copy of an index's vectors: what it is,
// and where its rows are. The rows stay on the tier.
#pragma once

#include <cstddef>
#include <memory>

#include "base/types.h"
#include "distance/distance.h"
#include "layout/index/second_copy.h"
#include "quantization/reduction.h"

namespace farvec::search {

/// It is immutable and shared by all cores. A search reduces its query, asks the index for
/// candidates, and ranks these by the rows of the second copy.
class SecondCopy {
 public:
  /// The rows are those of the index's folder.
  SecondCopy(std::shared_ptr<const layout::SecondCopyFile> file, const layout::Manifest& manifest);
  /// The rows are elsewhere: memory nodes have them.
  SecondCopy(layout::SecondCopyForm form, const layout::Manifest& manifest);

  /// Returns the file of the index's folder. Throws Error where the rows are on memory nodes.
  const layout::SecondCopyFile& file() const;
  const layout::SecondCopyForm& form() const { return form_; }
  const layout::SecondCopyGeometry& geometry() const { return form_.geometry(); }
  /// Returns the metric of results.
  Metric metric() const { return form_.facts().metric; }
  /// Returns the type of queries, and that of rows. A query is compared in the rows' type.
  ElementType source_type() const { return form_.facts().source_type; }
  ElementType type() const { return form_.facts().type; }
  std::uint32_t dimension() const { return dimension_; }
  /// Says whether distances to the rows are those to the data set's vectors.
  bool is_exact() const;

  const quantization::Reduction& reduction() const { return reduction_; }
  /// Returns the distance of a query in the rows' type to a row, both packed.
  float distance(const std::byte* query, const std::byte* row) const {
    return kernel_(query, row, dimension_);
  }
  std::size_t dram_bytes() const { return form_.facts().parameters.size() * sizeof(float); }

 private:
  const std::shared_ptr<const layout::SecondCopyFile> file_;
  const layout::SecondCopyForm form_;
  const std::uint32_t dimension_;
  const quantization::Reduction reduction_;
  const distance::PairKernel kernel_;
};

}  // namespace farvec::search
