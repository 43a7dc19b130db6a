// The standard health service, which says NOT_SERVING from its first moment on.
#pragma once

#include <grpcpp/grpcpp.h>

#include <mutex>
#include <set>

#include "rpc/health.grpc.pb.h"

namespace farvec::rpc {

/// gRPC's own says SERVING between the begin of listening and whoever tells it otherwise. This one
/// knows the whole server alone: service "". Thread-safe.
class HealthService final : public grpc::health::v1::Health::CallbackService {
 public:
  /// The answer from now on, which watchers are sent.
  void set_serving(bool serving);
  /// Ends all watches, also those that begin from now on.
  void end();

 private:
  using Request = grpc::health::v1::HealthCheckRequest;
  using Response = grpc::health::v1::HealthCheckResponse;
  class Watcher;

  grpc::ServerUnaryReactor* Check(grpc::CallbackServerContext* context, const Request* request,
                                  Response* response) override;
  grpc::ServerWriteReactor<Response>* Watch(grpc::CallbackServerContext* context,
                                            const Request* request) override;

  std::mutex mutex_;  ///< of watchers, too
  std::set<Watcher*> watchers_;
  Response::ServingStatus status_ = Response::NOT_SERVING;
  bool ended_ = false;
};

}  // namespace farvec::rpc
