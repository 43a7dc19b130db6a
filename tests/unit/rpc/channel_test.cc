#include "rpc/channel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <thread>

#include "base/check.h"
#include "rpc/memory_node.grpc.pb.h"
#include "rpc/server.h"
#include "rpc/unix_socket.h"
#include "tests/unit/message_of.h"
#include "tests/unit/temporary_folder.h"

namespace farvec::rpc {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using tests::message_of;

/// A port of this machine that is taken and on which nobody listens.
class ClosedPort {
 public:
  ClosedPort() : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in any{};
    any.sin_family = AF_INET;
    any.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof(any);
    auto* const address = reinterpret_cast<sockaddr*>(&any);
    EXPECT_EQ(bind(socket_.get(), address, length), 0);
    EXPECT_EQ(getsockname(socket_.get(), address, &length), 0);
    address_ = parse_address(fmt::format("127.0.0.1:{}", ntohs(any.sin_port)));
  }
  const Address& address() const { return address_; }
  int socket() const { return socket_.get(); }

 private:
  Descriptor socket_;
  Address address_;
};

/// A web proxy on a loopback port that knows no way to anywhere.
class UselessProxy {
 public:
  UselessProxy() {
    FARVEC_CHECK(listen(port_.socket(), 16) == 0);
    thread_ = std::thread([this] { run(); });
  }
  ~UselessProxy() {
    shutdown(port_.socket(), SHUT_RDWR);  // accept() ends
    thread_.join();
  }
  std::string url() const { return "http://" + to_string(port_.address()); }
  int asked() const { return asked_.load(); }

 private:
  void run() {
    for (;;) {
      const Descriptor client(accept4(port_.socket(), nullptr, nullptr, SOCK_CLOEXEC));
      if (!client.valid()) return;
      ++asked_;
      set_socket_timeout(client.get(), 1s);
      std::array<char, 4096> request;
      (void)recv(client.get(), request.data(), request.size(), 0);
      constexpr std::string_view kAnswer = "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n";
      (void)send(client.get(), kAnswer.data(), kAnswer.size(), MSG_NOSIGNAL);
    }
  }

  ClosedPort port_;
  std::atomic<int> asked_{0};
  std::thread thread_;
};

/// An environment variable with another value, or without one, as long as this lives.
class Environment {
 public:
  Environment(const char* name, const char* value) : name_(name) {
    if (const char* before = std::getenv(name)) before_ = before;
    value != nullptr ? setenv(name, value, 1) : unsetenv(name);
  }
  ~Environment() { before_ ? setenv(name_, before_->c_str(), 1) : unsetenv(name_); }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

 private:
  const char* const name_;
  std::optional<std::string> before_;
};

/// An hour: a test that waits ends with its time-out.
ConnectOptions at_once() {
  ConnectOptions options;
  options.wait = 1h;
  options.await_listener = false;
  return options;
}

TEST(Channel, APortThatRefusesIsToldAtOnce) {
  const ClosedPort port;
  EXPECT_THROW(connect(port.address(), at_once()), NobodyListens);
  const std::string message = message_of([&] { connect(port.address(), at_once()); });
  EXPECT_THAT(message, AllOf(HasSubstr("nothing listens at " + to_string(port.address())),
                             HasSubstr("connection refused"), Not(HasSubstr("waited"))));
}

TEST(Channel, ASocketThatIsNotThereIsToldAtOnce) {
  const tests::TemporaryFolder folder;
  const Address address = parse_address("unix:" + folder.file("s"));
  EXPECT_THROW(connect(address, at_once()), NobodyListens);
}

TEST(Channel, WhoAsksForItWaitsAtAPortThatRefuses) {
  const ClosedPort port;
  ConnectOptions options;
  options.wait = 300ms;
  const std::string message = message_of([&] { connect(port.address(), options); });
  EXPECT_THAT(message, HasSubstr("waited 0.3 s for " + to_string(port.address())));
}

TEST(Channel, GoesPastAWebProxy) {
  UselessProxy proxy;
  const Environment http("http_proxy", proxy.url().c_str());
  const Environment https("https_proxy", proxy.url().c_str());
  const Environment grpc("grpc_proxy", nullptr);
  const Environment except_grpc("no_grpc_proxy", nullptr);
  const Environment except("no_proxy", nullptr);
  ServerOptions options;
  options.address = parse_address("127.0.0.1:0");
  Server server(std::move(options));
  server.set_serving(true);
  std::shared_ptr<grpc::Channel> channel;
  EXPECT_EQ(message_of([&] { channel = connect(server.address()); }), "");
  EXPECT_TRUE(channel != nullptr && is_serving(channel, 20s));
  EXPECT_EQ(proxy.asked(), 0);
}

/// Remembers who called.
class Callers : public memory_node::v1::MemoryNode::Service {
 public:
  grpc::Status Describe(grpc::ServerContext* context, const memory_node::v1::DescribeRequest*,
                        memory_node::v1::DescribeResponse*) override {
    peers.insert(context->peer());
    return grpc::Status::OK;
  }
  std::set<std::string> peers;
};

/// A process that lost its peer and comes back to it does not wait for what it had before.
TEST(Channel, SharesNoConnectionWithAnotherToTheSameAddress) {
  Callers callers;
  ServerOptions options;
  options.address = parse_address("127.0.0.1:0");
  options.services = {&callers};
  Server server(std::move(options));
  const std::array channels{connect(server.address()), connect(server.address())};
  for (const auto& channel : channels) {
    grpc::ClientContext context;
    memory_node::v1::DescribeResponse response;
    const auto stub = memory_node::v1::MemoryNode::NewStub(channel);
    EXPECT_TRUE(stub->Describe(&context, {}, &response).ok());
  }
  EXPECT_EQ(callers.peers.size(), channels.size());
}

}  // namespace
}  // namespace farvec::rpc
