// A DirectoryBackend opens an index directory on this machine: it is loaded into this process, or
// its records are read from disk.
#pragma once

#include "compute_node/backends/index_session.h"
#include "compute_node/service/search_backend.h"
#include "compute_node/sources/directory_source.h"
#include "layout/index/manifest.h"
#include "search/core/search_shape.h"
#include "tiers/tier_spec.h"

namespace farvec::compute_node {

/// Loads and checks codes, offsets and records, unless the records are mapped (file, devdax) or on
/// a disk. It takes any tier of this machine; for slotted pages only ssd.
class DirectoryBackend final : public SearchBackend {
 public:
  /// `largest` has the largest searches that are admitted. Throws Error on a tier that the index
  /// cannot have.
  DirectoryBackend(const DirectorySource& source, const search::SearchShape& largest);
  std::string target() const override { return "index directory " + source_.path; }
  std::unique_ptr<SearchSession> open(std::chrono::milliseconds bound,
                                      const std::atomic<bool>& stop) override;

 private:
  search::SearchShape shape_of(const layout::Manifest& manifest) const;

  const DirectorySource source_;
  const search::SearchShape largest_;
  const tiers::TierSpecPointer tier_;
};

}  // namespace farvec::compute_node
