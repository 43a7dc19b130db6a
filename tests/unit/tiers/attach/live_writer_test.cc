#include "tiers/attach/live_writer.h"

#include <gtest/gtest.h>

#include <array>

namespace farvec::tiers {
namespace {

using namespace std::chrono_literals;

/// Counts what reaches it, and fails when it is told to.
class CountingWriter final : public transport::RegionWriter {
 public:
  struct Script {
    int writes = 0;
    int flushes = 0;
    Status status;
  };
  explicit CountingWriter(Script& script) : script_(script) {}

  Status write(transport::RegionId, std::uint64_t offset, std::span<const std::byte>) override {
    ++script_.writes;
    if (offset > 0) return {StatusCode::invalid_argument, "outside"};
    return script_.status;
  }
  Status flush() override {
    ++script_.flushes;
    return script_.status;
  }
  std::uint64_t region_bytes(transport::RegionId) const override { return 1; }
  const Status& status() const override { return script_.status; }

 private:
  Script& script_;
};

class LiveWriterTest : public testing::Test {
 protected:
  LiveWriterTest() { lease_ends_in(60s); }

  void lease_ends_in(std::chrono::steady_clock::duration time) {
    liveness_->lease_end = std::chrono::steady_clock::now().time_since_epoch() + time;
  }

  CountingWriter::Script script_;
  std::shared_ptr<Liveness> liveness_ = std::make_shared<Liveness>();
  LiveWriter writer_{std::make_unique<CountingWriter>(script_), liveness_};
  const std::array<std::byte, 1> byte_{};
};

TEST_F(LiveWriterTest, PassesOnWhileTheLeaseRuns) {
  EXPECT_TRUE(writer_.write(0, 0, byte_).ok());
  EXPECT_EQ(writer_.write(0, 1, byte_).code(), StatusCode::invalid_argument);
  EXPECT_TRUE(writer_.flush().ok()) << "a refused write is no death";
  EXPECT_EQ(script_.writes, 2);
  EXPECT_EQ(script_.flushes, 1);
  EXPECT_EQ(writer_.region_bytes(0), 1u);
}

TEST_F(LiveWriterTest, WritesNothingOnceTheLeaseWasLost) {
  liveness_->alive = false;
  EXPECT_EQ(writer_.write(0, 0, byte_).code(), StatusCode::unavailable);
  liveness_->alive = true;
  EXPECT_EQ(writer_.flush().code(), StatusCode::unavailable) << "dead is dead";
  EXPECT_EQ(script_.writes + script_.flushes, 0);
}

TEST_F(LiveWriterTest, WritesNothingOnceTheLeaseHasRunOutByItsOwnClock) {
  lease_ends_in(0s);
  EXPECT_EQ(writer_.write(0, 0, byte_).code(), StatusCode::unavailable);
  EXPECT_EQ(script_.writes, 0);
  EXPECT_FALSE(liveness_->alive) << "all others know";
}

TEST_F(LiveWriterTest, AFailureBelowIsItsOwn) {
  script_.status = {StatusCode::data_loss, "other bytes"};
  EXPECT_EQ(writer_.flush().code(), StatusCode::data_loss);
  EXPECT_EQ(writer_.write(0, 0, byte_).code(), StatusCode::data_loss);
  EXPECT_EQ(writer_.status().code(), StatusCode::data_loss);
  EXPECT_EQ(script_.writes, 0);
  EXPECT_FALSE(liveness_->alive);
}

}  // namespace
}  // namespace farvec::tiers
