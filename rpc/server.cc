#include "rpc/server.h"

#include <grpcpp/ext/proto_server_reflection_plugin.h>
#include <grpcpp/health_check_service_interface.h>
#include <sys/stat.h>
#include <unistd.h>

#include <mutex>
#include <utility>

#include "base/error.h"

namespace farvec::rpc {
namespace {

void enable_plugins() {
  static std::once_flag once;
  std::call_once(once, [] {
    grpc::EnableDefaultHealthCheckService(true);
    grpc::reflection::InitProtoReflectionServerBuilderPlugin();
  });
}

}  // namespace

Server::Server(ServerOptions options) : address_(std::move(options.address)) {
  require_safe_binding(address_, options.insecure);
  // gRPC would share a TCP port with another process and take a Unix socket away from one.
  require_free(address_);
  enable_plugins();

  grpc::ServerBuilder builder;
  int port = 0;
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  builder.AddListeningPort(to_string(address_), grpc::InsecureServerCredentials(), &port);
  for (grpc::Service* service : options.services) builder.RegisterService(service);
  if (options.configure) options.configure(builder);
  server_ = builder.BuildAndStart();
  if (server_ == nullptr) {
    throw Error("cannot listen on {}: gRPC could not bind it", to_string(address_));
  }
  if (address_.is_unix()) {
    chmod(address_.unix_path.c_str(), S_IRUSR | S_IWUSR);
  } else {
    address_.port = static_cast<std::uint16_t>(port);
  }
  set_serving(false);
}

Server::~Server() {
  shutdown(std::chrono::seconds(1));
}

void Server::set_serving(bool serving) {
  server_->GetHealthCheckService()->SetServingStatus(serving);
}

void Server::shutdown(std::chrono::milliseconds grace) {
  if (server_ == nullptr) return;
  server_->Shutdown(std::chrono::system_clock::now() + grace);
  server_->Wait();
  server_.reset();
  if (address_.is_unix()) unlink(address_.unix_path.c_str());
}

}  // namespace farvec::rpc
