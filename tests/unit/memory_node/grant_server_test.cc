#include "memory_node/grant_server.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <filesystem>
#include <thread>

#include "base/error.h"
#include "base/status.h"
#include "tests/unit/temporary_folder.h"

namespace farvec::memory_node {
namespace {

using namespace std::chrono_literals;
using rpc::GrantReply;
using rpc::GrantRequest;

constexpr std::uint64_t kRegionBytes = 10'000;
constexpr auto kPatience = 20s;  // of the test; far beyond what anything here takes

/// Lets the process have no descriptor of that number or above while it lives.
class DescriptorLimit {
 public:
  explicit DescriptorLimit(int limit) {
    getrlimit(RLIMIT_NOFILE, &before_);
    rlimit lowered = before_;
    lowered.rlim_cur = static_cast<rlim_t>(limit);
    EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &lowered), 0);
  }
  ~DescriptorLimit() { setrlimit(RLIMIT_NOFILE, &before_); }
  DescriptorLimit(const DescriptorLimit&) = delete;
  DescriptorLimit& operator=(const DescriptorLimit&) = delete;

  static int next_descriptor() { return Descriptor(dup(STDERR_FILENO)).get(); }

 private:
  rlimit before_{};
};

class GrantServerTest : public testing::Test {
 protected:
  void start(GrantServer::Options options = {}) {
    options.path = path_;
    server_ = std::make_unique<GrantServer>(options, leases_);
  }
  void publish() {
    auto table = std::make_shared<RegionTable>();
    Region region{0, "records", kRegionBytes, open_backing({}, "records", kRegionBytes)};
    region.backing->bytes()[7] = std::byte{42};
    region.backing->seal();
    table->regions.push_back(std::move(region));
    auto publication = std::make_shared<Publication>();
    publication->table = std::move(table);
    published_.publish(std::move(publication));
  }
  Descriptor connect() const {
    Descriptor socket = rpc::connect_unix(path_);
    rpc::set_socket_timeout(socket.get(), kPatience);
    return socket;
  }
  GrantRequest request_for(const LeaseId& lease) const {
    GrantRequest request;
    static_assert(sizeof(lease) == sizeof(request.lease));
    std::memcpy(request.lease.data(), lease.data(), sizeof(lease));
    return request;
  }
  LeaseId lease() {
    return *leases_.grant("local", LeaseTable::Clock::now(), LeaseKind::read, published_.current());
  }

  static void send(const Descriptor& socket, const GrantRequest& request) {
    rpc::send_message(socket.get(), std::as_bytes(std::span(&request, 1)), {});
  }
  /// The reply's status; the descriptors go to descriptors_.
  StatusCode answer(const Descriptor& socket) {
    GrantReply reply;
    descriptors_ = rpc::receive_message(socket.get(), std::as_writable_bytes(std::span(&reply, 1)));
    EXPECT_EQ(reply.magic, rpc::kGrantMagic);
    EXPECT_EQ(reply.descriptors, descriptors_.size());
    return static_cast<StatusCode>(reply.status);
  }
  /// True when the server closes the connection.
  static bool is_cut_off(const Descriptor& socket) {
    std::byte byte{};
    try {
      rpc::receive_message(socket.get(), std::span(&byte, 1));
    } catch (const SystemError& error) {
      return error.code == ECONNRESET;
    }
    return false;
  }

  tests::TemporaryFolder folder_;
  std::string path_ = folder_.file("grant");
  LeaseTable leases_{8, 60s};
  Publications published_;
  std::vector<Descriptor> descriptors_;
  std::unique_ptr<GrantServer> server_;
};

TEST_F(GrantServerTest, GrantsReadingAndNothingElse) {
  publish();
  start();
  const auto socket = connect();
  send(socket, request_for(lease()));
  ASSERT_EQ(answer(socket), StatusCode::ok);
  ASSERT_EQ(descriptors_.size(), 1u);
  const auto region = transport::MappedRegion::map_fd(descriptors_[0].get(), kRegionBytes);
  EXPECT_EQ(region.bytes()[7], std::byte{42});
  EXPECT_EQ(mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, descriptors_[0].get(), 0),
            MAP_FAILED);
}

TEST_F(GrantServerTest, GrantsWritingToALeaseForIt) {
  auto table = std::make_shared<RegionTable>();
  table->regions.push_back({0, "log", kRegionBytes, open_backing({}, "log", kRegionBytes)});
  Backing& log = *table->regions[0].backing;
  log.seal_length();
  auto publication = std::make_shared<Publication>();
  publication->table = std::move(table);
  start();
  const auto writing =
      *leases_.grant("local", LeaseTable::Clock::now(), LeaseKind::write, publication);
  {
    const auto socket = connect();
    send(socket, request_for(writing));
    ASSERT_EQ(answer(socket), StatusCode::ok);
    ASSERT_EQ(descriptors_.size(), 1u);
    auto region = transport::MappedRegion::map_fd(descriptors_[0].get(), kRegionBytes,
                                                  transport::Access::read_write);
    region.writable_bytes()[9] = std::byte{5};
    EXPECT_EQ(log.bytes()[9], std::byte{5});
    EXPECT_TRUE(leases_.holds(writing, LeaseTable::Clock::now(), LeaseKind::write));
  }
  const auto end = std::chrono::steady_clock::now() + kPatience;
  while (leases_.size() > 0 && std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(1ms);
  }
  EXPECT_EQ(leases_.size(), 0u) << "its writer has hung up";
  const auto reading =
      *leases_.grant("local", LeaseTable::Clock::now(), LeaseKind::read, publication);
  const auto socket = connect();
  send(socket, request_for(reading));
  ASSERT_EQ(answer(socket), StatusCode::ok);
  EXPECT_EQ(mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, descriptors_[0].get(), 0),
            MAP_FAILED);
}

TEST_F(GrantServerTest, RefusesGarbageAndOtherVersions) {
  publish();
  start();
  GrantRequest garbage = request_for(lease());
  garbage.magic = 0x20544547;  // "GET "
  GrantRequest newer = request_for(lease());
  newer.version = rpc::kGrantVersion + 1;
  for (const GrantRequest& request : {garbage, newer}) {
    const auto socket = connect();
    send(socket, request);
    EXPECT_EQ(answer(socket), StatusCode::invalid_argument);
    EXPECT_TRUE(descriptors_.empty());
    EXPECT_TRUE(is_cut_off(socket));
  }
}

TEST_F(GrantServerTest, RefusesUnknownLeasesAndThoseWithoutRegions) {
  start();
  const auto early = connect();
  send(early, request_for(lease()));
  EXPECT_EQ(answer(early), StatusCode::not_found);
  publish();
  const auto guessed = connect();
  send(guessed, GrantRequest{});
  EXPECT_EQ(answer(guessed), StatusCode::not_found);
  EXPECT_TRUE(descriptors_.empty());
}

TEST_F(GrantServerTest, CutsOffWhoSaysTooLittle) {
  publish();
  start({.path = {}, .max_connections = 80, .patience = 50ms});
  const auto silent = connect();
  const auto half = connect();
  const GrantRequest request = request_for(lease());
  rpc::send_message(half.get(), std::as_bytes(std::span(&request, 1)).first(10), {});
  EXPECT_TRUE(is_cut_off(silent));
  EXPECT_TRUE(is_cut_off(half));
}

TEST_F(GrantServerTest, CutsOffWhoSaysTooMuch) {
  publish();
  start();
  const auto socket = connect();
  send(socket, request_for(lease()));
  ASSERT_EQ(answer(socket), StatusCode::ok);
  send(socket, GrantRequest{});
  EXPECT_TRUE(is_cut_off(socket));
  EXPECT_EQ(leases_.size(), 0u);
}

TEST_F(GrantServerTest, SilentClientsDoNotKeepOthersOut) {
  publish();
  start({.path = {}, .max_connections = 2, .patience = 50ms});
  const auto first = connect();
  const auto second = connect();
  const auto third = connect();  // waits in the socket's queue until the others are cut off
  send(third, request_for(lease()));
  EXPECT_EQ(answer(third), StatusCode::ok);
}

TEST_F(GrantServerTest, AClientThatGoesGivesItsLeaseBack) {
  publish();
  start();
  {
    const auto socket = connect();
    send(socket, request_for(lease()));
    ASSERT_EQ(answer(socket), StatusCode::ok);
  }
  const auto end = std::chrono::steady_clock::now() + kPatience;
  while (leases_.size() > 0 && std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(1ms);
  }
  EXPECT_EQ(leases_.size(), 0u);
}

TEST_F(GrantServerTest, APathHasOneServerAndIsLeftEmpty) {
  start();
  std::filesystem::remove(path_);  // nobody can reach it, and yet the path is taken
  EXPECT_THROW(GrantServer({.path = path_}, leases_), Error);
  server_.reset();
  EXPECT_EQ(folder_.entries(), 0u);
  start();
  EXPECT_TRUE(rpc::someone_listens(path_));
}

TEST_F(GrantServerTest, AClientThatCannotBeAcceptedYetIsServedLater) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the sanitizer's own checks need a file descriptor";
#endif
  publish();
  start();
  Descriptor client(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  {
    const DescriptorLimit none_left(DescriptorLimit::next_descriptor());
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path_.copy(address.sun_path, sizeof(address.sun_path) - 1);
    ASSERT_EQ(::connect(client.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
    send(client, request_for(lease()));
    std::this_thread::sleep_for(300ms);  // several attempts to accept it
  }
  rpc::set_socket_timeout(client.get(), kPatience);
  EXPECT_EQ(answer(client), StatusCode::ok);
}

TEST_F(GrantServerTest, HangsUpWhenItCannotPoll) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the sanitizer's own checks need a file descriptor";
#endif
  publish();
  start();
  const auto waiting = connect();
  const auto attached = connect();
  send(attached, request_for(lease()));
  ASSERT_EQ(answer(attached), StatusCode::ok);
  {
    const DescriptorLimit fewer_than_it_polls(1);
    EXPECT_TRUE(is_cut_off(waiting));
    EXPECT_TRUE(is_cut_off(attached));
  }
  EXPECT_FALSE(rpc::someone_listens(path_));
  EXPECT_EQ(leases_.size(), 0u);
}

TEST_F(GrantServerTest, ALeaseThatEndsClosesItsConnection) {
  publish();
  start();
  const LeaseId mine = lease();
  const auto socket = connect();
  send(socket, request_for(mine));
  ASSERT_EQ(answer(socket), StatusCode::ok);
  leases_.revoke(mine);
  EXPECT_TRUE(is_cut_off(socket));
}

}  // namespace
}  // namespace farvec::memory_node
