// Indexes on each tier and in each layout: what they answer, where they are opened again, what is
// refused, and what counts in the engine's memory.
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/unit/postgres/engine/engine_program.h"

namespace farvec::postgres::tests {
namespace {

AskOpen placed(AskOpen shape, const std::string& tier, AskLayout layout = kAskUsualLayout,
               std::uint64_t pool_bytes = 0) {
  shape.layout = layout;
  shape.pool_bytes = pool_bytes;
  std::memset(shape.tier, 0, sizeof(shape.tier));
  tier.copy(shape.tier, sizeof(shape.tier) - 1);
  return shape;
}

class EnginePlaces : public EngineProgram {
 protected:
  /// Says why an engine ended, where it did.
  void TearDown() override {
    if (HasFailure() && engine_ != nullptr) GTEST_LOG_(INFO) << engine_->log();
  }
  void place(const std::string& tier, AskLayout layout = kAskUsualLayout,
             std::uint64_t pool_bytes = 0) {
    shape_ = placed(shape_, tier, layout, pool_bytes);
  }
  ToldPlace told() {
    const Told told = asking_->ask_with(kAskPlace, shape_.index);
    EXPECT_EQ(told.status, 0) << told.text();
    return told.head<ToldPlace>();
  }
  std::uint64_t records_bytes() const {
    std::uint64_t bytes = 0;
    for (const auto& entry : fs::recursive_directory_iterator(all_)) {
      const std::string name = entry.path().filename().string();
      if (name.starts_with("records.") || name.starts_with("vectors.")) bytes += entry.file_size();
    }
    return bytes;
  }
  /// Takes rows out and puts others in, kills the engine, and catches up: answers are those of the
  /// table after each step.
  void expect_a_life(Table table) {
    build_of(table);
    expect_answers(table);
    const std::vector<std::uint64_t> gone(table.vids.begin(), table.vids.begin() + 50);
    ASSERT_EQ(index().erase(gone).status, 0);
    table.vids.erase(table.vids.begin(), table.vids.begin() + 50);
    table.floats.erase(table.floats.begin(),
                       table.floats.begin() + static_cast<std::ptrdiff_t>(50 * table.dimension));
    const Table more(120, 10'001, 7, table.dimension);
    insert(more);
    table.vids.insert(table.vids.end(), more.vids.begin(), more.vids.end());
    table.floats.insert(table.floats.end(), more.floats.begin(), more.floats.end());
    expect_answers(table);
    kill_and_start();
    std::size_t lacked = 0;
    ASSERT_EQ(catch_up(table, lacked), 0);
    EXPECT_EQ(lacked, more.vids.size());
    expect_answers(table);
  }
};

struct Place {
  const char* tier;
  AskLayout layout;
  bool on_disk;
};

class EachPlace : public EnginePlaces, public testing::WithParamInterface<Place> {};

TEST_P(EachPlace, AnswersAsATableDoesThroughChangesAndAKill) {
  const Place where = GetParam();
  place(where.tier, where.layout);
  start({"--memory", "64MiB"});
  expect_a_life(Table(1200));
  const ToldPlace told = this->told();
  EXPECT_STREQ(told.tier, where.tier);
  EXPECT_EQ(told.layout, where.layout == kAskUsualLayout ? kAskCsr : where.layout);
  const bool modelled = std::string(where.tier).starts_with("emulated:");
  EXPECT_EQ(std::string(told.device).starts_with("emulated("), modelled) << told.device;
  EXPECT_EQ(told.pool != 0, where.layout == kAskSlotted);
  EXPECT_GT(told.segments, 0u);
  const ToldState state = index().state();
  EXPECT_EQ(told.loaded < state.bytes - records_bytes() / 2, where.on_disk)
      << told.loaded << " of " << state.bytes;
}

std::string name_of_place(const testing::TestParamInfo<Place>& info) {
  constexpr const char* kWords[] = {"usual", "csr", "packed", "inline", "slotted"};
  std::string name = std::string(info.param.tier) + "_" + kWords[info.param.layout];
  std::ranges::replace(name, ':', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(
    All, EachPlace,
    testing::Values(Place{"dram", kAskUsualLayout, false}, Place{"dram", kAskCsr, false},
                    Place{"dram", kAskPacked, false}, Place{"dram", kAskInline, false},
                    Place{"shm", kAskPacked, false}, Place{"emulated:cxl", kAskCsr, false},
                    Place{"emulated:rdma", kAskInline, false}, Place{"ssd", kAskCsr, true},
                    Place{"ssd", kAskPacked, true}, Place{"ssd", kAskInline, true},
                    Place{"ssd", kAskSlotted, true}),
    name_of_place);

TEST_F(EnginePlaces, AnIndexThatIsAskedForElsewhereIsOpenedThereAndCatchesUp) {
  start();
  const Table table(600);
  build_of(table);
  const ToldState before = index().state();
  EXPECT_STREQ(told().tier, "dram");
  for (const char* tier : {"ssd", "emulated:latency=3us,bandwidth=10GB/s,rate=50M/s", "dram"}) {
    SCOPED_TRACE(tier);
    place(tier);
    const ToldState state = index().open();
    EXPECT_NE(state.opening, before.opening);
    EXPECT_EQ(state.ready, 0u);
    EXPECT_EQ(index().search(table.bytes(0, 1), 5, 10).status, kPrecondition);
    std::size_t lacked = 1;
    ASSERT_EQ(catch_up(table, lacked), 0);
    EXPECT_EQ(lacked, 0u) << "segments are where they were";
    expect_answers(table);
    const ToldPlace now = told();
    EXPECT_EQ(std::string(now.tier).substr(0, 3), std::string(tier).substr(0, 3));
    EXPECT_EQ(now.device[0] != 0, std::string(tier).starts_with("emulated")) << now.device;
    // It is opened ahead there.
    kill_and_start();
    EXPECT_EQ(std::string(told().tier).substr(0, 3), std::string(tier).substr(0, 3));
    ASSERT_EQ(catch_up(table, lacked), 0);
  }
  // The same place again is no other one.
  const ToldState state = index().open();
  EXPECT_EQ(index().open().opening, state.opening);
}

TEST_F(EnginePlaces, AModelIsToldWithItsNumbers) {
  place("emulated:latency=3us,bandwidth=10GB/s,rate=50M/s");
  start();
  build_of(Table(100));
  const std::string device = told().device;
  for (const char* part : {"emulated(", "3", "10", "50"}) {
    EXPECT_NE(device.find(part), std::string::npos) << device;
  }
}

TEST_F(EnginePlaces, SlottedPagesStayOnTheDiskUntilTheIndexIsMadeAgain) {
  place("ssd", kAskSlotted);
  start();
  const Table table(600);
  build_of(table);
  place("dram", kAskPacked);
  std::size_t lacked = 1;
  ASSERT_EQ(catch_up(table, lacked), 0);
  EXPECT_EQ(lacked, 0u);
  EXPECT_STREQ(told().tier, "ssd");
  EXPECT_EQ(told().layout, kAskSlotted);
  expect_answers(table);
  build_of(table);
  EXPECT_STREQ(told().tier, "dram");
  EXPECT_EQ(told().layout, kAskPacked);
  EXPECT_EQ(told().pool, 0u);
  expect_answers(table);
}

TEST_F(EnginePlaces, WhatCannotBeIsRefusedAndTheIndexGoesOn) {
  start();
  const Table table(100);
  build_of(table);
  const auto refused = [&](const AskOpen& shape, const char* why) {
    const Told told = asking_->ask_with(kAskOpen, shape);
    EXPECT_EQ(told.status, kInvalid) << why << ": " << told.text();
    EXPECT_NE(told.text().find(why), std::string::npos) << told.text();
  };
  refused(placed(kShape, "tape"), "tape");
  refused(placed(kShape, "emulated:slow"), "slow");
  refused(placed(kShape, "file:/tmp/x"), "one file");
  refused(placed(kShape, "ssd:/tmp"), "one file");
  refused(placed(kShape, "verbs:host:7700"), "another machine");
  refused(placed(kShape, "fabric:tcp:host:7700"), "another machine");
  refused(placed(kShape, "dram", kAskSlotted), "slotted is for tier ssd");
  refused(placed(kShape, "emulated:ssd", kAskSlotted), "slotted is for tier ssd");
  refused(placed(kShape, "ssd", kAskCsr, 1 << 20), "a pool is for layout slotted");
  refused(placed(kShape, "dram", static_cast<AskLayout>(9)), "9 is the number of no layout");
  AskOpen endless = kShape;
  std::memset(endless.tier, 'x', sizeof(endless.tier));
  refused(endless, "no end");
  AskOpen bits = placed(kShape, "dram", kAskCsr);
  bits.code_bits = 20;
  bits.begins = kAskBegins;
  bits.index.file = 5;
  refused(bits, "code_bits");
  expect_answers(table);
  EXPECT_EQ(index().state().rows, 100u);
}

TEST_F(EnginePlaces, ANodeOfMemoryThatIsNotThereLosesNothing) {
  start();
  const Table table(100);
  build_of(table);
  place("numa:999");
  const Told refused = asking_->ask_with(kAskOpen, shape_);
  EXPECT_EQ(refused.status, kInvalid) << refused.text();
  EXPECT_NE(refused.text().find("no NUMA node"), std::string::npos) << refused.text();
  place("dram");
  std::size_t lacked = 1;
  ASSERT_EQ(catch_up(table, lacked), 0);
  EXPECT_EQ(lacked, 0u);
  expect_answers(table);
}

TEST_F(EnginePlaces, ADamagedPlaceIsAskedForAgain) {
  place("ssd");
  start();
  const Table table(100);
  build_of(table);
  engine_->kill_now();
  for (const auto& entry : fs::recursive_directory_iterator(all_)) {
    if (entry.path().filename() == "place") std::ofstream(entry.path()) << "elsewhere";
  }
  start();
  std::size_t lacked = 0;
  ASSERT_EQ(catch_up(table, lacked), 0);
  EXPECT_STREQ(told().tier, "ssd");
  expect_answers(table);
}

/// Rows of 1 KiB: an index of several times the memory that the engine may take.
class EngineOnDisk : public EnginePlaces, public testing::WithParamInterface<AskLayout> {
 protected:
  static constexpr std::uint32_t kWide = 256;
  static constexpr std::size_t kRows = 12'000;
};

TEST_P(EngineOnDisk, AnIndexIsLargerThanTheMemoryOfTheEngine) {
  constexpr std::uint64_t kMemory = std::uint64_t{4} << 20;
  shape_.dimension = kWide;
  shape_.degree = 24;
  shape_.build_list = 40;
  place("ssd", GetParam());
  start({"--memory", "4MiB"});
  const Table table(kRows, 1, 3, kWide);
  begin_build();
  insert(table, 50);  // 100 do not fit a request
  EXPECT_EQ(build().rows, table.vids.size());
  EXPECT_EQ(index().covers(table.vids.back() + 1).status, 0);
  EXPECT_GT(records_bytes(), 2 * kMemory);
  EXPECT_GT(told().segments, 2u);
  EXPECT_LT(told().loaded, kMemory);
  const auto summary = asking_->ask(kAskSummary, {}).head<ToldSummary>();
  EXPECT_LE(summary.memory, summary.memory_limit);
  const auto expect_nearest = [&](const char* when) {
    std::size_t found = 0;
    for (std::size_t i = 0; i < 20; ++i) {
      const auto rows = index().rows(table.bytes(i * 599, 1), 1, ASK_MOST_ROWS);
      found += rows.size() == 1 && rows[0].vid == table.vids[i * 599] ? 1 : 0;
    }
    EXPECT_EQ(found, 20u) << "a row is the nearest to itself, " << when << ", in "
                          << told().segments << " segments";
  };
  expect_nearest("after the build");
  kill_and_start();
  EXPECT_EQ(index().covers(table.vids.back() + 1).status, 0);
  expect_nearest("after a kill");
}

INSTANTIATE_TEST_SUITE_P(Layouts, EngineOnDisk, testing::Values(kAskCsr, kAskSlotted),
                         [](const auto& which) {
                           return which.param == kAskCsr ? "csr" : "slotted";
                         });

TEST_F(EnginePlaces, APoolThatIsTooSmallIsAnErrorOfTheBuild) {
  place("ssd", kAskSlotted, 4096);
  start();
  begin_build();
  insert(Table(3000));
  const AskRows asked{shape_.index, 0, 0, 20'000, 0};
  const Told told = asking_->ask_with(kAskBuild, asked);
  EXPECT_EQ(told.status, kExhausted) << told.text();
  EXPECT_NE(told.text().find("a pool of 4096 bytes"), std::string::npos) << told.text();
}

TEST_F(EnginePlaces, APoolOfItsOwnIsWhatItSays) {
  place("ssd", kAskSlotted, std::uint64_t{1} << 20);
  start();
  const Table table(4000);
  build_of(table);
  const ToldPlace place = told();
  EXPECT_EQ(place.pool, std::uint64_t{1} << 20);
  EXPECT_GT(place.pool_used, 0u);
  EXPECT_LE(place.pool_used, place.pool);
  expect_answers(table);
}

}  // namespace
}  // namespace farvec::postgres::tests
