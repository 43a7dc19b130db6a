#include "disk/modelled_queue.h"

#include <array>
#include <map>
#include <vector>

#include "disk/faulty_queue.h"
#include "disk/memory_queue.h"
#include "tests/unit/disk/disk_fixture.h"

namespace farvec::disk {
namespace {

/// A clock that stands still until it is set.
class ModelledQueueTest : public DiskTest {
 protected:
  void open(DiskFaults faults = {}) {
    make_file(64 * kBlock);
    auto memory = std::make_unique<MemoryQueue>(
        open_files({path()}), std::as_bytes(std::span(content_.data(), content_.size())), 64);
    auto faulty = std::make_unique<FaultyQueue>(std::move(memory), std::move(faults));
    below_ = faulty.get();
    DiskModel model;
    model.read_us = 100;
    model.dies = 1;
    queue_ = std::make_unique<ModelledQueue>(
        std::move(faulty), std::make_shared<ModelledDisk>(model), [this] { return now_; });
  }
  void read(std::uint64_t id) {
    const BlockRequest request{id, id * kBlock, memory_.data() + id * kBlock, kBlock, 0};
    queue_->submit({&request, 1});
  }
  std::vector<std::uint64_t> at(double now) {
    now_ = now;
    std::array<BlockResult, 64> results;
    std::vector<std::uint64_t> ids;
    for (const BlockResult& result : std::span(results).first(queue_->reap(results))) {
      ids.push_back(result.id);
      last_ = result;
    }
    return ids;
  }
  using Ids = std::vector<std::uint64_t>;

  double now_ = 1000;
  BlockResult last_;
  HugeBuffer memory_{64 * kBlock};
  FaultyQueue* below_ = nullptr;
  std::unique_ptr<ModelledQueue> queue_;
};

TEST_F(ModelledQueueTest, RequestsEndWhenTheModelSays) {
  open();
  read(1);
  read(2);
  EXPECT_EQ(at(1000), Ids());
  EXPECT_EQ(at(1099.9), Ids());
  EXPECT_EQ(at(1100), Ids({1}));
  EXPECT_EQ(last_.result, static_cast<int>(kBlock));
  EXPECT_EQ(text(memory_.data() + kBlock, kBlock), content_.substr(kBlock, kBlock));
  read(3);
  EXPECT_EQ(at(5000), Ids({2, 3})) << "the one that ends first comes first";
  EXPECT_EQ(at(6000), Ids());
  EXPECT_EQ(queue_->ended(), 3u);
  EXPECT_EQ(queue_->late(), 0u) << "they were there; nobody looked";
}

TEST_F(ModelledQueueTest, OneThatIsNotThereInTimeIsLate) {
  open({.drop_rate = 1});
  read(1);
  EXPECT_EQ(at(1200), Ids()) << "it should have ended";
  below_->release();
  EXPECT_EQ(at(1300), Ids({1}));
  EXPECT_EQ(queue_->late(), 1u);
}

TEST_F(ModelledQueueTest, OneThatIsCancelledEndsWithItsResult) {
  open({.drop_rate = 1});
  read(1);
  EXPECT_EQ(at(1010), Ids());
  const std::uint64_t id = 1;
  queue_->cancel({&id, 1});
  EXPECT_EQ(at(1011), Ids({1}));
  EXPECT_EQ(last_.result, -ECANCELED);
  EXPECT_EQ(queue_->late(), 0u);
}

TEST_F(ModelledQueueTest, AnEngineOverItReadsWhatTheFileHolds) {
  open();
  queue_.reset();
  auto memory = std::make_unique<MemoryQueue>(
      open_files({path()}), std::as_bytes(std::span(content_.data(), content_.size())), 16);
  DiskModel model;
  model.read_us = 50;
  model.dies = 4;
  DiskEngine engine(
      std::make_unique<ModelledQueue>(std::move(memory), std::make_shared<ModelledDisk>(model)));
  EXPECT_NE(engine.description().find("MODELLED disk custom: 4 dies"), std::string::npos);
  for (std::uint64_t block = 0; block < 50; ++block) {
    const DiskRequest read{block, block * kBlock, memory_.data(), in_us(kLongUs), kBlock, 0};
    ASSERT_TRUE(engine.post({&read, 1}).ok());
    ASSERT_EQ(await(engine, 1).front().status, StatusCode::ok);
    EXPECT_EQ(text(memory_.data(), kBlock), content_.substr(block * kBlock, kBlock));
  }
}

}  // namespace
}  // namespace farvec::disk
