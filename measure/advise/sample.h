// A seeded part of a data set, with the exact neighbours of the queries in it.
#pragma once

#include <cstdint>
#include <string>

#include "base/types.h"
#include "dataset/groundtruth.h"
#include "dataset/vector_set.h"
#include "layout/index/manifest.h"

namespace farvec::measure {

/// `amount` rows of the file, each subset equally likely, in the file's order; rows with NaN or
/// infinity are left out. Throws Error.
dataset::VectorSet sample_file(const std::string& path, std::uint64_t amount, std::uint64_t seed,
                               Metric metric);

/// The same of rows in memory.
dataset::VectorSet sample_set(const VectorView& rows, std::uint64_t amount, std::uint64_t seed);

/// At most `amount` rows of the view, equally far apart; no copy.
VectorView thin_out(const VectorView& rows, std::size_t amount);

/// All of `first`, then rows of `more`, equally far apart, up to `most` together. Both of one type
/// and dimension.
dataset::VectorSet top_up(const VectorView& first, const VectorView& more, std::size_t most);

/// A data set in miniature.
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

/// `source` are rows of the file's type, `queries` of the stored type. The truth compares stored
/// forms, as searches do.
Sample make_sample(dataset::VectorSet source, const VectorView& queries,
                   const SampleOptions& options);

}  // namespace farvec::measure
