#include "memory_node/metrics.h"

#include <prometheus/client_metric.h>
#include <prometheus/collectable.h>
#include <prometheus/exposer.h>
#include <prometheus/metric_family.h>

#include <vector>

#include "base/error.h"
#include "memory_node/service_replies.h"
#include "rpc/address.h"

namespace farvec::memory_node {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;

struct Sample {
  const char* name;
  const char* help;
  MetricType type;
  double value;
};

MetricFamily to_family(const Sample& sample) {
  ClientMetric metric;
  if (sample.type == MetricType::Counter) {
    metric.counter.value = sample.value;
  } else {
    metric.gauge.value = sample.value;
  }
  return {std::string("farvec_memory_node_") + sample.name, sample.help, sample.type, {metric}};
}

double read(const std::atomic<std::uint64_t>& counter) {
  // relaxed, because this is a report of independent counters
  return static_cast<double>(counter.load(std::memory_order_relaxed));
}

/// All values are zero in a node without a log.
std::vector<Sample> log_samples(const NodeState& state) {
  v1::Log log;
  if (const auto store = state.log.get()) describe_log(*store, state.leases, log);
  return {{"log_bytes", "Bytes of the log; 0 without one", MetricType::Gauge,
           static_cast<double>(log.bytes())},
          {"log_has_writer", "1 while a lease for writing the log runs", MetricType::Gauge,
           log.has_writer() ? 1.0 : 0.0},
          {"log_epoch", "Epoch of the newest writer of the log", MetricType::Gauge,
           static_cast<double>(log.epoch())},
          {"log_writer_expirations_total", "Leases for writing that ended without renewal",
           MetricType::Counter, static_cast<double>(log.writer_leases_expired())}};
}

class StateCollector : public prometheus::Collectable {
 public:
  explicit StateCollector(const NodeState& state) : state_(state) {}

  std::vector<MetricFamily> Collect() const override {
    const auto published = state_.publications.current();
    const auto table = published ? published->table : nullptr;
    const Publications::Usage usage = state_.publications.usage();
    const double regions = table ? static_cast<double>(table->regions.size()) : 0;
    const double bytes = table ? static_cast<double>(table->total_bytes()) : 0;
    const bool serving = state_.state.load(std::memory_order_relaxed) == v1::STATE_SERVING;
    constexpr auto kCounter = MetricType::Counter;
    constexpr auto kGauge = MetricType::Gauge;
    const Sample samples[] = {
        {"serving", "1 while clients can attach", kGauge, serving ? 1.0 : 0.0},
        {"loaded_bytes", "Payload bytes that the load has read and checked", kGauge,
         read(state_.loaded_bytes)},
        {"verified_bytes",
         "Bytes of region_bytes that were checked: less than all while an attached index is",
         kGauge, read(state_.verified_bytes)},
        {"regions", "Published regions", kGauge, regions},
        {"region_bytes", "Bytes of published regions", kGauge, bytes},
        {"tables", "Published and replaced tables in memory", kGauge,
         static_cast<double>(usage.tables)},
        {"table_bytes", "Bytes of all tables in memory", kGauge, static_cast<double>(usage.bytes)},
        {"publications_total", "Indexes published", kCounter, static_cast<double>(usage.published)},
        {"segments", "Segments of collections in memory", kGauge,
         static_cast<double>(usage.segments)},
        {"segment_bytes", "Bytes of segments in memory", kGauge,
         static_cast<double>(usage.segment_bytes)},
        {"load_seconds", "Time the load took", kGauge, table ? table->load_seconds : 0},
        {"leases", "Leases held", kGauge, static_cast<double>(state_.leases.size())},
        {"attaches_total", "Leases granted", kCounter, read(state_.attaches)},
        {"detaches_total", "Leases given back", kCounter, read(state_.detaches)},
        {"lease_expirations_total", "Leases that ended without renewal", kCounter,
         static_cast<double>(state_.leases.expirations())},
        {"damaged_total", "Attached indexes that were found to be damaged", kCounter,
         read(state_.damaged)},
        {"calls_total", "Control-plane calls", kCounter, read(state_.calls)},
    };
    std::vector<MetricFamily> families;
    for (const Sample& sample : samples) families.push_back(to_family(sample));
    for (const Sample& sample : log_samples(state_)) families.push_back(to_family(sample));
    return families;
  }

 private:
  const NodeState& state_;
};

rpc::Address checked_address(const std::string& text, bool insecure) {
  rpc::Address address = rpc::parse_address(text);
  if (address.is_unix()) throw Error("metrics need HOST:PORT, not {}", text);
  rpc::require_safe_binding(address, insecure);
  rpc::require_free(address);
  return address;
}

}  // namespace

struct Metrics::Impl {
  Impl(const std::string& address, const NodeState& state)
      : collector(std::make_shared<StateCollector>(state)), exposer(address, 1) {
    exposer.RegisterCollectable(collector);
  }
  std::shared_ptr<StateCollector> collector;
  prometheus::Exposer exposer;
};

Metrics::Metrics(const std::string& address, bool insecure, const NodeState& state) {
  const rpc::Address checked = checked_address(address, insecure);
  try {
    impl_ = std::make_unique<Impl>(rpc::to_string(checked), state);
  } catch (const std::exception& error) {
    throw Error("cannot serve metrics on {}: {}", address, error.what());
  }
}

Metrics::~Metrics() = default;

}  // namespace farvec::memory_node
