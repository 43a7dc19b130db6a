// An index directory on this machine: loaded into this process, or its records read from disk.
#pragma once

#include "compute_node/service/daemon_options.h"
#include "compute_node/service/index_session.h"
#include "compute_node/service/search_backend.h"
#include "layout/region/index_directory.h"
#include "transport/tier.h"

namespace farvec::compute_node {

/// Loads and checks codes, offsets and, unless the tier is ssd, records. Tiers: dram, emulated,
/// ssd, which is the only one for slotted pages.
class DirectoryBackend final : public SearchBackend {
 public:
  /// Throws Error on a tier that it does not have.
  explicit DirectoryBackend(const DaemonOptions& options);
  std::string target() const override { return "index directory " + options_.index; }
  std::unique_ptr<SearchSession> open(std::chrono::milliseconds bound,
                                      const std::atomic<bool>& stop) override;

 private:
  ssd_baseline::SlottedSearchOptions slotted_searches(const layout::Manifest& manifest) const;
  void open_slotted(const layout::IndexDirectory& directory, const search::SearchIndex& index,
                    const layout::LoadOptions& options, IndexSessionOptions& session) const;
  void open_disk(const layout::IndexDirectory& directory, const search::SearchIndex& index,
                 IndexSessionOptions& session) const;
  void load_records(const layout::IndexDirectory& directory, const layout::LoadOptions& options,
                    IndexSessionOptions& session) const;

  const DaemonOptions options_;
  transport::TierSpec tier_;
};

}  // namespace farvec::compute_node
