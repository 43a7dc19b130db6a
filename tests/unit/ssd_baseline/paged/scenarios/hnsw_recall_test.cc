// Recall on real vectors: as a graph in memory has it, built at once and inserted on pages.
#include <gtest/gtest.h>

#include "dataset/vector_set.h"
#include "tests/unit/data_sets.h"
#include "tests/unit/ssd_baseline/paged/hnsw_fixture.h"

namespace farvec::paged {
namespace {

using namespace testing;

constexpr std::size_t kReal = 6'000;
constexpr std::size_t kAsked = 100;

Rows real_rows(const std::filesystem::path& path, std::size_t count, const HnswConfig& config) {
  const auto set = dataset::load(path.string(), {.max_rows = count});
  Rows rows(0, config);
  rows.bytes.assign(set.view().data, set.view().data + count * rows.row_bytes());
  return rows;
}

TEST(HnswRecall, OfRealVectorsIsThatOfTheGraphInMemory) {
  const auto data = tests::data_set("deep20k");
  if (const auto why = tests::no_data(data / "base.fbin"); !why.empty()) GTEST_SKIP() << why;
  HnswConfig config = small_config(96, 16);
  config.ef_construction = 100;
  const Rows rows = real_rows(data / "base.fbin", kReal, config);
  const Rows queries = real_rows(data / "query.fbin", kAsked, config);
  const auto all = [](NodeId) { return true; };
  const auto even = [](NodeId id) { return id % 2 == 0; };
  const tests::TemporaryFolder folder;
  const tests::TemporaryFolder other;
  const auto built = make_paged(store_options(folder, 64u << 20), config, rows, kReal);
  const double built_40 = recall_of(*built, rows, queries, 40, all);
  const double built_100 = recall_of(*built, rows, queries, 100, all);
  RecordProperty("built_40", std::to_string(built_40));
  RecordProperty("built_100", std::to_string(built_100));
  EXPECT_GT(built_40, 0.96);
  EXPECT_GT(built_100, 0.99);
  const auto half = make_paged(store_options(other, 64u << 20), config, rows, kReal / 2);
  run_on_pages(half->store(), [&](PageFetcher& fetcher) {
    HnswWriter writer(*half, fetcher);
    for (NodeId id = kReal / 2; id < kReal; ++id) insert_row(writer, rows, id);
    RecordProperty("retries", std::to_string(writer.written().retries));
  });
  expect_sound(*half, kReal);
  const double half_40 = recall_of(*half, rows, queries, 40, all);
  RecordProperty("half_40", std::to_string(half_40));
  EXPECT_GE(half_40, built_40 - 0.02);
  run_on_pages(half->store(), [&](PageFetcher& fetcher) {
    HnswWriter writer(*half, fetcher);
    for (NodeId id = 1; id < kReal; id += 2) delete_id(writer, id);
    const HnswVacuumCounts done = run_vacuum(*half, fetcher);
    EXPECT_EQ(done.removed, kReal / 2);
    RecordProperty("repaired", std::to_string(done.repaired));
  });
  expect_sound(*half, kReal / 2);
  const double vacuumed_40 = recall_of(*half, rows, queries, 40, even);
  RecordProperty("vacuumed_40", std::to_string(vacuumed_40));
  EXPECT_GE(vacuumed_40, built_40 - 0.02);
}

}  // namespace
}  // namespace farvec::paged
