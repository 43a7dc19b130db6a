// A CollectionBackend opens a collection on this machine, which this process searches and changes.
#pragma once

#include <memory>
#include <mutex>

#include "collection/write/collection.h"
#include "compute_node/backends/backend_options.h"
#include "compute_node/service/search_backend.h"
#include "compute_node/sources/collection_sources.h"

namespace farvec::compute_node {

/// The first open() opens the collection, replays its log and brings its records to the tier. The
/// collection stays open until the backend is destroyed, and every session searches it.
class CollectionBackend final : public SearchBackend {
 public:
  /// Throws Error on a tier that a collection cannot have.
  CollectionBackend(const ChangedSource& source, const BackendOptions& options);

  std::string target() const override { return "collection " + source_.collection.name; }
  std::unique_ptr<SearchSession> open(std::chrono::milliseconds bound,
                                      const std::atomic<bool>& stop) override;
  std::shared_ptr<ServedChanges> changes() const override;
  /// Returns the collection once it is open; null until then.
  std::shared_ptr<collection::Collection> collection() const;

 private:
  collection::CollectionAccess access() const;

  const ChangedSource source_;
  const std::uint32_t slots_;
  const collection::SegmentAccess segments_;
  const std::shared_ptr<collection::LogNodes> log_nodes_;
  const std::shared_ptr<const collection::ProbingNodes> followers_;
  mutable std::mutex mutex_;
  std::shared_ptr<collection::Collection> collection_;
  /// The collection while its segments are not all at the tier yet; used by open()'s thread only.
  std::shared_ptr<collection::Collection> opening_;
};

}  // namespace farvec::compute_node
