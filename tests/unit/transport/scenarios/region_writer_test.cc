// What every writer of a node's memory does, over each transport.
#include "transport/region_writer.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/check.h"
#include "base/random.h"
#include "tests/unit/transport/await.h"
#include "transport/fabric/fabric_endpoint.h"
#include "transport/fabric/fabric_listener.h"
#include "transport/fabric/fabric_writer.h"
#include "transport/mapped/mapped_writer.h"
#include "transport/verbs/verbs_endpoint.h"
#include "transport/verbs/verbs_listener.h"
#include "transport/verbs/verbs_writer.h"

namespace farvec::transport {
namespace {

using namespace std::chrono_literals;

constexpr GrantLease kWriting{std::byte{9}, std::byte{8}};
constexpr GrantLease kReading{std::byte{1}, std::byte{2}};
constexpr std::size_t kLogBytes = 1u << 20;
constexpr std::size_t kFenceBytes = 4096;
constexpr std::uint32_t kUsualPiece = 256 * 1024;
/// Beyond what any writer here waits for.
constexpr auto kEndPatience = 30s;

/// A node's memory: the log between two ranges that nobody may touch.
class NodeMemory {
 public:
  NodeMemory() : fd_(memfd_create("farvec-test", MFD_CLOEXEC)) {
    FARVEC_CHECK(fd_ >= 0 && ftruncate(fd_, kLogBytes + 2 * kFenceBytes) == 0);
    regions_.push_back(MappedRegion::map_fd(fd_, 0, Access::read_write));
  }
  ~NodeMemory() { ::close(fd_); }
  NodeMemory(const NodeMemory&) = delete;
  NodeMemory& operator=(const NodeMemory&) = delete;

  int fd() const { return fd_; }
  std::span<std::byte> log() {
    return regions_[0].writable_bytes().subspan(kFenceBytes, kLogBytes);
  }
  bool fences_stand() const {
    const auto all = regions_[0].bytes();
    const auto is_zero = [](std::byte byte) { return byte == std::byte{0}; };
    return std::all_of(all.begin(), all.begin() + kFenceBytes, is_zero) &&
           std::all_of(all.end() - kFenceBytes, all.end(), is_zero);
  }

 private:
  int fd_;
  RegionSet regions_;
};

/// Each node: writer() and reader() connect, lease_ends() takes the writer's lease away, goes() is
/// the node's death.
class MappedNode {
 public:
  static std::string missing() { return ""; }
  explicit MappedNode(NodeMemory& memory) : memory_(memory) {}

  std::unique_ptr<RegionWriter> writer(std::uint32_t) {
    int ends[2];
    FARVEC_CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
    grant_ = Descriptor(ends[0]);
    return std::make_unique<MappedWriter>(map(Access::read_write), Descriptor(ends[1]));
  }
  std::unique_ptr<Endpoint> reader() {
    return std::make_unique<MappedEndpoint>(
        std::make_shared<const RegionSet>(map(Access::read_only)));
  }
  void lease_ends() { grant_.reset(); }
  void goes() { grant_.reset(); }

 private:
  RegionSet map(Access access) const {
    RegionSet regions;
    regions.push_back(MappedRegion::map_fd(memory_.fd(), kLogBytes, access, kFenceBytes));
    return regions;
  }
  NodeMemory& memory_;
  Descriptor grant_;
};

/// The rights that a listener's leases have.
struct Rights {
  std::atomic<bool> admits_writer{true};

  Authorise reading() const {
    return [](const GrantLease& lease) { return lease == kReading; };
  }
  WritableRegions writable(std::span<std::byte> log) const {
    return {{log}, [this](const GrantLease& lease) { return lease == kWriting && admits_writer; }};
  }
};

template <bool kDelivery>
class FabricNode {
 public:
  static std::string missing() { return ""; }
  explicit FabricNode(NodeMemory& memory)
      : listener_(std::make_unique<FabricListener>(FabricListenerOptions{"tcp", "127.0.0.1"},
                                                   GrantedRegions{memory.log()}, rights_.reading(),
                                                   rights_.writable(memory.log()))) {}

  std::unique_ptr<RegionWriter> writer(std::uint32_t piece_bytes) {
    FabricWriterOptions options;
    options.provider = "tcp";
    options.grant = listener_->grant(kWriting);
    options.lease = kWriting;
    options.piece_bytes = piece_bytes;
    options.max_outstanding = 4;
    options.delivery_complete = kDelivery;
    auto writer = std::make_unique<FabricWriter>(options);
    EXPECT_EQ(writer->completes_at_delivery(), kDelivery);
    return writer;
  }
  std::unique_ptr<Endpoint> reader() {
    FabricOptions options;
    options.provider = "tcp";
    options.grant = listener_->grant(kReading);
    options.lease = kReading;
    return std::make_unique<FabricEndpoint>(options);
  }
  void lease_ends() { rights_.admits_writer = false; }
  void goes() { listener_.reset(); }

 private:
  Rights rights_;
  std::unique_ptr<FabricListener> listener_;
};

template <bool kWindows>
class VerbsNode {
 public:
  static std::string missing() {
    const bool here = std::getenv("FARVEC_LAB_SELF") != nullptr &&
                      std::filesystem::exists("/sys/class/infiniband");
    return here ? ""
                : "no RDMA device (or FARVEC_LAB_SELF is not set): run this program through "
                  "scripts/lab/lab.sh run";
  }
  explicit VerbsNode(NodeMemory& memory)
      : listener_(std::make_unique<VerbsListener>(
            VerbsListenerOptions{.host = std::getenv("FARVEC_LAB_SELF"),
                                 .memory_windows = kWindows},
            GrantedRegions{memory.log()}, rights_.reading(), rights_.writable(memory.log()))) {}

  std::unique_ptr<RegionWriter> writer(std::uint32_t piece_bytes) {
    VerbsWriterOptions options;
    options.peer = peer(kWriting);
    options.piece_bytes = piece_bytes;
    options.max_outstanding = 4;
    return std::make_unique<VerbsWriter>(options);
  }
  std::unique_ptr<Endpoint> reader() {
    VerbsOptions options;
    options.peer = peer(kReading);
    return std::make_unique<VerbsEndpoint>(options);
  }
  void lease_ends() { rights_.admits_writer = false; }
  void goes() { listener_.reset(); }

 private:
  VerbsPeer peer(const GrantLease& lease) const {
    VerbsPeer peer;
    peer.host = std::getenv("FARVEC_LAB_SELF");
    peer.port = listener_->port();
    peer.lease = lease;
    return peer;
  }
  Rights rights_;
  std::unique_ptr<VerbsListener> listener_;
};

std::vector<std::byte> noise(std::size_t count, std::uint64_t seed) {
  Random random(seed);
  std::vector<std::byte> bytes(count);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random.next());
  return bytes;
}

template <typename Node>
class RegionWriterTest : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = Node::missing(); !why.empty()) GTEST_SKIP() << why;
    node_ = std::make_unique<Node>(memory_);
  }
  bool holds(std::size_t offset, std::span<const std::byte> bytes) {
    return std::equal(bytes.begin(), bytes.end(), memory_.log().data() + offset);
  }
  /// What ends a writer that goes on writing; ok when nothing does.
  static Status end_of(RegionWriter& writer) {
    const auto end = std::chrono::steady_clock::now() + kEndPatience;
    const std::vector<std::byte> bytes(100);
    while (writer.status().ok() && std::chrono::steady_clock::now() < end) {
      if (writer.write(0, 0, bytes).ok()) (void)writer.flush();
    }
    return writer.status();
  }

  NodeMemory memory_;
  std::unique_ptr<Node> node_;
};

TYPED_TEST_SUITE_P(RegionWriterTest);

TYPED_TEST_P(RegionWriterTest, WhatIsFlushedIsInTheNodesMemory) {
  const auto writer = this->node_->writer(1000);
  EXPECT_EQ(writer->region_bytes(0), kLogBytes);
  EXPECT_EQ(writer->region_bytes(1), 0u);
  EXPECT_TRUE(writer->flush().ok()) << "of nothing";
  for (const std::size_t count : {0, 1, 7, 8, 63, 64, 65, 999, 1000, 1001, 4097, 70'001}) {
    const auto bytes = noise(count, count);
    const std::size_t offset = 3 * count;
    ASSERT_TRUE(writer->write(0, offset, bytes).ok()) << count;
    const Status flushed = writer->flush();
    ASSERT_TRUE(flushed.ok()) << count << ": " << flushed.message();
    EXPECT_TRUE(this->holds(offset, bytes)) << count;
  }
  EXPECT_TRUE(this->memory_.fences_stand());
}

TYPED_TEST_P(RegionWriterTest, FillsARegionToItsLastByteInPieces) {
  for (const std::uint32_t piece : {kUsualPiece, 777u}) {
    const auto writer = this->node_->writer(piece);
    const auto bytes = noise(kLogBytes, piece);
    ASSERT_TRUE(writer->write(0, 0, bytes).ok());
    const Status flushed = writer->flush();
    ASSERT_TRUE(flushed.ok()) << flushed.message();
    EXPECT_TRUE(this->holds(0, bytes));
    if (piece != kUsualPiece) break;
    this->node_->lease_ends();  // verbs takes one writer at a time
    EXPECT_FALSE(this->end_of(*writer).ok());
    this->node_ = std::make_unique<TypeParam>(this->memory_);
  }
  EXPECT_TRUE(this->memory_.fences_stand());
}

TYPED_TEST_P(RegionWriterTest, WritesAreCarriedOutInOrder) {
  const auto writer = this->node_->writer(100);
  std::vector<std::byte> expected(3000);
  for (std::uint64_t i = 0; i < 200; ++i) {
    const auto bytes = noise(1 + i * 13 % 900, i);
    const std::size_t offset = i * 37 % 2000;
    ASSERT_TRUE(writer->write(0, offset, bytes).ok());
    std::copy(bytes.begin(), bytes.end(), expected.begin() + static_cast<std::ptrdiff_t>(offset));
  }
  ASSERT_TRUE(writer->flush().ok());
  EXPECT_TRUE(this->holds(0, expected));
}

TYPED_TEST_P(RegionWriterTest, RefusesWhatIsOutsideARegionAndLivesOn) {
  const auto writer = this->node_->writer(kUsualPiece);
  const auto bytes = noise(64, 1);
  EXPECT_EQ(writer->write(0, kLogBytes - 63, bytes).code(), StatusCode::invalid_argument);
  EXPECT_EQ(writer->write(0, kLogBytes + 1, {}).code(), StatusCode::invalid_argument);
  EXPECT_EQ(writer->write(0, ~0ull - 3, bytes).code(), StatusCode::invalid_argument);
  EXPECT_EQ(writer->write(1, 0, bytes).code(), StatusCode::invalid_argument);
  EXPECT_TRUE(this->holds(0, std::vector<std::byte>(kLogBytes))) << "nothing has happened";
  EXPECT_TRUE(writer->write(0, kLogBytes - 64, bytes).ok());
  EXPECT_TRUE(writer->flush().ok());
  EXPECT_TRUE(this->holds(kLogBytes - 64, bytes));
  EXPECT_TRUE(this->memory_.fences_stand());
}

TYPED_TEST_P(RegionWriterTest, AReaderReadsWhatWasFlushed) {
  const auto writer = this->node_->writer(kUsualPiece);
  const auto reader = this->node_->reader();
  std::vector<std::byte> found(50'000);
  reader->register_memory(found);
  for (std::uint64_t i = 0; i < 20; ++i) {
    const auto bytes = noise(found.size(), i);
    ASSERT_TRUE(writer->write(0, 1234 * i, bytes).ok());
    ASSERT_TRUE(writer->flush().ok());
    const ReadRequest read{i, 0, static_cast<std::uint32_t>(found.size()), 1234 * i, found.data()};
    ASSERT_TRUE(reader->post({&read, 1}).ok());
    const auto done = await(*reader, 1);
    ASSERT_EQ(done.size(), 1u);
    ASSERT_EQ(done[0].status, StatusCode::ok);
    EXPECT_EQ(found, bytes) << i;
  }
}

TYPED_TEST_P(RegionWriterTest, TheEndOfTheLeaseEndsTheWriter) {
  const auto writer = this->node_->writer(kUsualPiece);
  ASSERT_TRUE(writer->write(0, 0, noise(64, 1)).ok());
  ASSERT_TRUE(writer->flush().ok());
  this->node_->lease_ends();
  const Status ended = this->end_of(*writer);
  ASSERT_FALSE(ended.ok());
  const auto log = this->memory_.log();
  const std::vector<std::byte> before(log.begin(), log.end());
  EXPECT_EQ(writer->write(0, 0, noise(64, 2)).code(), ended.code());
  EXPECT_EQ(writer->flush().code(), ended.code());
  EXPECT_TRUE(this->holds(0, before));
}

TYPED_TEST_P(RegionWriterTest, ANodeThatGoesEndsTheWriter) {
  const auto writer = this->node_->writer(kUsualPiece);
  ASSERT_TRUE(writer->write(0, 0, noise(kLogBytes, 1)).ok());
  this->node_->goes();
  const Status ended = this->end_of(*writer);
  EXPECT_FALSE(ended.ok());
  EXPECT_EQ(writer->flush().code(), ended.code());
}

REGISTER_TYPED_TEST_SUITE_P(RegionWriterTest, WhatIsFlushedIsInTheNodesMemory,
                            FillsARegionToItsLastByteInPieces, WritesAreCarriedOutInOrder,
                            RefusesWhatIsOutsideARegionAndLivesOn, AReaderReadsWhatWasFlushed,
                            TheEndOfTheLeaseEndsTheWriter, ANodeThatGoesEndsTheWriter);

struct NodeNames {
  template <typename Node>
  static std::string GetName(int) {
    if (std::is_same_v<Node, MappedNode>) return "mapped";
    if (std::is_same_v<Node, FabricNode<true>>) return "fabric_delivery";
    if (std::is_same_v<Node, FabricNode<false>>) return "fabric_read_back";
    return std::is_same_v<Node, VerbsNode<true>> ? "windows" : "registrations";
  }
};

using NodesHere = testing::Types<MappedNode, FabricNode<true>, FabricNode<false>>;
INSTANTIATE_TYPED_TEST_SUITE_P(Here, RegionWriterTest, NodesHere, NodeNames);
/// Named so that they run where there is a device (tests/rdma/).
using VerbsNodes = testing::Types<VerbsNode<true>, VerbsNode<false>>;
INSTANTIATE_TYPED_TEST_SUITE_P(Verbs, RegionWriterTest, VerbsNodes, NodeNames);

}  // namespace
}  // namespace farvec::transport
