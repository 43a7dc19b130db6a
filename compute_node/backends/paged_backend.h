// A PagedBackend opens a graph on pages on this machine, which this process searches and changes.
#pragma once

#include <memory>
#include <mutex>

#include "compute_node/service/search_backend.h"
#include "compute_node/sources/paged_source.h"
#include "ssd_baseline/paged/cores/paged_part.h"

namespace farvec::compute_node {

class PagedChanges;

/// The first open() opens the graph and recovers what its log has. The graph stays open until the
/// backend is destroyed, and every session searches it. Closing it writes the changed pages.
class PagedBackend final : public SearchBackend {
 public:
  PagedBackend(const PagedSource& source, const search::SearchShape& largest);
  ~PagedBackend() override;

  std::string target() const override { return "graph on pages " + source_.folder; }
  std::unique_ptr<SearchSession> open(std::chrono::milliseconds bound,
                                      const std::atomic<bool>& stop) override;
  std::shared_ptr<ServedChanges> changes() const override;

 private:
  const PagedSource source_;
  const search::SearchShape largest_;
  const std::shared_ptr<paged::WorkQueue> works_;
  mutable std::mutex mutex_;
  std::shared_ptr<paged::PagedHnsw> hnsw_;
  std::shared_ptr<PagedChanges> changes_;
};

}  // namespace farvec::compute_node
