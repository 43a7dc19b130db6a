// Takes a seeded part of a data set, with the exact neighbours of the queries in it.
#pragma once

#include <cstdint>
#include <string>

#include "base/types.h"
#include "dataset/groundtruth.h"
#include "dataset/vector_set.h"
#include "layout/index/manifest.h"

namespace farvec::measure {

/// Returns `amount` rows of the file in the file's order; each subset is equally likely. Rows with
/// NaN or infinity are left out. Throws Error.
dataset::VectorSet sample_file(const std::string& path, std::uint64_t amount, std::uint64_t seed,
                               Metric metric);

/// Returns `amount` rows of those in memory, chosen in the same way.
dataset::VectorSet sample_set(const VectorView& rows, std::uint64_t amount, std::uint64_t seed);

/// Returns at most `amount` rows of the view, equally far apart, without a copy.
VectorView thin_out(const VectorView& rows, std::size_t amount);

/// Returns all of `first`, then rows of `more`, equally far apart, up to `most` together. Both have
/// the same type and dimension.
dataset::VectorSet top_up(const VectorView& first, const VectorView& more, std::size_t most);

/// Is a data set in miniature.
struct Sample {
  layout::Manifest manifest;  ///< says all that does not depend on the index
  dataset::VectorSet rows;    ///< stored type
  dataset::GroundTruth truth;
};

struct SampleOptions {
  Metric metric = Metric::l2;
  std::uint32_t k = 10;
  unsigned threads = 0;
};

/// Makes a sample. `source` has rows of the file's type, `queries` are of the stored type. The
/// truth compares stored forms, as searches do.
Sample make_sample(dataset::VectorSet source, const VectorView& queries,
                   const SampleOptions& options);

}  // namespace farvec::measure
