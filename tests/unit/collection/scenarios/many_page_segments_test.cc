// What many segments in slotted pages take of one budget of memory.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "collection/read/collection_reader.h"
#include "coroutines/stack_pool.h"
#include "tests/unit/collection/changing_collection.h"
#include "tests/unit/message_of.h"

namespace farvec::collection {
namespace {

using ::testing::HasSubstr;
using Pools = std::shared_ptr<slotted::PoolBudget>;

/// Returns the resident bytes of the stacks of fibers in this process: mappings of their size above
/// a guard page.
std::size_t resident_stack_bytes() {
  std::ifstream maps("/proc/self/smaps");
  std::size_t kib = 0;
  bool above_guard = false;
  bool stack = false;
  for (std::string line; std::getline(maps, line);) {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    std::size_t resident = 0;
    std::array<char, 5> access{};
    if (std::sscanf(line.c_str(), "%lx-%lx %4s", &begin, &end, access.data()) == 3) {
      stack = above_guard && end - begin == coroutines::kStackBytes && access[0] == 'r';
      above_guard = end - begin == 4096 && access[0] == '-';
    } else if (stack && std::sscanf(line.c_str(), "Rss: %zu kB", &resident) == 1) {
      kib += resident;
    }
  }
  return kib * 1024;
}

class ManyPageSegments : public ChangingCollection {
 protected:
  ManyPageSegments() : ChangingCollection(small_page_shape()) {}

  static constexpr std::uint32_t kSlots = 16;
  static constexpr std::size_t kSegments = 12;

  static CollectionAccess with(Pools pools) {
    CollectionAccess access = small_access("ssd");
    access.segments.shape.pools = std::move(pools);
    access.merge = false;
    access.link = true;
    access.segments.shape.slots = kSlots;
    return access;
  }
  void fill() {
    open(with(nullptr));
    for (std::uint64_t i = 0; i < kSegments; ++i) {
      insert_ids(49 * i, 49 * i + 49);
      collection_->flush();
    }
    ASSERT_EQ(collection_->view()->segments.size(), kSegments);
  }
  /// Returns what each segment plans under a shared budget.
  std::vector<slotted::MemoryPlan> plans() const {
    std::vector<slotted::MemoryPlan> plans;
    const search::SearchShape& shape =
        with(std::make_shared<slotted::PoolBudget>(1)).segments.shape;
    const ViewPointer view = collection_->view();
    for (const View::Bulk& bulk : view->segments) {
      plans.push_back(
          slotted::SlottedStore::plan(*bulk.segment->records().index().slotted(),
                                      search::slotted_options(shape, bulk.segment->manifest())));
    }
    return plans;
  }
  /// Searches with all slots at once, and returns the core.
  std::unique_ptr<search::SearchCore> search_much() {
    search::TaskListFeed feed(200, kPatienceUs);
    const std::vector<float> query = random_row(random_);
    for (search::TaskListFeed::Task& task : feed.tasks()) {
      task.request.query = reinterpret_cast<const std::byte*>(query.data());
      task.request.parameters =
          search::SearchParameters::make(10, search::GraphChoice{.list = kAll}).value();
    }
    auto core = make_collection_core([&] { return collection_->view(); }, kSlots);
    core->run(feed);
    EXPECT_EQ(feed.count_status(StatusCode::ok), 200u);
    return core;
  }
};

TEST_F(ManyPageSegments, FitWhereEachTakesWhatIsItsOwn) {
  fill();
  std::size_t least = 0;
  std::size_t each_alone = 0;
  for (const slotted::MemoryPlan& plan : plans()) {
    const std::size_t slot = plan.pool / plan.slots;
    if (least == 0) least = plan.cores;
    EXPECT_EQ(plan.cores, plans().front().cores);
    EXPECT_EQ(plan.cores, kSlots * coroutines::kStackBytes + 128 * 4096);
    least += plan.own() + slot;
    each_alone += plan.fixed() - plan.codes - plan.entries + slot;
  }
  EXPECT_LT(3 * least, each_alone) << "this is what cores have, once for each segment";
  const auto pools = std::make_shared<slotted::PoolBudget>(least);
  const CollectionReader reader(path(), with(pools).segments);
  EXPECT_EQ(pools->used(), least);
  expect_holds(reader.view(), rows_, random_);
  const SegmentAccess fewer = with(std::make_shared<slotted::PoolBudget>(least - 1)).segments;
  EXPECT_THAT(tests::message_of([&] { CollectionReader refused(path(), fewer); }),
              HasSubstr("use --memory-budget " + std::to_string(least)));
}

/// What is counted is at least what is allocated.
TEST_F(ManyPageSegments, TakeNoMoreThanIsCounted) {
  fill();
  const auto pools = std::make_shared<slotted::PoolBudget>(std::size_t{1} << 30);
  open(with(pools));
  const std::size_t other_stacks = resident_stack_bytes();
  const auto core = search_much();
  const std::size_t stacks = resident_stack_bytes() - other_stacks;
  EXPECT_GE(stacks, kSlots * CollectionPart::kMostLegs * 4096) << "each fiber has run";
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  EXPECT_LE(stacks, kSlots * coroutines::kStackBytes);
#endif
  const std::size_t counted = pools->used() - kSlots * coroutines::kStackBytes;
  EXPECT_LE(core->statistics().dram_bytes, counted);
  EXPECT_GT(core->statistics().dram_bytes, counted / 2) << "nor is much counted that is not there";
}

}  // namespace
}  // namespace farvec::collection
