// The same numbers as Stats, for Prometheus.
#pragma once

#include <prometheus/collectable.h>
#include <prometheus/metric_family.h>

#include "compute_node/service/service_statistics.h"
#include "compute_node/service/supervisor.h"

namespace farvec::compute_node {

/// Reads a snapshot at each scrape; nothing is kept twice. Both references must outlive it.
class ServiceMetrics final : public prometheus::Collectable {
 public:
  ServiceMetrics(const ServiceStatistics& statistics, const Supervisor& supervisor)
      : statistics_(statistics), supervisor_(supervisor) {}

  std::vector<prometheus::MetricFamily> Collect() const override;

 private:
  const ServiceStatistics& statistics_;
  const Supervisor& supervisor_;
};

}  // namespace farvec::compute_node
