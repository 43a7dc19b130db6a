#include "disk/load_queue.h"

#include <gmock/gmock.h>

#include <array>
#include <functional>

#include "tests/unit/disk/disk_fixture.h"

namespace farvec::disk {
namespace {

/// Keeps what it hears, and does what it is told to.
struct Recorder : LoadListener {
  void load_ended(Load& load) override {
    ended.push_back(&load);
    if (on_end) on_end(load);
  }
  void load_returned(Load& load) override { returned.push_back(&load); }

  std::vector<Load*> ended;
  std::vector<Load*> returned;
  std::function<void(Load&)> on_end;
};

class LoadQueueTest : public DiskTest {
 protected:
  void SetUp() override { make_file(64 * kBlock); }
  void TearDown() override { queue_.reset(); }

  void make_queue(std::unique_ptr<DiskEngine> engine, LoadQueueOptions options = {}) {
    queue_ = std::make_unique<LoadQueue>(std::move(engine), scheduler_, options);
    scheduler_.set_poller([this] { return queue_->poll(); });
  }

  /// The i-th load reads the i-th block.
  Load& load(std::uint64_t i) {
    loads_[i].read = read(i, i * kBlock);
    loads_[i].listener = &recorder_;
    return loads_[i];
  }
  Status start(Load& one) {
    Load* const list[] = {&one};
    return queue_->start(list);
  }
  void run(std::function<void()> fiber) {
    ASSERT_TRUE(scheduler_.spawn(std::move(fiber)).ok());
    scheduler_.run();
  }
  bool came(std::uint64_t i) {
    return text(destination(i), kBlock) == content_.substr(i * kBlock, kBlock);
  }
  void poll_until(const std::function<bool()>& done) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (!done() && std::chrono::steady_clock::now() < end) (void)queue_->poll();
    ASSERT_TRUE(done());
  }

  coroutines::Scheduler scheduler_{{.max_fibers = 32}};
  Recorder recorder_;
  std::array<Load, 64> loads_;
  std::unique_ptr<LoadQueue> queue_;
};

TEST_F(LoadQueueTest, AFiberWaitsForItsLoads) {
  make_queue(open());
  run([&] {
    std::vector<Load*> list;
    for (std::uint64_t i = 0; i < 8; ++i) list.push_back(&load(i));
    ASSERT_TRUE(queue_->start(list).ok());
    for (std::uint64_t i = 0; i < 8; ++i) {
      EXPECT_TRUE(queue_->wait(*list[i], in_us(kLongUs)).ok());
      EXPECT_EQ(list[i]->bytes(), kBlock);
      EXPECT_FALSE(list[i]->destination_out());
      EXPECT_TRUE(came(i));
    }
  });
  EXPECT_EQ(recorder_.ended.size(), 8u);
}

TEST_F(LoadQueueTest, ManyFibersWaitForOneLoad) {
  make_queue(open());
  int woken = 0;
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(scheduler_
                    .spawn([&, i] {
                      if (i == 0) {
                        ASSERT_TRUE(start(load(3)).ok());
                      }
                      EXPECT_TRUE(queue_->wait(loads_[3], in_us(kLongUs)).ok());
                      EXPECT_TRUE(came(3));
                      ++woken;
                    })
                    .ok());
  }
  scheduler_.run();
  EXPECT_EQ(woken, 20);
  EXPECT_THAT(recorder_.ended, testing::ElementsAre(&loads_[3]));
}

TEST_F(LoadQueueTest, NobodyHasToWait) {
  make_queue(open());
  ASSERT_TRUE(start(load(5)).ok());
  EXPECT_TRUE(loads_[5].going());
  EXPECT_TRUE(loads_[5].destination_out());
  poll_until([&] { return !loads_[5].going(); });
  EXPECT_TRUE(came(5));
  EXPECT_TRUE(loads_[5].status().ok());
  run([&] { EXPECT_TRUE(queue_->wait(loads_[5], 0).ok()); });  // does not suspend
}

TEST_F(LoadQueueTest, LoadsWaitForRoomUpToABound) {
  make_queue(open(), {.max_waiting = 8});
  std::vector<Load*> list;
  for (std::uint64_t i = 0; i < 24; ++i) list.push_back(&load(i));
  EXPECT_EQ(queue_->room(), 24u);
  std::vector<Load*> too_many = list;
  too_many.push_back(&load(24));
  EXPECT_EQ(queue_->start(too_many).code(), StatusCode::resource_exhausted);
  EXPECT_FALSE(loads_[0].going());
  ASSERT_TRUE(queue_->start(list).ok());
  EXPECT_EQ(queue_->outstanding(), 16u);
  EXPECT_EQ(queue_->waiting(), 8u);
  EXPECT_EQ(start(load(24)).code(), StatusCode::resource_exhausted);
  poll_until([&] { return recorder_.ended.size() == 24; });
  for (std::uint64_t i = 0; i < 24; ++i) EXPECT_TRUE(came(i));
}

TEST_F(LoadQueueTest, RefusesABadReadAndStartsNoneOfItsCall) {
  make_queue(open());
  load(1).read.offset = 1;
  Load* const list[] = {&load(0), &loads_[1]};
  EXPECT_EQ(queue_->start(list).code(), StatusCode::invalid_argument);
  EXPECT_FALSE(loads_[0].destination_out());
}

TEST_F(LoadQueueTest, CollectsABatchOverAllFibers) {
  make_queue(open(), {.batch = 4});
  for (std::uint64_t i = 0; i < 3; ++i) ASSERT_TRUE(start(load(i)).ok());
  EXPECT_EQ(queue_->outstanding(), 0u);
  ASSERT_TRUE(start(load(3)).ok());
  EXPECT_EQ(queue_->outstanding(), 4u);
  ASSERT_TRUE(start(load(4)).ok());
  poll_until([&] { return recorder_.ended.size() == 5; });  // poll() does not wait for more
}

TEST_F(LoadQueueTest, AnErrorReachesAllThatWait) {
  make_queue(open_faulty({.bad_blocks = {{.offset = 2 * kBlock, .bytes = 1}}}));
  int failed = 0;
  ASSERT_TRUE(start(load(2)).ok());
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(scheduler_
                    .spawn([&] {
                      const Status status = queue_->wait(loads_[2], in_us(kLongUs));
                      failed += status.code() == StatusCode::data_loss ? 1 : 0;
                    })
                    .ok());
  }
  scheduler_.run();
  EXPECT_EQ(failed, 3);
  EXPECT_EQ(loads_[2].status().code(), StatusCode::data_loss);
}

TEST_F(LoadQueueTest, AFiberThatGivesUpLeavesTheLoadToOthers) {
  make_queue(open_faulty({.drop_rate = 1, .cancels = false}));
  ASSERT_TRUE(start(load(0)).ok());
  std::vector<StatusCode> ends;
  for (const double patience_us : {100.0, kLongUs, 200.0}) {
    ASSERT_TRUE(scheduler_
                    .spawn([&, patience_us] {
                      ends.push_back(queue_->wait(loads_[0], in_us(patience_us)).code());
                      if (ends.size() == 2) faulty_->release();
                    })
                    .ok());
  }
  scheduler_.run();
  EXPECT_THAT(ends, testing::ElementsAre(StatusCode::deadline_exceeded,
                                         StatusCode::deadline_exceeded, StatusCode::data_loss));
}

TEST_F(LoadQueueTest, TheDestinationOfALateLoadStaysOut) {
  make_queue(open_faulty({.drop_rate = 1, .cancels = false}));
  load(0).read.deadline = in_us(500);
  ASSERT_TRUE(start(loads_[0]).ok());
  run([&] {
    EXPECT_EQ(queue_->wait(loads_[0], in_us(kLongUs)).code(), StatusCode::deadline_exceeded);
  });
  EXPECT_FALSE(loads_[0].going());
  EXPECT_TRUE(loads_[0].destination_out());
  EXPECT_TRUE(recorder_.returned.empty());
  faulty_->release();
  poll_until([&] { return !loads_[0].destination_out(); });
  EXPECT_THAT(recorder_.ended, testing::ElementsAre(&loads_[0]));
  EXPECT_THAT(recorder_.returned, testing::ElementsAre(&loads_[0]));
}

TEST_F(LoadQueueTest, LoadsExpireWhileTheyWaitForRoom) {
  make_queue(open_faulty({.drop_rate = 1, .cancels = false}, 1000));
  std::vector<Load*> list;
  for (std::uint64_t i = 0; i < 20; ++i) list.push_back(&load(i));
  for (const std::uint64_t i : {17, 19}) list[i]->read.deadline = in_us(500);
  ASSERT_TRUE(queue_->start(list).ok());
  poll_until([&] { return recorder_.ended.size() == 2; });
  EXPECT_FALSE(loads_[17].destination_out());
  EXPECT_EQ(loads_[19].status().code(), StatusCode::deadline_exceeded);
  EXPECT_EQ(queue_->waiting(), 2u);
  faulty_->set_faults({});
  faulty_->release();
  poll_until([&] { return recorder_.ended.size() == 20; });
  EXPECT_TRUE(came(16));
  EXPECT_TRUE(came(18));
}

TEST_F(LoadQueueTest, TheListenerMayStartTheLoadAgain) {
  make_queue(open_faulty({.bad_blocks = {{.bytes = kBlock}}}));
  recorder_.on_end = [&](Load& failed) {
    if (recorder_.ended.size() > 1) return;
    faulty_->set_faults({});
    EXPECT_TRUE(start(failed).ok());
  };
  ASSERT_TRUE(start(load(0)).ok());
  run([&] {
    EXPECT_EQ(queue_->wait(loads_[0], in_us(kLongUs)).code(), StatusCode::data_loss);
    EXPECT_TRUE(queue_->wait(loads_[0], in_us(kLongUs)).ok());
  });
  EXPECT_TRUE(came(0));
}

TEST_F(LoadQueueTest, AListenerThatKeepsTheQueueFull) {
  make_queue(open());
  std::uint64_t started = 0;
  const auto next = [&] {
    if (started == 64) return;
    EXPECT_TRUE(start(load(started++)).ok());
  };
  recorder_.on_end = [&](Load&) { next(); };
  for (int i = 0; i < 16; ++i) next();
  poll_until([&] { return recorder_.ended.size() == 64; });
  for (std::uint64_t i = 0; i < 64; ++i) EXPECT_TRUE(came(i));
}

TEST_F(LoadQueueTest, CloseEndsEverything) {
  make_queue(open_faulty({.drop_rate = 1}));
  std::vector<Load*> list;
  for (std::uint64_t i = 0; i < 20; ++i) list.push_back(&load(i));
  list[3]->read.deadline = 0;
  ASSERT_TRUE(queue_->start(list).ok());
  StatusCode end = StatusCode::ok;
  ASSERT_TRUE(
      scheduler_.spawn([&] { end = queue_->wait(loads_[18], in_us(kLongUs)).code(); }).ok());
  ASSERT_TRUE(scheduler_.spawn([&] { queue_->close(); }).ok());
  scheduler_.run();
  EXPECT_EQ(end, StatusCode::unavailable);
  EXPECT_EQ(recorder_.ended.size(), 20u);
  for (std::uint64_t i = 0; i < 20; ++i) EXPECT_FALSE(loads_[i].destination_out());
  EXPECT_EQ(start(load(30)).code(), StatusCode::unavailable);
}

}  // namespace
}  // namespace farvec::disk
