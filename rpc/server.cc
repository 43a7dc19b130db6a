#include "rpc/server.h"

#include <grpcpp/ext/proto_server_reflection_plugin.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <mutex>
#include <utility>

#include "base/error.h"
#include "rpc/tls_watch.h"

namespace farvec::rpc {
namespace {

// A client that sends calls and does not read their answers holds no more than this.
constexpr int kMaxCallsPerConnection = 1024;
constexpr std::size_t kMaxMemoryBytes = std::size_t{4} << 30;

void enable_plugins() {
  static std::once_flag once;
  std::call_once(once, [] { grpc::reflection::InitProtoReflectionServerBuilderPlugin(); });
}

/// New files of this process are for their owner only while it lives.
class OwnerOnlyFiles {
 public:
  OwnerOnlyFiles() = default;
  ~OwnerOnlyFiles() { umask(before_); }
  OwnerOnlyFiles(const OwnerOnlyFiles&) = delete;
  OwnerOnlyFiles& operator=(const OwnerOnlyFiles&) = delete;

 private:
  mode_t before_ = umask(0177);
};

/// gRPC binds and listens in one step; the umask leaves no moment with wider rights between them.
std::unique_ptr<grpc::Server> start_on_unix_socket(grpc::ServerBuilder& builder,
                                                   const std::string& path) {
  std::unique_ptr<grpc::Server> server;
  {
    const OwnerOnlyFiles narrowed;
    server = builder.BuildAndStart();
  }
  if (server != nullptr && chmod(path.c_str(), S_IRUSR | S_IWUSR) != 0) {
    throw SystemError(errno, "restricting unix:{} to its owner", path);
  }
  return server;
}

}  // namespace

Server::Server(ServerOptions options)
    : address_(std::move(options.address)),
      lock_(address_.is_unix() ? SocketLock(address_.unix_path) : SocketLock()) {
  require_safe_binding(address_, options.insecure || options.tls != nullptr);
  // gRPC would share a TCP port with another process and take a Unix socket away from one.
  require_free(address_);
  enable_plugins();

  grpc::ServerBuilder builder;
  int port = 0;
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, kMaxCallsPerConnection);
  builder.SetResourceQuota(grpc::ResourceQuota("farvec").Resize(kMaxMemoryBytes));
  const bool encrypted = options.tls != nullptr && !address_.is_unix();
  const auto credentials = server_credentials(options.tls.get(), address_);
  TlsAcceptor::Taker taker;
  if (encrypted) {
    watch_tls();
    acceptor_ = std::make_unique<TlsAcceptor>(address_);
    port = acceptor_->port();
    using Kind = grpc::ServerBuilder::experimental_type::ExternalConnectionType;
    taker = builder.experimental().AddExternalConnectionAcceptor(Kind::FROM_FD, credentials);
  } else {
    builder.AddListeningPort(to_string(address_), credentials, &port);
  }
  builder.RegisterService(&health_);
  for (grpc::Service* service : options.services) builder.RegisterService(service);
  if (options.configure) options.configure(builder);
  server_ = address_.is_unix() ? start_on_unix_socket(builder, address_.unix_path)
                               : builder.BuildAndStart();
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
  lock_.release();  // last: a successor's socket file would not be ours to remove
}

}  // namespace farvec::rpc
