// What searches of several segments of clusters find, beside one index of the same vectors.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "collection/search/collection_part.h"
#include "collection/write/collection.h"
#include "collection/write/facts.h"
#include "dataset/groundtruth.h"
#include "dataset/recall.h"
#include "dataset/vector_set.h"
#include "search/core/batch_search.h"
#include "tests/unit/collection/collection_fixture.h"
#include "tests/unit/data_sets.h"
#include "tests/unit/temporary_folder.h"

namespace farvec::collection::cluster_recall {
namespace {

constexpr std::uint32_t kK = 10;

struct Found {
  double recall = 0;
  double distances = 0;  ///< a query
  double reads = 0;
};

/// The set's rows, in segments that end at these rows.
class Segments {
 public:
  Segments(const VectorView& rows, const std::vector<std::size_t>& ends) {
    layout::CollectionOptions options;
    options.kind = layout::IndexKind::cluster;
    options.clusters.cluster_bytes = 64 * rows.row_bytes();
    Collection::create(
        folder_.path() / "set",
        empty_manifest({.type = rows.type, .dimension = rows.dimension, .metric = Metric::l2},
                       options));
    CollectionAccess access = small_access();
    access.merge = false;
    collection_ = std::make_unique<Collection>(folder_.path() / "set", access);
    std::size_t begin = 0;
    for (const std::size_t end : ends) {
      std::vector<std::uint64_t> ids(end - begin);
      std::iota(ids.begin(), ids.end(), begin);
      (void)collection_->import({rows.part(begin, end - begin), ids});
      begin = end;
    }
    cores_.push_back(make_collection_core([this] { return collection_->view(); }, 3));
  }

  Collection& collection() { return *collection_; }
  /// `queries` are those of `truth` from `first` on.
  Found search(const VectorView& queries, const dataset::GroundTruth& truth, std::size_t first,
               std::uint32_t probe) {
    const search::BatchParameters batch{
        .search =
            search::SearchParameters::make(kK, search::ProbeChoice{.clusters = probe}).value(),
        .threads = search::BatchThreads::own};
    dataset::GroundTruth found;
    const search::BatchOutcome outcome = search::run_batch(cores_, queries, batch, found);
    const auto count = static_cast<double>(queries.count);
    return {dataset::recall_at_k({found.ids.data(), found.distances.data(), found.queries, found.k},
                                 truth, kK, first),
            static_cast<double>(outcome.totals.distances) / count,
            static_cast<double>(outcome.totals.reads) / count};
  }

 private:
  tests::TemporaryFolder folder_;
  std::unique_ptr<Collection> collection_;
  std::vector<std::unique_ptr<search::SearchCore>> cores_;
};

/// Half of the queries choose the number of clusters.
TEST(CollectionClusterRecall, OfSegmentsIsThatOfOneIndex) {
  const std::filesystem::path folder = tests::data_set("deep20k");
  const std::string skip = tests::no_data(folder);
  if (!skip.empty()) GTEST_SKIP() << skip;
  const dataset::VectorSet base = dataset::load((folder / "base.fbin").string());
  const dataset::VectorSet queries = dataset::load((folder / "query.fbin").string());
  const dataset::GroundTruth truth = dataset::read_groundtruth((folder / "gt100.ibin").string());
  const std::size_t n = base.count();
  const std::size_t half = queries.count() / 2;
  Segments one(base.view(), {n});
  Segments four(base.view(), {n / 2, n * 3 / 4, n * 7 / 8, n});
  for (const double wanted : {0.9, 0.95, 0.99}) {
    std::uint32_t probe = 1;
    const VectorView tuning = queries.view().part(0, half);
    while (one.search(tuning, truth, 0, probe).recall < wanted) ++probe;
    const VectorView told = queries.view().part(half, queries.count() - half);
    const Found alone = one.search(told, truth, half, probe);
    const Found parts = four.search(told, truth, half, probe);
    fmt::print(
        "probe {}: one index {:.4f}, {:.0f} distances, {:.0f} reads; four segments {:.4f}, {:.0f}, "
        "{:.0f}\n",
        probe, alone.recall, alone.distances, alone.reads, parts.recall, parts.distances,
        parts.reads);
    EXPECT_GT(parts.recall, alone.recall - 0.005) << probe;
  }
}

}  // namespace
}  // namespace farvec::collection::cluster_recall
