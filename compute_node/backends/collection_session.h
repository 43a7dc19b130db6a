// Searches of a collection, as its newest view has it.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "collection/nodes/log_nodes.h"
#include "collection/state/view.h"
#include "compute_node/daemon/daemon_options.h"
#include "compute_node/service/search_backend.h"
#include "layout/collection/collection_manifest.h"

namespace farvec::compute_node {

/// What a session serves. Any thread may call its functions.
struct ServedCollection {
  layout::CollectionManifest shape;               ///< types and options
  std::string tier;                               ///< with its model when it has one
  std::function<collection::ViewPointer()> view;  ///< the newest
  /// Null where this process changes it.
  std::function<Following()> following;
};

/// Cores that search the newest view. Never superseded: views are.
class CollectionSession final : public SearchSession {
 public:
  CollectionSession(ServedCollection served, std::uint32_t slots);

  const ServedIndex& index() const override { return index_; }
  ServedIndex present() const override;
  void run_core(unsigned core, search::TaskFeed& feed) override;
  bool alive() const override { return true; }
  TierCounters& counters() override { return counters_; }
  std::optional<search::ProbeTally> segment_probes(std::uint64_t number) const override;

 private:
  const ServedCollection served_;
  const std::uint32_t slots_;
  ServedIndex index_;
  TierCounters counters_;
};

/// Where the records of a collection's segments lie, as the options say. Throws Error on a tier
/// that holds one index, or is on another machine.
collection::SegmentAccess segments_on(const DaemonOptions& options);

/// The memory nodes of a collection's log; null: it lies in the folder. Throws Error naming what is
/// wrong with an address or the tier.
std::shared_ptr<collection::LogNodes> log_nodes_of(const DaemonOptions& options);

}  // namespace farvec::compute_node
