// farvec-memory-node as a process, seen by a client.
#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <thread>

#include "base/error.h"
#include "rpc/channel.h"
#include "tests/e2e/child_process.h"
#include "tests/unit/layout/index/index_fixture.h"
#include "tiers/attach/attachment.h"

namespace farvec {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
namespace v1 = memory_node::v1;

class MemoryNodeE2e : public testing::Test {
 protected:
  MemoryNodeE2e() { index_.write(directory_); }

  std::vector<std::string> command(std::vector<std::string> more = {}) const {
    std::vector<std::string> words{tests::program("farvec-memory-node"), "--index", directory_,
                                   "--listen", address_};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
  tiers::AttachOptions attach_options() const {
    tiers::AttachOptions options;
    options.memory_node = rpc::parse_address(address_);
    options.wait = 60s;
    return options;
  }
  std::unique_ptr<tiers::Attachment> attach() const {
    return tiers::Attachment::attach(attach_options());
  }
  static bool dies(const tiers::Attachment& attachment) {
    for (int i = 0; i < 6000 && attachment.alive(); ++i) std::this_thread::sleep_for(5ms);
    return !attachment.alive();
  }
  std::string run_to_failure(std::vector<std::string> words) {
    tests::ChildProcess node(std::move(words));
    EXPECT_EQ(node.wait(), 1);
    return node.output();
  }

  layout::TemporaryFolder folder_;
  std::string directory_ = (folder_.path() / "index").string();
  std::string address_ = "unix:" + (folder_.path() / "node.sock").string();
  layout::RandomIndex index_;
};

TEST_F(MemoryNodeE2e, ServesTheBytesOfTheIndex) {
  const std::vector<std::vector<std::string>> backings{
      {"--backing", "dram"},
      {"--backing", "shm", "--backing-path", folder_.path().filename().string()},
      {"--backing", "file", "--backing-path", folder_.path().string()}};
  for (const auto& backing : backings) {
    tests::ChildProcess node(command(backing));
    {
      const auto attachment = attach();
      EXPECT_TRUE(attachment->alive());
      const auto disk = layout::IndexDirectory::open(directory_);
      for (std::uint32_t region = 0; region < layout::kRegionCount; ++region) {
        const HugeBuffer expected =
            disk.load_region(region, {.threads = 1, .quiet = true, .on_chunk = {}});
        const auto endpoint = attachment->make_endpoint();
        ASSERT_EQ(endpoint->region_bytes(region), expected.size());
        EXPECT_EQ(std::memcmp((*attachment->regions())[region].bytes().data(), expected.data(),
                              expected.size()),
                  0);
      }
    }
    node.signal(SIGTERM);
    EXPECT_EQ(node.wait(), 0) << node.output();
  }
  EXPECT_FALSE(
      std::filesystem::exists("/dev/shm/" + folder_.path().filename().string() + "-records.csr"));
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "records.csr.farvec"));
}

TEST_F(MemoryNodeE2e, DescribeStatsHealthAndDetach) {
  tests::ChildProcess node(command({"--max-leases", "1"}));
  auto attachment = attach();
  const auto channel = rpc::connect(rpc::parse_address(address_));
  EXPECT_TRUE(rpc::is_serving(channel, 10s));
  const auto stub = v1::MemoryNode::NewStub(channel);
  v1::DescribeResponse description;
  grpc::ClientContext describe;
  ASSERT_TRUE(stub->Describe(&describe, {}, &description).ok());
  EXPECT_EQ(description.state(), v1::STATE_SERVING);
  EXPECT_EQ(description.generation(), attachment->generation());
  EXPECT_EQ(description.regions_size(), 3);
  EXPECT_EQ(description.loaded_bytes(), description.total_bytes());

  v1::AttachResponse second;
  grpc::ClientContext attach_again;
  EXPECT_EQ(stub->Attach(&attach_again, {}, &second).error_code(),
            grpc::StatusCode::RESOURCE_EXHAUSTED);
  attachment.reset();
  v1::StatsResponse stats;
  grpc::ClientContext context;
  ASSERT_TRUE(stub->Stats(&context, {}, &stats).ok());
  EXPECT_EQ(stats.leases(), 0u);
  EXPECT_EQ(stats.attaches(), 1u);
  EXPECT_EQ(stats.detaches(), 1u);
  EXPECT_TRUE(attach()->alive());
}

TEST_F(MemoryNodeE2e, KillIsNoticedByTheClient) {
  tests::ChildProcess node(command());
  const auto attachment = attach();
  const auto endpoint = attachment->make_endpoint();
  std::byte bytes[64];
  const transport::ReadRequest read{
      .token = 1, .region = 0, .bytes = sizeof(bytes), .offset = 0, .destination = bytes};
  ASSERT_TRUE(endpoint->post({&read, 1}).ok());
  node.signal(SIGKILL);
  ASSERT_TRUE(dies(*attachment));
  transport::Completion completion;
  ASSERT_EQ(endpoint->poll({&completion, 1}), 1u);
  EXPECT_EQ(completion.status, StatusCode::unavailable);
  EXPECT_EQ(endpoint->post({&read, 1}).code(), StatusCode::unavailable);

  tests::ChildProcess again(command());  // over the dead node's socket files
  EXPECT_NE(attach()->generation(), attachment->generation());
}

TEST_F(MemoryNodeE2e, DrainIsBoundedWhenAClientStays) {
  tests::ChildProcess node(command({"--drain-seconds", "0.2"}));
  const auto attachment = attach();
  node.signal(SIGTERM);
  EXPECT_EQ(node.wait(), 0);
  EXPECT_THAT(node.output(), HasSubstr("1 leases did not come back"));
  EXPECT_TRUE(dies(*attachment));
}

TEST_F(MemoryNodeE2e, SilentLeaseExpires) {
  tests::ChildProcess node(command({"--lease-seconds", "1.5"}));
  const auto kept = attach();
  std::this_thread::sleep_for(2500ms);
  EXPECT_TRUE(kept->alive());  // renewed meanwhile
  node.signal(SIGSTOP);
  EXPECT_TRUE(dies(*kept));  // a frozen node renews nothing
  node.signal(SIGCONT);
}

TEST_F(MemoryNodeE2e, TwoOnOneAddress) {
  tests::ChildProcess first(command());
  const auto attachment = attach();
  const std::string message = run_to_failure(command());
  EXPECT_THAT(message, HasSubstr(address_));
  EXPECT_THAT(message, HasSubstr("already listens"));
  EXPECT_TRUE(attachment->alive());

  address_ = "127.0.0.1:0";
  tests::ChildProcess tcp(command({"--grant", folder_.path() / "grant"}));
  ASSERT_TRUE(tcp.wait_for_output("serving"));
  const std::string output = tcp.output();
  const std::size_t at = output.find("127.0.0.1:");
  address_ = output.substr(at, output.find(": ", at) - at);
  const std::string tcp_message = run_to_failure(command());
  EXPECT_THAT(tcp_message, HasSubstr(address_));
  EXPECT_THAT(tcp_message, HasSubstr("already listens"));
}

TEST_F(MemoryNodeE2e, DamagedRegionIsRefused) {
  const auto region = layout::IndexDirectory::open(directory_).region_path(0);
  {
    std::fstream file(region, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(5000);
    file.put('\x7f');
    file.put('\x01');
  }
  const std::string message = run_to_failure(command());
  EXPECT_THAT(message, HasSubstr(region.string()));
  EXPECT_THAT(message, HasSubstr("chunk 0"));
}

TEST_F(MemoryNodeE2e, MissingIndexAndOpenAddressAreRefused) {
  const std::string index = std::exchange(directory_, "/nonexistent/index");
  EXPECT_THAT(run_to_failure(command()), HasSubstr("/nonexistent/index"));
  directory_ = index;
  address_ = "0.0.0.0:0";
  EXPECT_THAT(run_to_failure(command()), HasSubstr("--insecure"));
}

TEST_F(MemoryNodeE2e, SigtermDuringLoadEndsCleanly) {
  // Several chunks per region; wherever in the load or just after it the signal falls, nothing
  // stays.
  index_ = layout::RandomIndex(400'000);
  index_.write(directory_, true);
  const std::string name = folder_.path().filename().string();
  tests::ChildProcess node(command({"--backing", "shm", "--backing-path", name, "--threads", "1"}));
  const auto shm = "/dev/shm/" + name + "-records.csr";
  for (int i = 0; i < 60'000 && !std::filesystem::exists(shm) && !node.wait(0ms); ++i) {
    std::this_thread::sleep_for(1ms);
  }
  node.signal(SIGTERM);
  EXPECT_EQ(node.wait(), 0) << node.output();
  EXPECT_FALSE(std::filesystem::exists(shm));
}

TEST_F(MemoryNodeE2e, HelpTeachesAndVersionIsShort) {
  for (const char* flag : {"--help", "--version"}) {
    tests::ChildProcess node({tests::program("farvec-memory-node"), flag});
    EXPECT_EQ(node.wait(), 0);
    EXPECT_THAT(node.output(), HasSubstr("farvec-memory-node"));
    const bool help = std::string(flag) == "--help";
    EXPECT_EQ(node.output().find("Example") != std::string::npos, help);
  }
}

}  // namespace
}  // namespace farvec
