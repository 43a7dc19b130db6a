// A HealthService is the standard health service, which says NOT_SERVING from its first moment on.
#pragma once

#include <grpcpp/grpcpp.h>

#include <mutex>
#include <set>

#include "rpc/health.grpc.pb.h"

namespace farvec::rpc {

/// gRPC's own service says SERVING from the beginning of listening until it is told otherwise. This
/// one knows only the whole server: service "". Thread-safe.
class HealthService final : public grpc::health::v1::Health::CallbackService {
 public:
  /// Sets the answer from now on, and sends it to watchers.
  void set_serving(bool serving);
  /// Ends all watches, and those that begin from now on.
  void end();

 private:
  using Request = grpc::health::v1::HealthCheckRequest;
  using Response = grpc::health::v1::HealthCheckResponse;
  class Watcher;

  grpc::ServerUnaryReactor* Check(grpc::CallbackServerContext* context, const Request* request,
                                  Response* response) override;
  grpc::ServerWriteReactor<Response>* Watch(grpc::CallbackServerContext* context,
                                            const Request* request) override;

  std::mutex mutex_;  ///< guards watchers, too
  std::set<Watcher*> watchers_;
  Response::ServingStatus status_ = Response::NOT_SERVING;
  bool ended_ = false;
};

}  // namespace farvec::rpc
