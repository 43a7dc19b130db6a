#include "ssd_baseline/paged/placement/partition_placement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "base/error.h"
#include "base/random.h"
#include "ssd_baseline/paged/change/hnsw_writer.h"
#include "ssd_baseline/paged/graph/check.h"
#include "ssd_baseline/paged/placement/partition_map.h"
#include "tests/unit/message_of.h"
#include "tests/unit/ssd_baseline/paged/colocated_graph.h"

namespace farvec::paged {
namespace {

using namespace colocated;
using ::testing::HasSubstr;
using tests::message_of;

/// Remembers what the policy under test was asked last, and what the insert made of its answer.
class Recorder final : public PlacementPolicy {
 public:
  explicit Recorder(PlacementPolicy& policy) : policy_(policy) {}

  Result<Placement> choose(const PlacementRequest& request) override {
    tags.assign(request.partitions.begin(), request.partitions.end());
    return policy_.choose(request);
  }
  Status note(const Placement& placement, PlacementEdit& edit) override {
    page = edit.vertex_number;
    new_page = edit.new_page;
    return policy_.note(placement, edit);
  }

  std::vector<std::uint32_t> tags;
  PageNumber page = layout::kNoPage;
  bool new_page = false;

 private:
  PlacementPolicy& policy_;
};

/// Algorithm 2, lines 3 to 19, as it stands, but for partitions without a neighbour.
std::optional<std::uint32_t> naive_partition(const std::vector<std::uint32_t>& tags,
                                             const std::vector<PageNumber>& insert_pages) {
  std::optional<std::uint32_t> best;
  long most = 0;
  for (std::uint32_t p = 0; p < insert_pages.size(); ++p) {
    const auto count = std::count(tags.begin(), tags.end(), p + 1);
    if (insert_pages[p] == layout::kNoPage || count <= most) continue;
    best = p;
    most = count;
  }
  return best;
}

/// Inserts rows and compares every one with the naive algorithm. Answers with what was counted.
PartitionPlacementCounts insert_and_compare(Colocated& graph, const std::vector<float>& rows,
                                            NodeId first_id) {
  PartitionPlacementCounts counts;
  run_on_pages(graph.hnsw().store(), [&](PageFetcher& fetcher) {
    PartitionPlacement policy(graph.hnsw(), fetcher);
    Recorder recorder(policy);
    HnswWriter writer(graph.hnsw(), fetcher, {{}, &recorder});
    const VectorView view = view_of(rows);
    for (std::size_t i = 0; i < view.count; ++i) {
      const auto id = static_cast<NodeId>(first_id + i);
      const auto before = graph.insert_pages(fetcher);
      std::vector<bool> had_room;
      const std::uint32_t level = graph::level_of(graph.hnsw().levels(), id);
      for (const PageNumber page : before) {
        had_room.push_back(page != layout::kNoPage && graph.has_room(fetcher, page, level));
      }
      ASSERT_TRUE(writer.insert(id, {view.row(i), view.row_bytes()}, kForever).ok());
      const auto after = graph.insert_pages(fetcher);
      const auto expected = naive_partition(recorder.tags, before);
      for (std::uint32_t p = 0; p < before.size(); ++p) {
        if (p == expected) continue;
        ASSERT_EQ(after[p], before[p]);
      }
      if (!expected) continue;
      ASSERT_EQ(graph.tag(fetcher, recorder.page), *expected + 1);
      ASSERT_EQ(recorder.page, after[*expected]);
      ASSERT_EQ(recorder.new_page, !had_room[*expected]);
      ASSERT_EQ(after[*expected] == before[*expected], had_room[*expected]);
    }
    counts = policy.counts();
  });
  return counts;
}

TEST(PartitionPlacement, DoesAsTheNaiveAlgorithm) {
  for (const double share : {0.0, 0.3, 1.0}) {
    Colocated graph(600, share);
    const std::uint32_t before = graph.vertex_pages();
    const auto counts = insert_and_compare(graph, cloud(200, 2), 600);
    EXPECT_EQ(counts.placed + counts.fallback, 200u);
    EXPECT_GE(graph.vertex_pages(), before + counts.extended);
    if (share == 0) {
      EXPECT_EQ(counts.placed, 0u);
    }
    if (share == 1) {
      EXPECT_EQ(counts.fallback, 0u);
      EXPECT_EQ(graph.vertex_pages(), before + counts.extended);
    }
    const HnswCheckReport report = check_hnsw(graph.hnsw());
    EXPECT_TRUE(report.ok()) << (report.problems.empty() ? "" : report.problems.front());
    EXPECT_EQ(report.vertices, 800u);
  }
}

TEST(PartitionPlacement, ExtendsAPartitionAgainAndAgain) {
  Colocated graph(300, 1);
  std::vector<float> rows;
  Random random(3);
  const std::vector<float> near = cloud(1, 1);
  for (std::size_t i = 0; i < 80; ++i) {
    for (const float value : near) {
      rows.push_back(value + static_cast<float>(0.01 * random.normal()));
    }
  }
  const auto counts = insert_and_compare(graph, rows, 300);
  EXPECT_EQ(counts.placed, 80u);
  EXPECT_GE(counts.extended, 80u / 11 - 1);  // eleven to a page, the first of which had room
  run_on_pages(graph.hnsw().store(), [&](PageFetcher& fetcher) {
    const auto insert_pages = graph.insert_pages(fetcher);
    std::map<std::uint32_t, std::uint32_t> pages;
    for (PageNumber page = 1; page < graph.hnsw().store().pages(); ++page) {
      ++pages[graph.tag(fetcher, page)];
    }
    const std::uint32_t most = std::max_element(pages.begin(), pages.end(), [](auto& a, auto& b) {
                                 return a.second < b.second;
                               })->first;
    ASSERT_GT(most, 0u);
    EXPECT_GE(pages[most], 5u);
    EXPECT_EQ(graph.tag(fetcher, insert_pages[most - 1]), most);
  });
}

TEST(PartitionPlacement, GoesOnAfterOpening) {
  Colocated graph(300, 0.5);
  insert_and_compare(graph, cloud(60, 5), 300);
  std::vector<PageNumber> before, after;
  run_on_pages(graph.hnsw().store(),
               [&](PageFetcher& fetcher) { before = graph.insert_pages(fetcher); });
  graph.open_again();
  run_on_pages(graph.hnsw().store(),
               [&](PageFetcher& fetcher) { after = graph.insert_pages(fetcher); });
  EXPECT_EQ(after, before);
  insert_and_compare(graph, cloud(60, 6), 360);
  EXPECT_TRUE(check_hnsw(graph.hnsw()).ok());
}

TEST(PartitionMap, BeginsWithTheLastPagesOfChosenPartitions) {
  Colocated graph(400, 0.4);
  run_on_pages(graph.hnsw().store(), [&](PageFetcher& fetcher) {
    const auto insert_pages = graph.insert_pages(fetcher);
    std::map<std::uint32_t, PageNumber> last;
    for (PageNumber page = 1; page < graph.hnsw().store().pages(); ++page) {
      if (graph.tag(fetcher, page) > 0) last[graph.tag(fetcher, page) - 1] = page;
    }
    ASSERT_EQ(insert_pages.size(), graph.chosen().size());
    for (std::uint32_t p = 0; p < insert_pages.size(); ++p) {
      EXPECT_EQ(insert_pages[p], graph.chosen()[p] ? last[p] : layout::kNoPage) << p;
    }
  });
}

TEST(PartitionMap, IsMadeOnceAndOfAllPartitions) {
  Colocated graph(200, 1);
  EXPECT_THAT(message_of([&] { create_partition_map(graph.hnsw(), graph.chosen()); }),
              HasSubstr("has a map"));
  run_on_pages(graph.hnsw().store(), [&](PageFetcher& fetcher) {
    PartitionMap map(graph.hnsw(), fetcher);
    FetchCounts counts;
    const auto size = static_cast<std::uint32_t>(graph.chosen().size());
    const auto found = map.find(size, kForever, counts);
    EXPECT_EQ(found.status().code(), StatusCode::data_loss);
  });
}

TEST(PartitionPlacement, GivesAPartitionAPageWhenEnoughWishForIt) {
  Colocated graph(600, 0, kAnyShare);
  const std::uint32_t pages = graph.vertex_pages();
  run_on_pages(graph.hnsw().store(), [&](PageFetcher& fetcher) {
    const std::uint32_t enough = wishes_for_a_page(graph.hnsw().shape());
    ASSERT_EQ(enough, 6u);
    Stream stream(graph, fetcher);
    for (std::uint32_t wishes = 1; wishes < enough; ++wishes) {
      stream.insert(7, 1);
      EXPECT_EQ(graph.entry(fetcher, 7), (layout::PartitionEntry{.wished = std::uint16_t(wishes)}));
    }
    EXPECT_EQ(stream.counts().fallback, enough - 1);
    EXPECT_EQ(graph.state(fetcher).insert_pages, 0u);
    stream.insert(7, 1);
    const PageNumber page = graph.entry(fetcher, 7).insert_page;
    EXPECT_EQ(graph.entry(fetcher, 7), (layout::PartitionEntry{page, 1, 0}));
    EXPECT_EQ(graph.tag(fetcher, page), 7u + 1);
    EXPECT_EQ(graph.state(fetcher).insert_pages, 1u);
    EXPECT_EQ(stream.counts().given, 1u);
    EXPECT_EQ(stream.counts().wished, enough - 1);
    stream.insert(7, 20);
    EXPECT_EQ(stream.counts().placed, 21u);
    EXPECT_EQ(stream.counts().extended, 1u);  // eleven or twelve to a page
    EXPECT_EQ(graph.entry(fetcher, 7).received, 21u);
    EXPECT_NE(graph.entry(fetcher, 7).insert_page, page);
    EXPECT_EQ(graph.state(fetcher).insert_pages, 1u);
  });
  EXPECT_GE(graph.vertex_pages(), pages + 2);
  EXPECT_TRUE(check_hnsw(graph.hnsw()).ok());
  EXPECT_EQ(check_hnsw(graph.hnsw()).insert_pages, 1u);
}

TEST(PartitionPlacement, CountsAWishForTheBestPartitionWhereverTheVertexGoes) {
  Colocated graph(600, 0, kAnyShare);
  run_on_pages(graph.hnsw().store(), [&](PageFetcher& fetcher) {
    const auto enough = static_cast<int>(wishes_for_a_page(graph.hnsw().shape()));
    Stream stream(graph, fetcher);
    stream.insert(3, enough);
    const PageNumber page = graph.entry(fetcher, 3).insert_page;
    // Two neighbours are in partition 9, one is in partition 3.
    Steered policy(graph.hnsw(), fetcher);
    policy.tags = {4, 10, 10};
    HnswWriter writer(graph.hnsw(), fetcher, {{}, &policy});
    const std::vector<float> row = cloud(1, 1);
    ASSERT_TRUE(writer.insert(90'000, std::as_bytes(std::span(row)), kForever).ok());
    EXPECT_EQ(graph.entry(fetcher, 9), (layout::PartitionEntry{.wished = 1}));
    EXPECT_EQ(graph.entry(fetcher, 3), (layout::PartitionEntry{page, 2, 0}));
    EXPECT_EQ(policy.counts().placed, 1u);
    EXPECT_EQ(policy.counts().wished, 1u);
    EXPECT_EQ(policy.counts().fallback, 0u);
  });
}

TEST(PartitionPlacement, GivesNoMorePagesThanTheBoundAllows) {
  constexpr std::uint32_t kTenth = 100'000;
  Colocated graph(600, 0, kTenth);
  run_on_pages(graph.hnsw().store(), [&](PageFetcher& fetcher) {
    const auto enough = static_cast<int>(wishes_for_a_page(graph.hnsw().shape()));
    const auto partitions = static_cast<std::uint32_t>(graph.chosen().size());
    ASSERT_GE(partitions, 20u);
    Stream stream(graph, fetcher);
    for (std::uint32_t p = 0; p < partitions; ++p) {
      stream.insert(p, enough + 2);
      layout::HnswState state = graph.state(fetcher);
      const std::uint32_t pages = state.pages_of(layout::HnswPageKind::vertices);
      ASSERT_LE(state.insert_pages, pages / 10);
      // One that has wished in vain gets a page at its next wish when there is one more.
      ASSERT_GE(state.insert_pages + 1, std::min(p + 1, pages / 10));
    }
    EXPECT_LT(stream.counts().given, partitions / 2);
    EXPECT_GT(stream.counts().given, 4u);
    EXPECT_EQ(stream.counts().given, graph.state(fetcher).insert_pages);
  });
  EXPECT_TRUE(check_hnsw(graph.hnsw()).ok());
}

TEST(PartitionPlacement, CountsExactlyWhatThreadsInsert) {
  constexpr int kEach = 300;
  Colocated graph(600, 0.5, kAnyShare);
  const auto partitions = static_cast<std::uint32_t>(graph.chosen().size());
  const auto from_the_beginning =
      static_cast<std::uint64_t>(std::ranges::count(graph.chosen(), true));
  std::atomic<std::uint64_t> placed = 0, given = 0, wished = 0, fallback = 0;
  const auto insert = [&](NodeId first) {
    run_on_pages(graph.hnsw().store(), [&](PageFetcher& fetcher) {
      Stream stream(graph, fetcher, first);
      Random random(first);
      for (int i = 0; i < kEach; ++i) {
        stream.insert(static_cast<std::uint32_t>(random.below(partitions)), 1);
      }
      placed += stream.counts().placed;
      given += stream.counts().given;
      wished += stream.counts().wished;
      fallback += stream.counts().fallback;
    });
  };
  std::thread other(insert, 200'000);
  insert(100'000);
  other.join();
  EXPECT_EQ(placed + fallback, 2u * kEach);
  EXPECT_EQ(wished, fallback);  // each row belongs to one partition
  EXPECT_GT(given, 0u);
  std::uint64_t received = 0, still_wished = 0;
  run_on_pages(graph.hnsw().store(), [&](PageFetcher& fetcher) {
    EXPECT_EQ(graph.state(fetcher).insert_pages, from_the_beginning + given);
    for (std::uint32_t p = 0; p < partitions; ++p) {
      const layout::PartitionEntry entry = graph.entry(fetcher, p);
      received += entry.received;
      still_wished += entry.wished;
      EXPECT_TRUE(entry.insert_page == layout::kNoPage || entry.wished == 0) << p;
    }
    // A page that is given takes back the wishes for it: five, or one more of the other thread's.
    const std::uint64_t enough = wishes_for_a_page(graph.hnsw().shape());
    EXPECT_GE(wished, still_wished + given * (enough - 1));
    EXPECT_LE(wished, still_wished + given * enough);
  });
  EXPECT_EQ(received, placed);
  EXPECT_TRUE(check_hnsw(graph.hnsw()).ok());
}

/// Makes the graph what an earlier version has left: entries of four bytes.
void make_version_1(Colocated& graph, const std::vector<PageNumber>& insert_pages) {
  const layout::PartitionMapShape old{graph.hnsw().shape().page_bytes, 4};
  run_on_pages(graph.hnsw().store(), [&](PageFetcher& fetcher) {
    FetchCounts counts;
    auto meta = fetcher.fetch(0, kForever, counts);
    auto map = fetcher.fetch(graph.state(fetcher).partitions, kForever, counts);
    PagePin* const pins[] = {&meta.value(), &map.value()};
    const auto done = graph.hnsw().store().update(pins, [&](PageEditor& editor) -> Status {
      layout::HnswMeta changed = layout::read_hnsw_meta(editor.bytes(0)).value();
      changed.parameters.version = 1;
      changed.parameters.most_insert_pages = 0;
      changed.state.insert_pages = 0;
      Status status = editor.put(0, 0, std::as_bytes(std::span(&changed, 1)));
      if (status.ok()) {
        status = editor.put(1, 0, layout::encode_partition_tuple(old, insert_pages, 0));
      }
      return status;
    });
    ASSERT_TRUE(done.ok()) << done.status().message();
  });
  graph.open_again();
}

TEST(PartitionPlacement, OfAGraphOfVersion1IsAsItWas) {
  Colocated graph(400, 0.4, 0);
  std::vector<PageNumber> before;
  run_on_pages(graph.hnsw().store(),
               [&](PageFetcher& fetcher) { before = graph.insert_pages(fetcher); });
  make_version_1(graph, before);
  EXPECT_EQ(graph.hnsw().describe().format_version, 1u);
  run_on_pages(graph.hnsw().store(),
               [&](PageFetcher& fetcher) { EXPECT_EQ(graph.insert_pages(fetcher), before); });
  const auto counts = insert_and_compare(graph, cloud(200, 2), 400);
  EXPECT_GT(counts.placed, 0u);
  EXPECT_GT(counts.extended, 0u);
  EXPECT_EQ(counts.wished + counts.given, 0u);
  EXPECT_TRUE(check_hnsw(graph.hnsw()).ok());
}

TEST(PartitionMap, ThatNamesAnotherKindOfPageIsNotBelieved) {
  Colocated graph(400, 1, kAnyShare);
  const PageNumber pages = graph.hnsw().store().pages();
  const std::vector<float> row = cloud(1, 1);
  run_on_pages(graph.hnsw().store(), [&](PageFetcher& fetcher) {
    Steered policy(graph.hnsw(), fetcher);
    policy.tags = {5};
    HnswWriter writer(graph.hnsw(), fetcher, {{}, &policy});
    const PageNumber was = graph.entry(fetcher, 4).insert_page;
    for (const PageNumber page : {PageNumber{0}, graph.state(fetcher).partitions, pages + 100}) {
      graph.damage_map(fetcher, 4, page);
      const auto done = writer.insert(90'000, std::as_bytes(std::span(row)), kForever);
      EXPECT_EQ(done.status().code(), StatusCode::data_loss) << page;
      EXPECT_THAT(done.status().message(), HasSubstr("the map of partitions names a page"));
    }
    graph.damage_map(fetcher, 4, was);
    EXPECT_TRUE(writer.insert(90'000, std::as_bytes(std::span(row)), kForever).ok());
  });
  EXPECT_TRUE(check_hnsw(graph.hnsw()).ok());
  run_on_pages(graph.hnsw().store(),
               [&](PageFetcher& fetcher) { graph.damage_map(fetcher, 4, pages + 100); });
  EXPECT_FALSE(check_hnsw(graph.hnsw()).ok());
}

}  // namespace
}  // namespace farvec::paged
