#include "ssd_baseline/paged/graph/page_source.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/unit/ssd_baseline/paged/hnsw_fixture.h"

namespace farvec::paged {
namespace {

using namespace testing;

/// Asks for the neighbours of a vertex that a search has scored.
class ScoredVertex {
 public:
  ScoredVertex(PagedHnsw& hnsw, PageFetcher& fetcher, graph::Handle handle)
      : source_(hnsw, fetcher, {}, counts_), handle_(handle) {}

  /// Returns how many neighbours it has, after which starved() is of this search.
  std::size_t expand(std::span<const std::byte> query) {
    source_.begin(query.data(), kPatient);
    EXPECT_FALSE(source_.starved(0, 10)) << "nothing was expanded yet";
    std::vector<graph::Handle> neighbors;
    EXPECT_TRUE(source_.neighbors(handle_, 0, neighbors).ok());
    return neighbors.size();
  }
  bool starved(std::size_t found) const { return source_.starved(found, 10); }
  bool is_there() {
    const auto look = [](const layout::HnswVertex&) { return Status(); };
    return source_.reader().read_one(handle_, kPatient, counts_.selection, look).ok();
  }

 private:
  HnswCounts counts_;
  PageSource source_;
  const graph::Handle handle_;
};

TEST(PageSource, KnowsThatAVacuumTookAwayWhatASearchHadScored) {
  const tests::TemporaryFolder folder;
  const HnswConfig config = small_config();
  const Rows rows(200, config);
  const auto hnsw = make_paged(store_options(folder), config, rows, 200);
  run_on_pages(hnsw->store(), [&](PageFetcher& fetcher) {
    HnswSearcher searcher(*hnsw, fetcher);
    const graph::Candidate nearest = answer(searcher, rows.row(7), 1).front();
    ASSERT_EQ(nearest.id, 7u);
    ScoredVertex vertex(*hnsw, fetcher, nearest.handle);
    EXPECT_GT(vertex.expand(rows.row(7)), 0u);
    EXPECT_FALSE(vertex.starved(1));
    HnswWriter writer(*hnsw, fetcher);
    delete_id(writer, 7);
    EXPECT_GT(vertex.expand(rows.row(7)), 0u) << "searches go on through a marked vertex";
    EXPECT_FALSE(vertex.starved(1));

    HnswVacuum vacuum(*hnsw, fetcher);
    int detached = 0;
    while (vacuum.step(kPatient).value()) {
      if (vertex.expand(rows.row(7)) > 0) continue;
      EXPECT_TRUE(vertex.starved(1));
      EXPECT_FALSE(vertex.starved(5)) << "half of what was wanted is enough";
      detached += vertex.is_there() ? 1 : 0;
    }
    EXPECT_GT(detached, 0) << "its lists are emptied before it is erased";
    EXPECT_FALSE(vertex.is_there());
    EXPECT_EQ(vertex.expand(rows.row(7)), 0u);
    EXPECT_TRUE(vertex.starved(1));
  });
}

}  // namespace
}  // namespace farvec::paged
