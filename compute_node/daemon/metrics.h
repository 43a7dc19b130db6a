// ServiceMetrics give Prometheus the same numbers as Stats.
#pragma once

#include <prometheus/collectable.h>
#include <prometheus/metric_family.h>

#include "compute_node/service/service_statistics.h"
#include "compute_node/service/supervisor.h"

namespace farvec::compute_node {

class CollectionService;
class RecallSampler;
class Regrouper;

/// Reads a snapshot at each scrape, so that nothing is kept twice. The objects that it reads from
/// must outlive it.
class ServiceMetrics final : public prometheus::Collectable {
 public:
  /// `changes` is null unless a collection is served, `regrouper` unless groups follow queries,
  /// `recall` unless searches are repeated exactly.
  ServiceMetrics(const ServiceStatistics& statistics, const Supervisor& supervisor,
                 const CollectionService* changes = nullptr, const Regrouper* regrouper = nullptr,
                 const RecallSampler* recall = nullptr)
      : statistics_(statistics),
        supervisor_(supervisor),
        changes_(changes),
        regrouper_(regrouper),
        recall_(recall) {}

  std::vector<prometheus::MetricFamily> Collect() const override;

 private:
  const ServiceStatistics& statistics_;
  const Supervisor& supervisor_;
  const CollectionService* const changes_;
  const Regrouper* const regrouper_;
  const RecallSampler* const recall_;
};

}  // namespace farvec::compute_node
