#include "rpc/server.h"

#include <grpcpp/ext/proto_server_reflection_plugin.h>
#include <unistd.h>

#include <mutex>
#include <utility>

#include "base/error.h"
#include "rpc/tls_watch.h"

namespace farvec::rpc {
namespace {

// The limit for a client that sends calls and does not read their answers.
constexpr int kMaxCallsPerConnection = 1024;
constexpr std::size_t kMaxMemoryBytes = std::size_t{4} << 30;

void enable_plugins() {
  static std::once_flag once;
  std::call_once(once, [] { grpc::reflection::InitProtoReflectionServerBuilderPlugin(); });
}

}  // namespace

Server::Server(ServerOptions options)
    : address_(std::move(options.address)),
      lock_(address_.is_unix() ? SocketLock(address_.unix_path) : SocketLock()) {
  require_safe_binding(address_, options.insecure || options.tls != nullptr);
  // gRPC would share a TCP port with another process, and take a Unix socket away from one.
  require_free(address_);
  enable_plugins();

  grpc::ServerBuilder builder;
  int port = 0;
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, kMaxCallsPerConnection);
  builder.SetResourceQuota(grpc::ResourceQuota("farvec").Resize(kMaxMemoryBytes));
  const bool encrypted = options.tls != nullptr && !address_.is_unix();
  if (encrypted) watch_tls();
  const auto credentials = server_credentials(options.tls.get(), address_);
  Acceptor::Taker taker;
  if (encrypted || address_.is_unix()) {
    acceptor_ = std::make_unique<Acceptor>(address_);
    port = acceptor_->port();
    using Kind = grpc::ServerBuilder::experimental_type::ExternalConnectionType;
    taker = builder.experimental().AddExternalConnectionAcceptor(Kind::FROM_FD, credentials);
  } else {
    builder.AddListeningPort(to_string(address_), credentials, &port);
  }
  builder.RegisterService(&health_);
  for (grpc::Service* service : options.services) builder.RegisterService(service);
  if (options.configure) options.configure(builder);
  server_ = builder.BuildAndStart();
  if (server_ == nullptr) {
    throw Error("cannot listen on {}: gRPC could not bind it", to_string(address_));
  }
  if (!address_.is_unix()) address_.port = static_cast<std::uint16_t>(port);
  if (acceptor_ != nullptr) acceptor_->start(std::move(taker));
}

Server::~Server() {
  shutdown(std::chrono::seconds(1));
}

void Server::set_serving(bool serving) {
  health_.set_serving(serving);
}

void Server::shutdown(std::chrono::milliseconds grace) {
  if (server_ == nullptr) return;
  if (acceptor_ != nullptr) acceptor_->stop();
  health_.end();
  server_->Shutdown(std::chrono::system_clock::now() + grace);
  server_->Wait();
  server_.reset();
  if (address_.is_unix()) unlink(address_.unix_path.c_str());
  lock_.release();  // last, because a successor's socket file must not be removed
}

}  // namespace farvec::rpc
