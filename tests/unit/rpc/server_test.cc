#include "rpc/server.h"

#include <gmock/gmock.h>
#include <grpcpp/generic/generic_stub.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <filesystem>
#include <future>
#include <mutex>

#include "base/error.h"
#include "rpc/channel.h"
#include "rpc/health.grpc.pb.h"
#include "rpc/memory_node.grpc.pb.h"
#include "tests/unit/message_of.h"
#include "tests/unit/temporary_folder.h"

namespace {
std::atomic<int> umasks{0};
}  // namespace

/// In place of the C library's: counts who changes what other threads make files with.
extern "C" mode_t umask(mode_t mask) noexcept {
  ++umasks;
  return static_cast<mode_t>(syscall(SYS_umask, mask));
}

namespace farvec::rpc {
namespace {

using namespace std::chrono_literals;
using tests::message_of;
namespace v1 = memory_node::v1;

class DescribeOnly : public v1::MemoryNode::Service {
 public:
  grpc::Status Describe(grpc::ServerContext* context, const v1::DescribeRequest*,
                        v1::DescribeResponse* response) override {
    if (hang) {
      entered.set_value();
      while (!context->IsCancelled()) std::this_thread::sleep_for(5ms);
    }
    response->set_backing("test");
    return grpc::Status::OK;
  }
  bool hang = false;
  std::promise<void> entered;
};

ServerOptions options_for(const std::string& address, grpc::Service& service) {
  ServerOptions options;
  options.address = parse_address(address);
  options.services = {&service};
  return options;
}

TEST(Server, AnswersOverTcpOnAPortOfTheKernelsChoice) {
  DescribeOnly service;
  Server server(options_for("127.0.0.1:0", service));
  EXPECT_NE(server.address().port, 0);
  const auto channel = connect(server.address());
  const auto stub = v1::MemoryNode::NewStub(channel);
  grpc::ClientContext context;
  v1::DescribeResponse response;
  ASSERT_TRUE(stub->Describe(&context, {}, &response).ok());
  EXPECT_EQ(response.backing(), "test");
}

/// The bytes of the reflection service's list of services. The messages are put together by hand:
/// Debian packages the service without its headers.
std::string reflected_services(const Address& address) {
  const std::string list_services("\x3a\x01*", 3);  // field 7, a string, "*"
  grpc::GenericStub stub(connect(address));
  grpc::CompletionQueue queue;
  const auto wait = [&queue] {
    void* tag = nullptr;
    bool ok = false;
    const auto deadline = std::chrono::system_clock::now() + 20s;
    return queue.AsyncNext(&tag, &ok, deadline) == grpc::CompletionQueue::GOT_EVENT && ok;
  };
  grpc::ClientContext context;
  const auto stream = stub.PrepareCall(
      &context, "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo", &queue);
  const grpc::Slice slice(list_services);
  grpc::ByteBuffer answer;
  stream->StartCall(nullptr);
  if (!wait()) return "";
  stream->WriteLast(grpc::ByteBuffer(&slice, 1), {}, nullptr);
  if (!wait()) return "";
  stream->Read(&answer, nullptr);
  if (!wait()) return "";
  grpc::Status status;
  stream->Finish(&status, nullptr);
  wait();
  std::vector<grpc::Slice> slices;
  std::string bytes;
  if (!answer.Dump(&slices).ok()) return "";
  for (const auto& part : slices) bytes.append(part.begin(), part.end());
  return bytes;
}

TEST(Server, ReflectionNamesTheServices) {
  DescribeOnly service;
  Server server(options_for("127.0.0.1:0", service));
  const std::string services = reflected_services(server.address());
  EXPECT_THAT(services, testing::HasSubstr("MemoryNode"));
  EXPECT_THAT(services, testing::HasSubstr("grpc.health.v1.Health"));
}

TEST(Server, HealthFollowsSetServing) {
  DescribeOnly service;
  tests::TemporaryFolder folder;
  Server server(options_for("unix:" + folder.file("s"), service));
  const auto channel = connect(server.address());
  EXPECT_FALSE(is_serving(channel, 5s));
  server.set_serving(true);
  EXPECT_TRUE(is_serving(channel, 5s));
  server.set_serving(false);
  EXPECT_FALSE(is_serving(channel, 5s));
  server.shutdown(0ms);
  EXPECT_FALSE(is_serving(channel, 5s));
  EXPECT_FALSE(std::filesystem::exists(folder.file("s")));
}

TEST(Server, HealthIsWatchedFromNotServingOn) {
  namespace health = grpc::health::v1;
  DescribeOnly service;
  Server server(options_for("127.0.0.1:0", service));
  const auto stub = health::Health::NewStub(connect(server.address()));
  grpc::ClientContext context, other_context, unknown_context;
  health::HealthCheckRequest request;
  health::HealthCheckResponse response;
  const auto watch = stub->Watch(&context, request);
  for (const bool serving : {false, true, false}) {
    server.set_serving(serving);
    server.set_serving(serving);  // told once
    ASSERT_TRUE(watch->Read(&response));
    EXPECT_EQ(response.status(), serving ? health::HealthCheckResponse::SERVING
                                         : health::HealthCheckResponse::NOT_SERVING);
  }
  request.set_service("nobody");
  EXPECT_EQ(stub->Check(&unknown_context, request, &response).error_code(),
            grpc::StatusCode::NOT_FOUND);
  const auto other = stub->Watch(&other_context, request);
  ASSERT_TRUE(other->Read(&response));
  EXPECT_EQ(response.status(), health::HealthCheckResponse::SERVICE_UNKNOWN);
  other_context.TryCancel();
  EXPECT_EQ(other->Finish().error_code(), grpc::StatusCode::CANCELLED);
  server.shutdown(1h);  // watches do not keep it
  EXPECT_FALSE(watch->Read(&response));
  EXPECT_EQ(watch->Finish().error_code(), grpc::StatusCode::UNAVAILABLE);
}

TEST(Server, AUnixSocketIsForItsOwnerOnly) {
  DescribeOnly service;
  tests::TemporaryFolder folder;
  const mode_t before = umask(0);
  const int others = umasks;
  Server server(options_for("unix:" + folder.file("s"), service));
  EXPECT_EQ(umasks, others) << "other threads make files meanwhile";
  umask(before);
  struct stat file {};
  ASSERT_EQ(stat(folder.file("s").c_str(), &file), 0);
  EXPECT_EQ(file.st_mode & 0777, 0600u);
}

TEST(Server, HoldsItsUnixAddressUntilItsFilesAreGone) {
  DescribeOnly service;
  tests::TemporaryFolder folder;
  Server server(options_for("unix:" + folder.file("s"), service));
  std::filesystem::remove(folder.file("s"));  // nobody can reach it, and yet the address is taken
  EXPECT_THAT(message_of([&] { Server(options_for("unix:" + folder.file("s"), service)); }),
              testing::HasSubstr("already listens"));
  server.shutdown(0ms);
  EXPECT_EQ(folder.entries(), 0u);
  Server successor(options_for("unix:" + folder.file("s"), service));
  server.shutdown(0ms);
  EXPECT_TRUE(std::filesystem::exists(folder.file("s")));
}

TEST(Server, RefusesAnAddressInUse) {
  DescribeOnly service;
  tests::TemporaryFolder folder;
  Server unix_server(options_for("unix:" + folder.file("s"), service));
  Server tcp_server(options_for("127.0.0.1:0", service));
  for (const Address& taken : {unix_server.address(), tcp_server.address()}) {
    const std::string message =
        message_of([&] { Server again(options_for(to_string(taken), service)); });
    EXPECT_THAT(message, testing::HasSubstr(to_string(taken)));
    EXPECT_THAT(message, testing::HasSubstr("already listens"));
  }
  EXPECT_TRUE(connect(unix_server.address()) != nullptr);  // the first one is unharmed
}

TEST(Server, RefusesAnOpenAddressWithoutInsecure) {
  DescribeOnly service;
  EXPECT_THROW(Server(options_for("0.0.0.0:0", service)), Error);
  ServerOptions options = options_for("0.0.0.0:0", service);
  options.insecure = true;
  EXPECT_NE(Server(options).address().port, 0);
}

TEST(Server, ShutdownCancelsCallsThatOutliveTheGrace) {
  DescribeOnly service;
  service.hang = true;
  Server server(options_for("127.0.0.1:0", service));
  const auto channel = connect(server.address());
  auto call = std::async(std::launch::async, [&] {
    grpc::ClientContext context;
    v1::DescribeResponse response;
    return v1::MemoryNode::NewStub(channel)->Describe(&context, {}, &response).ok();
  });
  service.entered.get_future().wait();
  server.shutdown(10ms);
  EXPECT_FALSE(call.get());
}

TEST(Channel, WaitIsBoundedAndSaysForWhom) {
  ConnectOptions options;
  options.wait = 50ms;
  const std::string message =
      message_of([&] { connect(parse_address("unix:/nonexistent/sock"), options); });
  EXPECT_THAT(message, testing::HasSubstr("unix:/nonexistent/sock"));
  EXPECT_THAT(message, testing::HasSubstr("waited 0.1 s"));
}

TEST(Channel, WaitEndsWhenToldToStop) {
  std::atomic<bool> stop{true};
  ConnectOptions options;
  options.wait = 1h;
  options.stop = &stop;
  EXPECT_THROW(connect(parse_address("unix:/nonexistent/sock"), options), Error);
}

TEST(Channel, WaitsForAServerThatComesLater) {
  tests::TemporaryFolder folder;
  DescribeOnly service;
  const Address address = parse_address("unix:" + folder.file("s"));
  auto client = std::async(std::launch::async, [&] { return connect(address); });
  std::this_thread::sleep_for(50ms);
  Server server(options_for(to_string(address), service));
  EXPECT_TRUE(client.get() != nullptr);
}

}  // namespace
}  // namespace farvec::rpc
