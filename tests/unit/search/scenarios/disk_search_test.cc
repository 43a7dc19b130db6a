#include <gtest/gtest.h>

#include "base/error.h"
#include "search/disk/disk_memory.h"
#include "search/disk/disk_records.h"
#include "tests/unit/search/cluster_fixture.h"

namespace farvec::search {
namespace {

class DiskSearch : public testing::TestWithParam<ClusterLayoutKind> {
 protected:
  static const SearchIndex& index() { return small_clusters().index(GetParam()); }
  std::filesystem::path path() const { return folder_.path() / "records"; }
  std::unique_ptr<SearchCore> core(const SearchCoreOptions& options) const {
    return make_core(index(),
                     make_disk_endpoint(records_, disk_reads(index()), {disk::DiskThread::owner}),
                     options);
  }
  std::string error_with_budget(std::size_t budget) const {
    SearchShape shape;
    shape.disk.memory_budget = budget;
    try {
      (void)plan_disk_memory(index(), *records_, shape);
    } catch (const Error& error) {
      return error.what();
    }
    return {};
  }
  void SetUp() override {
    const auto directory = layout::IndexDirectory::open(small_clusters().path(GetParam()));
    std::filesystem::copy(directory.region_path(layout::kRecordsRegion), path());
    records_ = open_disk_records(directory, path().string());
  }

  tests::TemporaryFolder folder_;
  std::shared_ptr<const disk::DiskFile> records_;
};

TEST_P(DiskSearch, FindsTheNearestMembersInAsMuchMemoryAsPlanned) {
  const SearchShape searches{.slots = 4, .probe = 6};
  const std::size_t planned = plan_disk_memory(index(), *records_, searches).total();
  for (const bool dedup : {true, false}) {
    for (const std::optional<std::uint32_t> gap :
         {std::optional<std::uint32_t>{}, {0u}, {1u << 30}}) {
      const auto one = core(with_slots(searches.slots, gap));
      Feed feed(small_clusters(), 40, {.clusters = searches.probe, .dedup = dedup});
      one->run(feed);
      std::uint64_t reads = 0;
      std::uint64_t bytes = 0;
      for (const auto& task : feed.tasks()) {
        expect_answer(task, nearest_members(small_clusters(), task));
        reads += task.answer.counts.reads;
        bytes += task.answer.counts.bytes;
      }
      const CoreStatistics statistics = one->statistics();
      EXPECT_EQ(statistics.device_reads, reads);
      EXPECT_EQ(statistics.device_bytes % records_->block_bytes(), 0u);
      EXPECT_GE(statistics.device_bytes, bytes);
      EXPECT_LT(statistics.device_bytes, bytes + 2 * reads * records_->block_bytes());
      EXPECT_LE(index().dram_bytes() + statistics.dram_bytes, planned);
    }
  }
}

TEST_P(DiskSearch, LanesAreMostOfWhatACoreOverAnyEndpointTakes) {
  const SearchShape two{.cores = 2, .slots = 4, .probe = 6};
  const std::size_t lanes = lane_bytes(index(), two);
  EXPECT_GE(lanes, 2u * 4 * (8u << 20));
  EXPECT_LT(lanes, plan_disk_memory(index(), *records_, two).buffers);
  const std::size_t taken = 2 * core(with_slots(4))->statistics().dram_bytes;
  EXPECT_LE(lanes, taken);
  EXPECT_GT(lanes, taken / 2);
}

TEST_P(DiskSearch, ABudgetThatIsTooSmallIsToldWhatIsNeeded) {
  const std::size_t needed = plan_disk_memory(index(), *records_, {}).total();
  EXPECT_EQ(error_with_budget(needed), "");
  EXPECT_NE(error_with_budget(needed - 1).find("--memory-budget " + std::to_string(needed)),
            std::string::npos);
}

TEST_P(DiskSearch, AFileThatShrinksIsDataLoss) {
  const auto one = core(with_slots(4));
  std::filesystem::resize_file(path(), layout::kRegionHeaderBytes + 4096);
  Feed feed(small_clusters(), 40, {.clusters = 6});
  one->run(feed);
  EXPECT_GT(feed.count_status(StatusCode::data_loss), 0u);
  EXPECT_EQ(feed.count_status(StatusCode::data_loss) + feed.count_status(StatusCode::ok), 40u);
}

TEST_P(DiskSearch, RefusesOtherRecordsAndFewer) {
  const auto directory = layout::IndexDirectory::open(small_clusters().path(GetParam()));
  EXPECT_THROW((void)open_disk_records(directory, folder_.path().string()), SystemError);
  std::filesystem::resize_file(path(), layout::kRegionHeaderBytes);
  EXPECT_THROW((void)open_disk_records(directory, path().string()), Error);
}

INSTANTIATE_TEST_SUITE_P(Layouts, DiskSearch, testing::ValuesIn(layout::kClusterLayouts),
                         [](const auto& kind) {
                           std::string name(to_string(kind.param));
                           std::erase(name, '-');
                           return name;
                         });

}  // namespace
}  // namespace farvec::search
