// An index directory on this machine: loaded into this process, or its records read from disk.
#pragma once

#include "compute_node/backends/index_session.h"
#include "compute_node/daemon/daemon_options.h"
#include "compute_node/service/search_backend.h"
#include "layout/index/manifest.h"
#include "tiers/tier_spec.h"

namespace farvec::compute_node {

/// Loads and checks codes, offsets and, unless they are mapped (file, devdax) or on a disk,
/// records. Any tier of this machine; ssd is the only one for slotted pages.
class DirectoryBackend final : public SearchBackend {
 public:
  /// Throws Error on a tier that it does not have.
  explicit DirectoryBackend(const DaemonOptions& options);
  std::string target() const override { return "index directory " + options_.index; }
  std::unique_ptr<SearchSession> open(std::chrono::milliseconds bound,
                                      const std::atomic<bool>& stop) override;

 private:
  search::SearchShape shape_of(const layout::Manifest& manifest) const;

  const DaemonOptions options_;
  const tiers::TierSpecPointer tier_;
};

}  // namespace farvec::compute_node
