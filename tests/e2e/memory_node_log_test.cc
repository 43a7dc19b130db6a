// A memory node's log, written by one process and read by another.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <thread>

#include "base/error.h"
#include "base/unreachable_error.h"
#include "tests/e2e/child_process.h"
#include "tests/unit/layout/index/index_fixture.h"
#include "tests/unit/message_of.h"
#include "tiers/attach/attachment.h"
#include "tiers/attach/log_attachment.h"
#include "tiers/tier_spec.h"

namespace farvec {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using tests::message_of;
using tiers::LogAttachment;

/// Says to a process of this program that it is a writer, of which node over which tier.
constexpr const char* kWriterAddress = "FARVEC_TEST_LOG_ADDRESS";
constexpr const char* kWriterTier = "FARVEC_TEST_LOG_TIER";
constexpr std::uint64_t kLogBytes = 1u << 20;
constexpr std::uint64_t kBlockBytes = 192;
/// What a writer process fills; the rest of the log is for the test itself.
constexpr std::uint64_t kBlocks = 4096;
/// The blocks that it fills once, and that can be read while it goes on. The others take turns.
constexpr std::uint64_t kLastingBlocks = 51;

using Block = std::array<std::byte, kBlockBytes>;

/// What the writer of an epoch writes into a block in its n-th write.
Block block_of(std::uint64_t epoch, std::uint64_t n) {
  Block block;
  const std::uint64_t words[] = {epoch, n, epoch * 1'000'003 + n};
  for (std::size_t i = 0; i < block.size(); i += sizeof(words)) {
    std::memcpy(block.data() + i, words, sizeof(words));
  }
  return block;
}

/// Where the n-th write of a writer process goes.
std::uint64_t offset_of(std::uint64_t n) {
  constexpr std::uint64_t kTurns = kBlocks - kLastingBlocks;
  const std::uint64_t block =
      n < kLastingBlocks ? n : kLastingBlocks + (n - kLastingBlocks) % kTurns;
  return block * kBlockBytes;
}

tiers::AttachOptions log_options(const std::string& address, const std::string& tier) {
  tiers::AttachOptions options;
  options.memory_node = rpc::parse_address(address);
  options.wait = 60s;
  options.reads = tiers::parse_node_tier(tier)->read_path();
  return options;
}

/// Not a test of its own: what a writer process runs. Writes until it is killed or its writer dies.
TEST(LogWriterProcess, Writes) {
  const char* address = std::getenv(kWriterAddress);
  const char* tier = std::getenv(kWriterTier);
  if (address == nullptr || tier == nullptr) GTEST_SKIP() << "started by the tests beside it";
  const auto log = LogAttachment::for_writing(log_options(address, tier));
  const auto writer = log->make_writer();
  std::printf("epoch %llu\n", static_cast<unsigned long long>(log->epoch()));
  const auto end = std::chrono::steady_clock::now() + 120s;
  for (std::uint64_t n = 0; std::chrono::steady_clock::now() < end; ++n) {
    const Block block = block_of(log->epoch(), n);
    if (!writer->write(0, offset_of(n), block).ok() || !writer->flush().ok()) break;
    std::printf("flushed %llu.\n", static_cast<unsigned long long>(n));
    std::fflush(stdout);
  }
  std::printf("ended: %s\n", writer->status().message());
}

class MemoryNodeLog : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (GetParam() == "verbs" && std::getenv("FARVEC_LAB_SELF") == nullptr) {
      GTEST_SKIP() << "no RDMA device: run this program through scripts/lab/lab.sh run";
    }
  }
  void start_node(const std::string& lease_seconds, std::vector<std::string> more = {}) {
    std::vector<std::string> words{tests::program("farvec-memory-node"),
                                   "--listen",
                                   address_,
                                   "--log-bytes",
                                   "1MiB",
                                   "--lease-seconds",
                                   lease_seconds};
    if (GetParam() == "fabric:tcp") words.insert(words.end(), {"--fabric", "tcp:127.0.0.1"});
    if (GetParam() == "verbs") {
      words.insert(words.end(), {"--rdma", std::getenv("FARVEC_LAB_SELF")});
    }
    words.insert(words.end(), more.begin(), more.end());
    node_ = std::make_unique<tests::ChildProcess>(words);
  }
  std::unique_ptr<tests::ChildProcess> start_writer() const {
    return std::make_unique<tests::ChildProcess>(std::vector<std::string>{
        "/usr/bin/env", kWriterAddress + ("=" + address_), kWriterTier + ("=" + GetParam()),
        std::filesystem::canonical("/proc/self/exe"), "--gtest_filter=LogWriterProcess.Writes"});
  }
  tiers::AttachOptions options() const { return log_options(address_, GetParam()); }
  /// The last write that the process says was flushed.
  static std::uint64_t last_flushed(const tests::ChildProcess& writer) {
    const std::string output = writer.output();
    // A line that was cut by a kill has no end.
    const std::size_t at = output.rfind("flushed ", output.rfind(".\n"));
    return std::stoull(output.substr(at + std::strlen("flushed ")));
  }
  Block read(transport::Endpoint& endpoint, std::uint64_t offset) {
    const transport::ReadRequest read{0, 0, kBlockBytes, offset, room_.data()};
    transport::Completion done;
    const auto end = std::chrono::steady_clock::now() + 30s;
    EXPECT_TRUE(endpoint.post({&read, 1}).ok());
    while (endpoint.poll({&done, 1}) == 0 && std::chrono::steady_clock::now() < end) {
      std::this_thread::yield();
    }
    EXPECT_EQ(done.status, StatusCode::ok);
    EXPECT_EQ(done.bytes, kBlockBytes);
    return room_;
  }
  std::unique_ptr<transport::Endpoint> reader_of(const LogAttachment& log) {
    auto endpoint = log.make_endpoint();
    endpoint->register_memory(room_);
    return endpoint;
  }
  /// Every block that an earlier writer flushed is there.
  void expect_blocks(transport::Endpoint& reader, std::uint64_t epoch, std::uint64_t last) {
    for (std::uint64_t n = 0; n <= last; ++n) {
      const std::uint64_t over = offset_of(last + 1);  // may be in work
      const bool is_last_there = n < kLastingBlocks || n + kBlocks - kLastingBlocks > last;
      if (!is_last_there || offset_of(n) == over) continue;
      ASSERT_EQ(read(reader, offset_of(n)), block_of(epoch, n)) << n;
    }
  }

  layout::TemporaryFolder folder_;
  std::string address_ = "unix:" + (folder_.path() / "node.sock").string();
  std::unique_ptr<tests::ChildProcess> node_;
  Block room_{};
};

TEST_P(MemoryNodeLog, AKilledWriterIsFollowedByAnother) {
  // Where the grant has a connection the lease ends with it, and nobody waits for its time.
  start_node(GetParam() == "shm" ? "60" : "2");
  const auto log = LogAttachment::for_reading(options());
  EXPECT_EQ(log->bytes(), kLogBytes);
  EXPECT_EQ(log->epoch(), 0u);
  const auto reader = reader_of(*log);
  const auto first = start_writer();
  ASSERT_TRUE(first->wait_for_output("flushed 50.")) << first->output();
  expect_blocks(*reader, 1, 50);
  EXPECT_THAT(message_of([&] { LogAttachment::for_writing(options()); }),
              HasSubstr("the log has a writer"));

  first->signal(SIGKILL);
  EXPECT_EQ(first->wait(), 128 + SIGKILL);
  const auto next = LogAttachment::for_writing(options(), {.epoch_above = 0, .writer_wait = 30s});
  EXPECT_EQ(next->epoch(), 2u);
  EXPECT_EQ(next->generation(), log->generation());
  expect_blocks(*reader, 1, last_flushed(*first));
  const auto writer = next->make_writer();
  const Block block = block_of(next->epoch(), 7);
  ASSERT_TRUE(writer->write(0, kLogBytes - kBlockBytes, block).ok());
  ASSERT_TRUE(writer->flush().ok());
  EXPECT_EQ(read(*reader, kLogBytes - kBlockBytes), block);
  EXPECT_EQ(LogAttachment::for_reading(options())->epoch(), 2u);
}

TEST_P(MemoryNodeLog, AWriterThatWasStoppedForLongerThanItsLeaseWritesNoMore) {
  start_node("1");
  const auto first = start_writer();
  ASSERT_TRUE(first->wait_for_output("flushed 50.")) << first->output();
  first->signal(SIGSTOP);
  const auto next = LogAttachment::for_writing(options(), {.epoch_above = 9, .writer_wait = 30s});
  EXPECT_EQ(next->epoch(), 10u);
  const auto writer = next->make_writer();
  const Block block = block_of(next->epoch(), 1);
  ASSERT_TRUE(writer->write(0, kLogBytes - kBlockBytes, block).ok());
  ASSERT_TRUE(writer->flush().ok());
  first->signal(SIGCONT);
  EXPECT_TRUE(first->wait_for_output("ended: ")) << first->output();
  EXPECT_EQ(first->wait(), 0);
  const auto log = LogAttachment::for_reading(options());
  EXPECT_EQ(read(*reader_of(*log), kLogBytes - kBlockBytes), block);
  EXPECT_TRUE(writer->flush().ok());
}

TEST_P(MemoryNodeLog, AKilledNodeEndsWriterAndReader) {
  start_node("2");
  const auto log = LogAttachment::for_writing(options());
  const auto writer = log->make_writer();
  const auto followed = LogAttachment::for_reading(options());
  const Block block = block_of(1, 1);
  ASSERT_TRUE(writer->write(0, 0, block).ok());
  ASSERT_TRUE(writer->flush().ok());
  node_->signal(SIGKILL);
  const auto begin = std::chrono::steady_clock::now();
  while (writer->status().ok() && std::chrono::steady_clock::now() < begin + 60s) {
    if (writer->write(0, 0, block).ok()) (void)writer->flush();
    std::this_thread::sleep_for(1ms);
  }
  EXPECT_FALSE(writer->status().ok());
  EXPECT_FALSE(log->alive());
  while (followed->alive() && std::chrono::steady_clock::now() < begin + 60s) {
    std::this_thread::sleep_for(5ms);
  }
  EXPECT_FALSE(followed->alive());
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 20s);
  start_node("2");
  EXPECT_NE(LogAttachment::for_reading(options())->generation(), log->generation());
}

TEST_P(MemoryNodeLog, LiesBesideAnIndex) {
  const std::string index = folder_.path() / "index";
  layout::RandomIndex().write(index);
  start_node("10", {"--index", index});
  tiers::AttachOptions index_options = options();
  const auto attachment = tiers::Attachment::attach(index_options);
  const auto log = LogAttachment::for_writing(options());
  const auto writer = log->make_writer();
  EXPECT_EQ(writer->region_bytes(0), kLogBytes);
  EXPECT_EQ(writer->region_bytes(1), 0u) << "the index is not its to write";
  ASSERT_TRUE(writer->write(0, 5, block_of(1, 1)).ok());
  EXPECT_TRUE(writer->flush().ok());
  EXPECT_NE(attachment->generation(), log->generation());
  EXPECT_EQ(attachment->make_endpoint()->region_bytes(3), 0u);
}

INSTANTIATE_TEST_SUITE_P(Tiers, MemoryNodeLog, testing::Values("shm", "fabric:tcp", "verbs"),
                         [](const auto& tier) {
                           return tier.param == "fabric:tcp" ? "fabric" : tier.param;
                         });

TEST(MemoryNodeLogOptions, AreRefusedWhenTheyCannotWork) {
  const auto failure = [](std::vector<std::string> words) {
    words.insert(words.begin(), tests::program("farvec-memory-node"));
    tests::ChildProcess node(words);
    EXPECT_EQ(node.wait(), 1);
    return node.output();
  };
  EXPECT_THAT(failure({"--listen", "unix:/tmp/never"}), HasSubstr("--index is missing"));
  EXPECT_THAT(failure({"--log-bytes", "0"}), HasSubstr("--log-bytes"));
  EXPECT_THAT(message_of([] { (void)tiers::parse_node_tier("emulated:rdma"); }),
              HasSubstr("fabric:PROVIDER"));
  EXPECT_THAT(message_of([] { (void)tiers::parse_node_tier("verbs:a:1"); }),
              HasSubstr("fabric:PROVIDER"));
}

}  // namespace
}  // namespace farvec
