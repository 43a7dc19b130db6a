// A CollectionSession searches the newest view of a collection.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "collection/nodes/log_nodes.h"
#include "collection/state/view.h"
#include "compute_node/backends/backend_options.h"
#include "compute_node/service/search_backend.h"
#include "compute_node/sources/collection_sources.h"
#include "layout/collection/collection_manifest.h"

namespace farvec::compute_node {

/// A ServedCollection is what a session serves. Its functions may be called from any thread.
struct ServedCollection {
  layout::CollectionManifest shape;               ///< types and options
  collection::SegmentAccess segments;             ///< how their records are read
  std::function<collection::ViewPointer()> view;  ///< returns the newest view
  /// Null where this process changes the collection.
  std::function<Following()> following;
};

/// Runs cores that search the newest view. It is never superseded, because only its views are.
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

/// Returns where the records of a collection's segments are, read by searches up to the largest.
/// Throws Error on a tier that holds one index, or is on another machine.
collection::SegmentAccess segments_on(const SearchedCollection& collection,
                                      const BackendOptions& options);

/// Returns the memory nodes of a collection's log; null: the log is in the folder. Throws Error
/// naming what is wrong with an address or the tier.
std::shared_ptr<collection::LogNodes> log_nodes_of(const SearchedCollection& collection,
                                                   const BackendOptions& options);

}  // namespace farvec::compute_node
