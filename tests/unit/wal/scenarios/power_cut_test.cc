// A log whose disk loses its power at any moment, with any part of what was not synced.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file_names.h"
#include "tests/unit/temporary_folder.h"
#include "tests/unit/wal/log_fixture.h"
#include "tests/unit/wal/simulated_disk.h"
#include "wal/log_segment_list.h"
#include "wal/segment_log.h"

namespace farvec::wal {
namespace {

using farvec::tests::TemporaryFolder;
using tests::append;
using tests::Bytes;
using tests::in_seconds;
using tests::read_log;
using tests::record_of;
using tests::small_log;

constexpr int kPowerCuts = 1000;

/// A record that was sent: what it was and where append() said it ends.
struct Sent {
  Bytes bytes;
  Position end = 0;
};

/// A log over many lives of its process, and what it must still hold.
class Lives {
 public:
  explicit Lives(std::uint64_t seed) : random_(seed), disk_(folder_.path() / "log") {}

  /// One life: opens, appends, cuts, until the power goes. Then it reads what is left.
  void live() {
    disk_.faults.power_cut_at = disk_.operations() + 1 + random_.below(40);
    try {
      run();
    } catch (const SystemError&) {  // the power went while it was opened
    }
    disk_.power_cycle(random_);
    check();
  }

  int torn_ends = 0, unacknowledged_found = 0;

 private:
  void run() {
    const bool there = !list_log_segments(disk_.path()).empty();
    const auto log =
        there ? open_log(options(), disk_.folder()) : create_log(options(), disk_.folder());
    ASSERT_TRUE(sent_.empty() || log->end() >= sent_.back().end);
    for (int i = 0; i < 200 && log->failure().ok(); ++i) step(*log);
    acknowledge(*log);
  }

  LogOptions options() {
    LogOptions options = small_log(disk_.path());
    options.durability = random_.below(2) == 0 ? Durability::commit : Durability::none;
    options.pending_bytes = 4096 << random_.below(6);
    return options;
  }

  void step(Log& log) {
    Sent sent{
        record_of(next_++, random_.below(20) == 0 ? random_.below(12000) : random_.below(900)), 0};
    const Position begin = log.end();
    const auto end = append(log, sent.bytes);
    if (!end.ok()) return;
    ASSERT_GE(begin, highest_) << "a position was given out twice";
    sent.end = highest_ = end.value();
    sent_.push_back(std::move(sent));
    if (random_.below(4) == 0) (void)log.flush(log.end(), in_seconds(60));
    if (random_.below(30) == 0 && !sent_.empty()) {
      // A checkpoint: what is durable now may go, up to some record.
      acknowledge(log);
      const Position needed = sent_[random_.below(std::min(acknowledged_ + 1, sent_.size()))].end;
      if (needed > log.durable()) return;
      needed_ = std::max(needed_, needed);
      log.cut(needed_);
    }
    acknowledge(log);
  }

  void acknowledge(Log& log) {
    while (acknowledged_ < sent_.size() && sent_[acknowledged_].end <= log.durable()) {
      ++acknowledged_;
    }
  }

  void check() {
    if (list_log_segments(disk_.path()).empty()) {
      ASSERT_EQ(acknowledged_, 0u);
      sent_.clear();
      return;
    }
    const auto read = read_log(disk_.path(), needed_);
    std::size_t at = 0;
    while (at < sent_.size() && sent_[at].end <= needed_) ++at;
    for (const auto& record : read.records) {
      ASSERT_LT(at, sent_.size()) << "a record that was never sent";
      ASSERT_EQ(record.bytes, sent_[at].bytes);
      ASSERT_EQ(record.end, sent_[at].end);
      ++at;
    }
    ASSERT_GE(at, acknowledged_) << "an acknowledged record is lost";
    torn_ends += read.torn_bytes > 0 ? 1 : 0;
    unacknowledged_found += at > acknowledged_ ? 1 : 0;
    // What was found is there from now on; what was not is gone for good.
    sent_.resize(at);
    acknowledged_ = at;
  }

  TemporaryFolder folder_;
  Random random_;
  tests::SimulatedDisk disk_;
  std::vector<Sent> sent_;
  std::size_t acknowledged_ = 0;  ///< of sent_
  std::uint64_t next_ = 0;
  Position highest_ = 0, needed_ = 0;
};

TEST(PowerCut, LosesNothingThatWasAcknowledgedAndFindsNothingThatWasNotSent) {
  constexpr int kLivesOfALog = 20;
  int torn_ends = 0, unacknowledged_found = 0;
  for (int seed = 0; seed < kPowerCuts / kLivesOfALog; ++seed) {
    Lives lives(seed);
    for (int life = 0; life < kLivesOfALog; ++life) {
      SCOPED_TRACE(testing::Message() << "seed " << seed << " life " << life);
      ASSERT_NO_FATAL_FAILURE(lives.live());
    }
    torn_ends += lives.torn_ends;
    unacknowledged_found += lives.unacknowledged_found;
  }
  RecordProperty("torn_ends", torn_ends);
  RecordProperty("unacknowledged_found", unacknowledged_found);
  EXPECT_GT(torn_ends, kPowerCuts / 20) << "the cuts fell where nothing was being written";
  EXPECT_GT(unacknowledged_found, 0);
}

TEST(PowerCut, InEveryStepOfACutLeavesALogThatOpens) {
  for (std::uint64_t step = 0; step < 20; ++step) {
    const TemporaryFolder folder;
    tests::SimulatedDisk disk(folder.path() / "log");
    Random random(step);
    Position needed = 0;
    {
      const auto log = create_log(small_log(disk.path()), disk.folder());
      for (int i = 0; i < 100; ++i) {
        const auto end = append(*log, record_of(i, 1000));
        if (i == 80) needed = end.value();
      }
      ASSERT_TRUE(log->flush(log->end(), in_seconds(60)).ok());
      disk.faults.power_cut_at = disk.operations() + step;
      log->cut(needed);
    }
    disk.power_cycle(random);
    EXPECT_EQ(read_log(disk.path(), needed).records.size(), 19u) << step;
    EXPECT_EQ(open_log(small_log(disk.path()), disk.folder())->failure().code(), StatusCode::ok);
  }
}

}  // namespace
}  // namespace farvec::wal
