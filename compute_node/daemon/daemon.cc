#include "compute_node/daemon/daemon.h"

#include <prometheus/exposer.h>

#include <csignal>
#include <thread>
#include <vector>

#include "base/log.h"
#include "compute_node/collection/collection_service.h"
#include "compute_node/daemon/metrics.h"
#include "compute_node/daemon/regrouper.h"
#include "compute_node/service/admission.h"
#include "compute_node/service/query_service.h"
#include "rpc/server.h"

namespace farvec::compute_node {
namespace {

constexpr std::chrono::milliseconds kLook{10};
constexpr std::chrono::milliseconds kShutdownGrace{1'000};

/// Members are destroyed from the last to the first: the server before the objects that its calls
/// use.
class Daemon {
 public:
  Daemon(const DaemonOptions& options, SearchBackend& backend);
  int run();

 private:
  bool signalled(std::chrono::milliseconds wait);
  void drain();

  const DaemonOptions options_;
  ServiceStatistics statistics_;
  Replier replier_;
  Supervisor supervisor_;
  std::unique_ptr<RecallSampler> recall_;  ///< null: no search is repeated
  QueryService service_;
  std::unique_ptr<CollectionService>
      changes_;                           ///< for a collection that this process changes; else null
  std::unique_ptr<Regrouper> regrouper_;  ///< null: groups stay as they are
  std::shared_ptr<ServiceMetrics> metrics_;
  std::unique_ptr<prometheus::Exposer> exposer_;
  rpc::Server server_;
};

SupervisorOptions supervisor_options(const DaemonOptions& options) {
  SupervisorOptions made;
  made.engine = {options.threads, options.queue, options.pin};
  made.attach_bound = options.attach_bound;
  return made;
}

std::unique_ptr<CollectionService> change_service(const DaemonOptions& options,
                                                  const SearchBackend& backend) {
  const ChangeOptions* const changes = changes_of(options.source);
  if (changes == nullptr) return nullptr;
  return std::make_unique<CollectionService>([&backend] { return backend.changes(); }, *changes,
                                             options.default_deadline);
}

std::unique_ptr<Regrouper> make_regrouper(const DaemonOptions& options,
                                          const Supervisor& supervisor) {
  const auto* const source = std::get_if<MemoryNodeSource>(&options.source);
  if (source == nullptr || source->regroup.index.empty()) return nullptr;
  return std::make_unique<Regrouper>(supervisor, source->regroup, source->nodes,
                                     rpc::load_tls(options.tls));
}

std::unique_ptr<RecallSampler> make_sampler(const DaemonOptions& options,
                                            const Supervisor& supervisor) {
  if (options.recall.share <= 0) return nullptr;
  return std::make_unique<RecallSampler>(supervisor, options.recall);
}

rpc::ServerOptions server_options(const DaemonOptions& options,
                                  std::vector<grpc::Service*> services) {
  rpc::ServerOptions made;
  made.address = rpc::parse_address(options.listen);
  made.insecure = options.insecure;
  made.tls = rpc::load_tls(options.tls);
  std::erase(services, nullptr);
  made.services = std::move(services);
  made.configure = [](grpc::ServerBuilder& builder) {
    builder.SetMaxReceiveMessageSize(static_cast<int>(kMostRequestBytes));
  };
  return made;
}

std::unique_ptr<prometheus::Exposer> open_metrics(const DaemonOptions& options) {
  if (options.metrics.empty()) return nullptr;
  rpc::require_safe_binding(rpc::parse_address(options.metrics), options.insecure);
  try {
    return std::make_unique<prometheus::Exposer>(options.metrics);
  } catch (const std::exception& e) {
    throw Error("cannot serve metrics on {}: {}; is the port taken?", options.metrics, e.what());
  }
}

Daemon::Daemon(const DaemonOptions& options, SearchBackend& backend)
    : options_(options),
      supervisor_(backend, replier_, supervisor_options(options)),
      recall_(make_sampler(options, supervisor_)),
      service_(supervisor_, statistics_,
               {options.limits, options.default_deadline, options.slots, options.threads},
               recall_.get()),
      changes_(change_service(options, backend)),
      regrouper_(make_regrouper(options, supervisor_)),
      metrics_(std::make_shared<ServiceMetrics>(statistics_, supervisor_, changes_.get(),
                                                regrouper_.get(), recall_.get())),
      exposer_(open_metrics(options)),
      server_(server_options(options, {&service_, changes_.get()})) {
  if (exposer_) exposer_->RegisterCollectable(metrics_);
  spdlog::info("listening on {}", rpc::to_string(server_.address()));
}

int Daemon::run() {
  bool serving = false;
  // It ends with a signal or a failed first attachment, which has its own bound.
  while (!signalled(kLook)) {
    if (const std::string failure = supervisor_.failure(); !failure.empty()) {
      throw Error("{}", failure);
    }
    if (serving == (supervisor_.engine() != nullptr)) continue;
    serving = !serving;
    server_.set_serving(serving);
  }
  drain();
  return 0;
}

bool Daemon::signalled(std::chrono::milliseconds wait) {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  const timespec time{wait.count() / 1000, (wait.count() % 1000) * 1'000'000};
  return sigtimedwait(&signals, nullptr, &time) > 0;
}

void Daemon::drain() {
  spdlog::info("draining for at most {} ms", options_.drain_bound.count());
  service_.drain();
  if (recall_ != nullptr) recall_->stop();
  if (changes_ != nullptr) changes_->drain();
  server_.set_serving(false);
  const auto end = std::chrono::steady_clock::now() + options_.drain_bound;
  while (std::chrono::steady_clock::now() < end) {
    const bool changing = changes_ != nullptr && changes_->unanswered() > 0;
    if (supervisor_.unanswered() == 0 && !changing) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  supervisor_.stop();
  server_.shutdown(kShutdownGrace);
  spdlog::info("stopped");
}

}  // namespace

int run_daemon(const DaemonOptions& options, SearchBackend& backend) {
  return Daemon(options, backend).run();
}

}  // namespace farvec::compute_node
