#include "ssd_baseline/slotted/search/vector_reader.h"

#include <filesystem>
#include <functional>
#include <map>
#include <set>

#include "tests/unit/disk/disk_fixture.h"

namespace farvec::slotted {
namespace {

/// What one fiber has read.
struct Outcome {
  Status status;
  VectorReads counts;
  std::map<NodeId, std::string> vectors;
  bool ended = false;
};

class VectorReaderTest : public disk::DiskTest {
 protected:
  static constexpr std::uint64_t kOffset = 4096;

  void TearDown() override {
    if (reader_ != nullptr) {
      EXPECT_EQ(reader_->under_way(), 0u) << "nothing may be left on the disk";
    }
    reader_.reset();
    queue_.reset();
  }

  void make_vectors(std::uint32_t vector_bytes, std::size_t count) {
    vector_bytes_ = vector_bytes;
    make_file(kOffset + vector_bytes * count);
  }
  VectorFile file() const { return {.file = 0, .offset = kOffset, .vector_bytes = vector_bytes_}; }
  void make_reader(std::unique_ptr<disk::DiskEngine> engine, std::uint32_t buffers,
                   std::shared_ptr<ReadBuffers> memory = nullptr) {
    reader_.reset();
    queue_ = std::make_unique<disk::LoadQueue>(std::move(engine), scheduler_);
    reader_ =
        std::make_unique<VectorReader>(*queue_, scheduler_, file(), buffers, std::move(memory));
    queue_->engine().register_memory(reader_->memory().memory());
    scheduler_.set_poller([this] { return queue_->poll(); });
  }

  /// A fiber that reads; `outcome` and what `ids` point to outlive it.
  void spawn(const std::vector<NodeId>& ids, Outcome& outcome, double patience_us = disk::kLongUs) {
    spawn(*reader_, ids, outcome, patience_us);
  }
  void spawn(VectorReader& reader, const std::vector<NodeId>& ids, Outcome& outcome,
             double patience_us = disk::kLongUs) {
    ASSERT_TRUE(scheduler_
                    .spawn([this, &reader, &ids, &outcome, patience_us] {
                      outcome.status = reader.read(ids, disk::in_us(patience_us), outcome.counts,
                                                   [&](NodeId id, const std::byte* vector) {
                                                     EXPECT_FALSE(outcome.vectors.contains(id));
                                                     outcome.vectors[id] =
                                                         disk::text(vector, vector_bytes_);
                                                   });
                      outcome.ended = true;
                    })
                    .ok());
  }
  Outcome read(const std::vector<NodeId>& ids, double patience_us = disk::kLongUs) {
    Outcome outcome;
    spawn(ids, outcome, patience_us);
    scheduler_.run();
    EXPECT_TRUE(outcome.ended);
    return outcome;
  }
  void expect_all(const Outcome& outcome, const std::vector<NodeId>& ids) const {
    EXPECT_TRUE(outcome.status.ok()) << outcome.status.message();
    EXPECT_EQ(outcome.vectors.size(), ids.size());
    for (const auto& [id, bytes] : outcome.vectors) {
      EXPECT_EQ(bytes, content_.substr(kOffset + std::size_t{id} * vector_bytes_, vector_bytes_))
          << id;
    }
  }
  static std::vector<NodeId> some_ids(std::size_t wanted, std::size_t count, std::uint64_t seed) {
    Random random(seed);
    std::set<NodeId> ids;
    while (ids.size() < wanted) ids.insert(static_cast<NodeId>(random.below(count)));
    return {ids.begin(), ids.end()};
  }

  std::uint32_t vector_bytes_ = 0;
  coroutines::Scheduler scheduler_{{.max_fibers = 32}};
  std::unique_ptr<disk::LoadQueue> queue_;
  std::unique_ptr<VectorReader> reader_;
};

TEST_F(VectorReaderTest, BringsVectorsAcrossAnyBlocks) {
  for (const std::uint32_t bytes : {1u, 3u, 100u, 3136u, 4095u, 4096u, 4097u, 16384u}) {
    constexpr std::size_t kVectors = 300;
    make_vectors(bytes, kVectors);
    make_reader(open(), 64);
    for (const std::size_t wanted : {1u, 2u, 40u, 300u}) {
      const auto ids = some_ids(wanted, kVectors, wanted);
      const Outcome outcome = read(ids);
      expect_all(outcome, ids);
      const std::uint32_t block = queue_->engine().files()[0]->block_bytes();
      EXPECT_EQ(outcome.counts.bytes % block, 0u);
      EXPECT_LE(outcome.counts.reads, wanted);
      EXPECT_LT(outcome.counts.bytes, wanted * (bytes + 2 * block));
    }
    // The last one, behind which the file ends.
    expect_all(read({kVectors - 1}), {kVectors - 1});
    expect_all(read({}), {});
  }
}

TEST_F(VectorReaderTest, NeighborsShareARead) {
  make_vectors(64, 1000);
  make_reader(open(), 16);
  EXPECT_EQ(read({0, 1, 2, 3, 5}).counts.reads, 1u);
  EXPECT_EQ(read({0, 500, 999}).counts.reads, 3u);
}

TEST_F(VectorReaderTest, AnyNumberOfBuffersWillDo) {
  make_vectors(3136, 400);
  for (const std::uint32_t buffers : {1u, 3u, 64u}) {
    make_reader(open(), buffers);
    std::vector<std::vector<NodeId>> ids;
    for (std::uint64_t f = 0; f < 8; ++f) ids.push_back(some_ids(30, 400, f));
    std::vector<Outcome> outcomes(ids.size());
    for (std::size_t f = 0; f < ids.size(); ++f) spawn(ids[f], outcomes[f]);
    scheduler_.run();
    for (std::size_t f = 0; f < ids.size(); ++f) expect_all(outcomes[f], ids[f]);
  }
}

TEST_F(VectorReaderTest, ReadersOfTwoIndexesShareBuffers) {
  make_vectors(3136, 400);
  const auto memory = std::make_shared<ReadBuffers>(3, VectorReader::buffer_bytes(3136));
  make_reader(open(), 64, memory);
  disk::LoadQueue queue(open(), scheduler_);
  VectorReader other(queue, scheduler_, file(), 64, memory);
  scheduler_.set_poller([&] { return queue_->poll() | queue.poll(); });
  std::vector<std::vector<NodeId>> ids;
  for (std::uint64_t f = 0; f < 8; ++f) ids.push_back(some_ids(30, 400, f));
  std::vector<Outcome> outcomes(ids.size());
  for (std::size_t f = 0; f < ids.size(); ++f) {
    spawn(f % 2 == 0 ? *reader_ : other, ids[f], outcomes[f]);
  }
  scheduler_.run();
  for (std::size_t f = 0; f < ids.size(); ++f) expect_all(outcomes[f], ids[f]);
  EXPECT_EQ(memory->unused(), 3u);
}

TEST_F(VectorReaderTest, AReaderGivesBackWhatItShares) {
  make_vectors(4096, 100);
  const auto memory = std::make_shared<ReadBuffers>(4, VectorReader::buffer_bytes(4096));
  make_reader(open_faulty({.drop_rate = 1, .cancels = false}), 8, memory);
  EXPECT_EQ(read({1, 20, 40}, 500).status.code(), StatusCode::deadline_exceeded);
  EXPECT_EQ(memory->unused(), 1u) << "the disk has three";
  faulty_->release();
  reader_.reset();
  EXPECT_EQ(memory->unused(), 4u);
}

TEST_F(VectorReaderTest, ABlockThatCannotBeReadFailsItsSearchOnly) {
  make_vectors(4096, 100);
  make_reader(open_faulty({.bad_blocks = {{.offset = kOffset + 50 * 4096, .bytes = 1}}}), 8);
  const std::vector<NodeId> bad = {3, 20, 50, 70, 90};
  const std::vector<NodeId> good = {4, 21, 60};
  Outcome failed;
  Outcome served;
  spawn(bad, failed);
  spawn(good, served);
  scheduler_.run();
  EXPECT_EQ(failed.status.code(), StatusCode::data_loss);
  EXPECT_FALSE(failed.vectors.contains(50));
  expect_all(served, good);
  EXPECT_EQ(reader_->under_way(), 0u);
  faulty_->set_faults({});
  expect_all(read(bad), bad);
}

TEST_F(VectorReaderTest, ShortReadsGoOn) {
  make_vectors(9000, 60);
  make_reader(open_faulty({.short_rate = 0.6, .again_rate = 0.2}), 8);
  const auto ids = some_ids(25, 60, 1);
  expect_all(read(ids), ids);
}

TEST_F(VectorReaderTest, AFileThatShrinksIsDataLoss) {
  make_vectors(3136, 60);
  make_reader(open(), 8);
  std::filesystem::resize_file(path(), kOffset + 30 * 3136 + 10);
  EXPECT_EQ(read({2, 30}).status.code(), StatusCode::data_loss);
  EXPECT_EQ(read({59}).status.code(), StatusCode::data_loss);
  expect_all(read({2, 28}), {2, 28});
}

TEST_F(VectorReaderTest, LateReadsKeepTheirBuffersUntilTheyComeBack) {
  make_vectors(4096, 100);
  make_reader(open_faulty({.drop_rate = 1, .cancels = false}), 4);
  EXPECT_EQ(read({1, 20, 40}, 500).status.code(), StatusCode::deadline_exceeded);
  EXPECT_EQ(reader_->under_way(), 3u);
  // The one that is left serves others.
  faulty_->set_faults({});
  expect_all(read({5, 50, 70}), {5, 50, 70});
  faulty_->set_faults({.drop_rate = 1, .cancels = false});
  EXPECT_EQ(read({60}, 500).status.code(), StatusCode::deadline_exceeded);
  faulty_->set_faults({});
  EXPECT_EQ(read({5}, 500).status.code(), StatusCode::deadline_exceeded) << "no buffer is free";
  faulty_->release();
  const auto ids = some_ids(40, 100, 3);
  expect_all(read(ids), ids);
}

TEST_F(VectorReaderTest, ADeadlineThatHasPassedCancelsWhatWasStarted) {
  make_vectors(4096, 100);
  make_reader(open_faulty({.drop_rate = 1}), 8);
  EXPECT_EQ(read({1, 20, 40}, 0).status.code(), StatusCode::deadline_exceeded);
  faulty_->set_faults({});
  const auto ids = some_ids(40, 100, 3);
  expect_all(read(ids), ids);
}

TEST_F(VectorReaderTest, CloseEndsReadsUnderWay) {
  make_vectors(4096, 100);
  make_reader(open_faulty({.drop_rate = 1}), 8);
  const std::vector<NodeId> ids = {1, 20, 40};
  Outcome outcome;
  spawn(ids, outcome);
  ASSERT_TRUE(scheduler_.spawn([&] { queue_->close(); }).ok());
  scheduler_.run();
  EXPECT_EQ(outcome.status.code(), StatusCode::unavailable);
  EXPECT_EQ(read(ids).status.code(), StatusCode::unavailable);
  EXPECT_EQ(read(ids).counts.reads, 0u);
}

}  // namespace
}  // namespace farvec::slotted
