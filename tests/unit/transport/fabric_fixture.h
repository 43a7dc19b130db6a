// A node's end of libfabric for tests: over the tcp provider and the loopback device, which every
// machine has.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/check.h"
#include "base/error.h"
#include "tests/unit/transport/await.h"
#include "transport/fabric/fabric_endpoint.h"
#include "transport/fabric/fabric_listener.h"

namespace farvec::transport {

inline constexpr GrantLease kLease{std::byte{1}, std::byte{2}};
inline constexpr GrantLease kOtherLease{std::byte{3}};
inline constexpr const char* kHost = "127.0.0.1";

/// What libfabric's libraries would like to change in a process.
struct ProcessState {
  ProcessState() {
    for (const int number : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGINT, SIGTERM}) {
      struct sigaction now {};
      FARVEC_CHECK(sigaction(number, nullptr, &now) == 0);
      handlers[number] = now.sa_handler;
    }
    for (char** entry = environ; *entry != nullptr; ++entry) environment.emplace_back(*entry);
  }

  std::map<int, void (*)(int)> handlers;
  std::vector<std::string> environment;
};

/// Taken before the first of these tests, which loads libfabric.
inline const ProcessState& state_at_start() {
  static const ProcessState state;
  return state;
}

class FabricTest : public testing::Test {
 protected:
  void listen(const std::string& provider = "tcp", const std::string& host = kHost) {
    provider_ = provider;
    listener_ =
        std::make_unique<FabricListener>(FabricListenerOptions{provider, host}, spans_of(*regions_),
                                         [this](const GrantLease&) { return admits_.load(); });
  }
  FabricTest() { (void)state_at_start(); }

  void SetUp() override { listen(); }
  void TearDown() override {
    const ProcessState now;
    for (const auto& [number, handler] : state_at_start().handlers) {
      EXPECT_EQ(now.handlers.at(number), handler) << strsignal(number);
    }
    EXPECT_EQ(now.environment, state_at_start().environment);
  }

  FabricOptions options(const GrantLease& lease = kLease) {
    FabricOptions options;
    options.provider = provider_;
    options.grant = listener_->grant(lease);
    options.lease = lease;
    options.peer = "the node under test";
    return options;
  }
  std::unique_ptr<FabricEndpoint> connect(const FabricOptions& options) {
    auto endpoint = std::make_unique<FabricEndpoint>(options);
    endpoint->register_memory(buffer_);
    return endpoint;
  }
  std::string refusal(const FabricOptions& options) {
    try {
      FabricEndpoint endpoint(options);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }
  /// The grant of `options`, changed as a peer that lies would.
  static void forge(FabricOptions& options, const std::function<void(FabricGrant&)>& change) {
    FabricGrant grant = decode_grant(std::as_bytes(std::span(options.grant)), "test");
    change(grant);
    options.grant = encode_grant(grant);
  }
  ReadRequest read(std::uint64_t token, std::uint64_t offset, std::uint32_t bytes) {
    return {token, 0, bytes, offset, buffer_.data() + token * 8192};
  }
  bool arrived(const ReadRequest& read) const {
    return std::memcmp(read.destination, (*regions_)[read.region].bytes().data() + read.offset,
                       read.bytes) == 0;
  }
  StatusCode outcome(FabricEndpoint& endpoint, const ReadRequest& read) {
    if (const Status status = endpoint.post({&read, 1}); !status.ok()) return status.code();
    const auto done = await(endpoint, 1);
    return done.empty() ? StatusCode::deadline_exceeded : done[0].status;
  }

  std::shared_ptr<const RegionSet> regions_ = random_regions();
  std::vector<std::byte> buffer_ = std::vector<std::byte>(1 << 21);
  std::atomic<bool> admits_{true};
  std::string provider_;
  std::unique_ptr<FabricListener> listener_;
};

}  // namespace farvec::transport
