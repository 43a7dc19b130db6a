#include "measure/advise/sample.h"

#include <algorithm>
#include <limits>

#include "base/check.h"
#include "base/error.h"
#include "dataset/brute_force.h"
#include "dataset/finite.h"
#include "dataset/row_selection.h"
#include "dataset/vector_file.h"
#include "dataset/view_reader.h"
#include "distance/distance.h"
#include "indexing/source.h"

namespace farvec::measure {
namespace {

dataset::GroundTruth find_truth(const VectorView& rows, const VectorView& queries,
                                const SampleOptions& options) {
  dataset::ViewReader base(rows, "the sample");
  dataset::ViewReader wanted(queries, "the queries");
  dataset::BruteForceOptions search;
  search.k = options.k;
  search.threads = options.threads;
  search.quiet = true;
  return dataset::exact_neighbors(
      base, wanted,
      {distance::pair_kernel(options.metric, rows.type, rows.dimension), nullptr, rows.type},
      search);
}

}  // namespace

dataset::VectorSet sample_file(const std::string& path, std::uint64_t amount, std::uint64_t seed,
                               Metric metric) {
  const auto reader = dataset::open_vectors(path);
  const dataset::VectorFileInfo& info = reader->info();
  const auto ids = dataset::sample_rows(info.count, std::min(amount, info.count), seed);
  dataset::VectorSet rows(ids.size(), info.dimension, info.type);
  std::size_t kept = 0;
  for (const auto& range : dataset::join_rows(ids, dataset::block_rows(info))) {
    std::byte* const out = rows.mutable_row(kept);
    reader->read_rows(range.begin, range.size(), out);
    kept += dataset::keep_finite({info, range.begin, true, metric}, range.size(), out);
  }
  if (kept == 0) {
    throw Error("'{}': every row of the sample holds NaN or infinity, or is too long", path);
  }
  rows.truncate(kept);
  return rows;
}

dataset::VectorSet sample_set(const VectorView& rows, std::uint64_t amount, std::uint64_t seed) {
  const auto ids =
      dataset::sample_rows(rows.count, std::min<std::uint64_t>(amount, rows.count), seed);
  dataset::VectorSet chosen(ids.size(), rows.dimension, rows.type);
  for (std::size_t i = 0; i < ids.size(); ++i) {
    std::memcpy(chosen.mutable_row(i), rows.row(ids[i]), rows.row_bytes());
  }
  return chosen;
}

VectorView thin_out(const VectorView& rows, std::size_t amount) {
  const std::size_t step = std::max<std::size_t>((rows.count + amount - 1) / amount, 1);
  VectorView thin = rows;
  thin.stride_bytes *= step;
  thin.count = (rows.count + step - 1) / step;
  return thin;
}

dataset::VectorSet top_up(const VectorView& first, const VectorView& more, std::size_t most) {
  FARVEC_CHECK(first.type == more.type && first.dimension == more.dimension);
  const std::size_t wanted = most - std::min(first.count, most);
  const VectorView thin = wanted > 0 ? thin_out(more, wanted) : VectorView{};
  dataset::VectorSet rows(first.count + thin.count, first.dimension, first.type);
  for (std::size_t i = 0; i < first.count; ++i) {
    std::memcpy(rows.mutable_row(i), first.row(i), first.row_bytes());
  }
  for (std::size_t i = 0; i < thin.count; ++i) {
    std::memcpy(rows.mutable_row(first.count + i), thin.row(i), first.row_bytes());
  }
  return rows;
}

Sample make_sample(dataset::VectorSet source, const VectorView& queries,
                   const SampleOptions& options) {
  layout::Manifest manifest =
      indexing::describe_source({"sample", "sample"}, source.view(), options.metric);
  dataset::VectorSet rows =
      indexing::stored_rows(std::move(source), options.metric, options.threads);
  dataset::GroundTruth truth = find_truth(rows.view(), queries, options);
  return {std::move(manifest), std::move(rows), std::move(truth)};
}

}  // namespace farvec::measure
