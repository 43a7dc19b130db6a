// A node in another process that stops or dies, over the tcp provider and the loopback device.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <string>

#include "tests/unit/transport/fabric_fixture.h"

namespace farvec::transport {
namespace {

using testing::HasSubstr;
using namespace std::chrono_literals;

/// A node in another process, to be killed.
class ChildNode {
 public:
  explicit ChildNode(const GrantedRegions& regions) {
    int ends[2];
    FARVEC_CHECK(pipe(ends) == 0);
    pid_ = fork();
    FARVEC_CHECK(pid_ >= 0);
    if (pid_ == 0) {
      (void)prctl(PR_SET_PDEATHSIG, SIGKILL);  // ends with the test, however that ends
      FabricListener listener({"tcp", kHost}, regions, [](const GrantLease&) { return true; });
      const std::string grant = listener.grant(kLease);
      (void)!write(ends[1], grant.data(), grant.size());
      close(ends[1]);
      pause();
      _exit(0);
    }
    close(ends[1]);
    char bytes[4096];
    for (ssize_t got = 0; (got = ::read(ends[0], bytes, sizeof(bytes))) > 0;) {
      grant_.append(bytes, static_cast<std::size_t>(got));
    }
    close(ends[0]);
  }
  ~ChildNode() { end(); }
  ChildNode(const ChildNode&) = delete;
  ChildNode& operator=(const ChildNode&) = delete;

  const std::string& grant() const { return grant_; }
  /// Returns when it has stopped.
  void stop() const {
    kill(pid_, SIGSTOP);
    waitpid(pid_, nullptr, WUNTRACED);
  }
  void end() {
    if (pid_ <= 0) return;
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    pid_ = 0;
  }

 private:
  pid_t pid_ = 0;
  std::string grant_;
};

TEST(FabricPeerTest, ADeadPeerEndsEveryRead) {
  const auto regions = random_regions();
  ChildNode node(spans_of(*regions));
  FabricOptions options;
  options.provider = "tcp";
  options.grant = node.grant();
  options.lease = kLease;
  FabricEndpoint endpoint(options);
  std::vector<std::byte> buffer(100 * 8192);
  endpoint.register_memory(buffer);
  std::vector<ReadRequest> reads;
  for (std::uint32_t i = 0; i < 100; ++i) reads.push_back({i, 0, 8192, i, &buffer[i * 8192]});
  node.stop();  // so that reads are outstanding for certain
  ASSERT_TRUE(endpoint.post(reads).ok());
  const auto probe = collect(endpoint, reads.size());
  const std::size_t early = probe.size();
  if (early > 0) std::fprintf(stderr, "early status %d\n", static_cast<int>(probe[0].status));
  ASSERT_LT(early, reads.size());
  node.end();
  const std::vector<Completion> rest = await(endpoint, reads.size() - early);
  EXPECT_EQ(rest.size(), reads.size() - early);
  ASSERT_FALSE(rest.empty());
  EXPECT_EQ(rest.back().status, StatusCode::unavailable);
  EXPECT_EQ(endpoint.post({reads.data(), 1}).code(), StatusCode::unavailable);
}

TEST(FabricPeerTest, ASilentPeerIsNotConnectedTo) {
  const auto regions = random_regions();
  const ChildNode node(spans_of(*regions));
  node.stop();
  FabricOptions options;
  options.provider = "tcp";
  options.grant = node.grant();
  options.lease = kLease;
  options.peer = "the silent node";
  options.connect_timeout = 300ms;
  try {
    FabricEndpoint endpoint(options);
    FAIL() << "connected";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("the silent node"));
  }
}

}  // namespace
}  // namespace farvec::transport
