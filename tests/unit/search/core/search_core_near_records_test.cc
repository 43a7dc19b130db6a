// Searches by cores of graphs that compare rows one by one, where records near each other share a
// read.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "disk/disk_engine.h"
#include "search/core/search_core.h"
#include "tests/unit/search/graph_fixture.h"
#include "tests/unit/search/integer_graph.h"
#include "tests/unit/search/scripted_endpoint.h"
#include "tests/unit/temporary_folder.h"
#include "transport/disk/disk_endpoint.h"

namespace farvec::search {
namespace {

constexpr std::size_t kNearQueries = 12;
constexpr std::uint32_t kAnyLength = 1u << 30;
constexpr std::uint32_t kShortRead = 1024;

class NearRecords : public testing::TestWithParam<LayoutKind> {
 protected:
  void SetUp() override {
    std::ofstream(file_, std::ios::binary)
        .write(reinterpret_cast<const char*>(small_.region().data()),
               static_cast<std::streamsize>(small_.region().size()));
    // So that no search has to learn where rows are.
    AmongFeed first(small_, 1, kSome);
    run(first, 0);
  }

  static SearchCoreOptions options(std::uint32_t gap, std::uint32_t slots = 3) {
    SearchCoreOptions options = graph_core_options(slots);
    options.merge_gap_bytes = gap;
    return options;
  }
  /// From this process's memory, where bytes are read in place, or with short reads from a disk.
  void run(AmongFeed& feed, std::uint32_t gap, std::uint32_t most = kAnyLength) const {
    auto endpoint = small_.endpoint();
    if (most < kAnyLength) {
      endpoint = std::make_unique<transport::DiskEndpoint>(
          disk::open_disk({std::make_shared<const disk::DiskFile>(file_)}, 50),
          transport::DiskEndpointOptions{most, most});
    }
    make_core(small_.index(), std::move(endpoint), options(gap))->run(feed);
  }

  /// The reads of these rows, so many of which are read at once, where records that touch each
  /// other share a read of at most `most` bytes.
  std::uint64_t touching_reads(const std::vector<NodeId>& rows, std::uint64_t most) const {
    std::uint64_t reads = 0;
    for (std::size_t begin = 0; begin < rows.size(); begin += graph::kMaxWidth) {
      std::vector<NodeId> vertices;
      for (std::size_t i = begin; i < std::min(begin + graph::kMaxWidth, rows.size()); ++i) {
        vertices.push_back(small_.vertex_of(rows[i]));
      }
      std::sort(vertices.begin(), vertices.end());
      std::uint64_t end = 0;
      std::uint64_t bytes = 0;
      for (const NodeId v : vertices) {
        const layout::Extent extent = small_.graph().locator().locate(v);
        const bool joins = end == extent.offset && bytes + extent.bytes <= most;
        reads += joins ? 0 : 1;
        bytes = joins ? bytes + extent.bytes : extent.bytes;
        end = extent.offset + extent.bytes;
      }
    }
    return reads;
  }

  const std::vector<NodeId> kSome = rows_of(200);
  const IntegerGraph small_{Metric::l2, GetParam()};
  const tests::TemporaryFolder folder_;
  const std::string file_ = folder_.file("records");
};

INSTANTIATE_TEST_SUITE_P(Layouts, NearRecords,
                         testing::Values(LayoutKind::csr, LayoutKind::padded, LayoutKind::inlined,
                                         LayoutKind::packed),
                         [](const auto& kind) {
                           return std::string(layout::to_string(kind.param));
                         });

TEST_P(NearRecords, ShareReads) {
  for (const std::size_t size : {0u, 1u, 2u, 40u, 41u, 64u, 65u, 450u, 900u}) {
    const std::vector<NodeId> only = rows_of(size);
    for (const std::uint32_t most : {kAnyLength, kShortRead}) {
      for (const std::uint32_t gap : {0u, 300u, 1u << 20}) {
        AmongFeed feed(small_, kNearQueries, only);
        run(feed, gap, most);
        for (std::size_t q = 0; q < kNearQueries; ++q) {
          const std::vector<NodeId> read = small_.read(q, only);
          expect_nearest(feed.tasks()[q], small_.nearest(q, read));
          const QueryCounts& counts = feed.tasks()[q].answer.counts;
          EXPECT_EQ(counts.distances, read.size());
          EXPECT_GE(counts.bytes, small_.bytes(read));
          EXPECT_LE(counts.reads, touching_reads(read, most)) << size;
          if (gap > 0) continue;
          EXPECT_EQ(counts.reads, touching_reads(read, most)) << size;
          EXPECT_EQ(counts.bytes, small_.bytes(read));
        }
      }
    }
  }
}

/// A round has room for what is between some of them.
TEST_P(NearRecords, ShareReadsWithWhatIsBetween) {
  AmongFeed feed(small_, kNearQueries, kSome);
  run(feed, 1u << 20);
  for (std::size_t q = 0; q < kNearQueries; ++q) {
    const std::vector<NodeId> read = small_.read(q, kSome);
    expect_nearest(feed.tasks()[q], small_.nearest(q, read));
    EXPECT_LT(feed.tasks()[q].answer.counts.reads, touching_reads(read, kAnyLength));
    EXPECT_GT(feed.tasks()[q].answer.counts.bytes, small_.bytes(read));
  }
}

TEST_P(NearRecords, OfAllRowsAreOneReadForEachRound) {
  AmongFeed feed(small_, kNearQueries, {});
  for (auto& task : feed.tasks()) task.request.exact = true;
  feed.tasks()[0].request.count_lines = true;
  run(feed, 4096);
  for (std::size_t q = 0; q < kNearQueries; ++q) {
    const QueryCounts& counts = feed.tasks()[q].answer.counts;
    expect_nearest(feed.tasks()[q], small_.nearest(q, rows_of(kRowCount)));
    EXPECT_EQ(counts.distances, kRowCount);
    EXPECT_EQ(counts.reads, (kRowCount + graph::kMaxWidth - 1) / graph::kMaxWidth);
    EXPECT_EQ(counts.lines.records > 0, q == 0);
  }
}

/// Walks read each record alone, also in a slot whose last search was a scan.
TEST_P(NearRecords, OfAWalkHaveReadsOfTheirOwn) {
  AmongFeed alone(small_, kNearQueries, {});
  make_core(small_.index(), small_.endpoint(), graph_core_options(1))->run(alone);
  AmongFeed mixed(small_, 2 * kNearQueries, kSome);
  for (std::size_t q = 0; q < kNearQueries; ++q) {
    mixed.tasks()[2 * q + 1].request = alone.tasks()[q].request;
  }
  for (const std::uint32_t most : {kAnyLength, kShortRead}) {
    run(mixed, 1u << 20, most);
    for (std::size_t q = 0; q < kNearQueries; ++q) {
      const auto& task = mixed.tasks()[2 * q + 1];
      expect_same_search(task, alone.tasks()[q]);
      EXPECT_EQ(task.answer.counts.reads, alone.tasks()[q].answer.counts.reads);
      EXPECT_EQ(task.answer.counts.bytes, alone.tasks()[q].answer.counts.bytes);
    }
  }
}

TEST_P(NearRecords, InACacheAreNotRead) {
  SearchCoreOptions with_cache = options(4096, 2);
  with_cache.cache_bytes = 48 << 10;
  const auto core = make_core(small_.index(), small_.endpoint(), with_cache);
  std::uint64_t hits = 0;
  for (int turn = 0; turn < 2; ++turn) {
    AmongFeed feed(small_, kNearQueries, kSome);
    core->run(feed);
    for (std::size_t q = 0; q < kNearQueries; ++q) {
      const std::vector<NodeId> read = small_.read(q, kSome);
      expect_nearest(feed.tasks()[q], small_.nearest(q, read));
      EXPECT_LE(feed.tasks()[q].answer.counts.reads + feed.tasks()[q].answer.counts.cache_hits,
                read.size());
      hits += feed.tasks()[q].answer.counts.cache_hits;
    }
  }
  EXPECT_GT(hits, 0u);
}

TEST_P(NearRecords, AreLostTogether) {
  Script script;
  script.absent = [](std::size_t post) { return post % 3 == 1; };
  AmongFeed feed(small_, 30, kSome);
  for (auto& task : feed.tasks()) task.request.partial = true;
  make_core(small_.index(), std::make_unique<ScriptedEndpoint>(small_.endpoint(8), script),
            options(200, 1))
      ->run(feed);
  std::uint64_t lost = 0;
  for (std::size_t q = 0; q < 30; ++q) {
    const auto& task = feed.tasks()[q];
    lost += task.answer.counts.lost;
    if (!task.answer.status.ok()) continue;
    const std::vector<NodeId> found(task.id_room, task.id_room + task.answer.found);
    expect_nearest(task, small_.nearest(q, found));
    EXPECT_EQ(task.answer.counts.lost > 0,
              task.answer.counts.distances < small_.read(q, kSome).size());
  }
  EXPECT_GT(lost, 0u);
}

}  // namespace
}  // namespace farvec::search
