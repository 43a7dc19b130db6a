#include "rpc/health_service.h"

namespace farvec::rpc {

/// One call of Watch; it deletes itself. Everything but OnDone() runs with the service's mutex
/// held.
class HealthService::Watcher final : public grpc::ServerWriteReactor<Response> {
 public:
  Watcher(HealthService& service, bool known) : service_(service), known_(known) {
    service_.watchers_.insert(this);
    service_.ended_ ? end() : tell();
  }

  /// Sends the service's status unless it was the last one sent; one write at a time.
  void tell() {
    const auto status = known_ ? service_.status_ : Response::SERVICE_UNKNOWN;
    if (writing_ || finished_ || sent_.status() == status) return;
    sent_.set_status(status);
    writing_ = true;
    StartWrite(&sent_);
  }
  void end() {
    if (finished_) return;
    finished_ = true;
    Finish({grpc::StatusCode::UNAVAILABLE, "the server ends"});
  }

  void OnWriteDone(bool ok) override {
    const std::lock_guard lock(service_.mutex_);
    writing_ = false;
    if (ok) return tell();
    end();
  }
  void OnCancel() override {
    const std::lock_guard lock(service_.mutex_);
    end();
  }
  void OnDone() override {
    {
      const std::lock_guard lock(service_.mutex_);
      service_.watchers_.erase(this);
    }
    delete this;
  }

 private:
  HealthService& service_;
  const bool known_;
  Response sent_;  ///< UNKNOWN: nothing was sent yet
  bool writing_ = false;
  bool finished_ = false;
};

void HealthService::set_serving(bool serving) {
  const std::lock_guard lock(mutex_);
  status_ = serving ? Response::SERVING : Response::NOT_SERVING;
  for (Watcher* watcher : watchers_) watcher->tell();
}

void HealthService::end() {
  const std::lock_guard lock(mutex_);
  ended_ = true;
  for (Watcher* watcher : watchers_) watcher->end();
}

grpc::ServerUnaryReactor* HealthService::Check(grpc::CallbackServerContext* context,
                                               const Request* request, Response* response) {
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  if (!request->service().empty()) {
    reactor->Finish({grpc::StatusCode::NOT_FOUND, "the whole server is asked about with \"\""});
    return reactor;
  }
  {
    const std::lock_guard lock(mutex_);
    response->set_status(status_);
  }
  reactor->Finish(grpc::Status::OK);
  return reactor;
}

grpc::ServerWriteReactor<HealthService::Response>* HealthService::Watch(
    grpc::CallbackServerContext*, const Request* request) {
  const std::lock_guard lock(mutex_);
  return new Watcher(*this, request->service().empty());
}

}  // namespace farvec::rpc
