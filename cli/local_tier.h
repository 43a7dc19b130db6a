// Tiers inside this process: an index's records in DRAM, shared memory, a mapped file or device,
// behind a modelled device, or on a disk.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "cli/disk_tier.h"
#include "cli/tier_memory.h"
#include "tiers/attach/node_set.h"
#include "disk/disk_file.h"
#include "layout/region/index_directory.h"
#include "search/disk_memory.h"
#include "search/search_core.h"
#include "search/search_index.h"
#include "transport/emulated/device.h"
#include "transport/mapped/mapped_endpoint.h"
#include "transport/tier.h"

namespace farvec::cli {

/// The records region of one index in each kind of memory, loaded when a tier first asks for it and
/// shared by all that do.
class LocalMemory {
 public:
  explicit LocalMemory(const layout::IndexDirectory& directory) : directory_(directory) {}

  std::span<const std::byte> dram();
  /// Region 0 in a memfd, mapped read-only.
  std::shared_ptr<const transport::RegionSet> shared();
  const layout::IndexDirectory& directory() const { return directory_; }

 private:
  const layout::IndexDirectory& directory_;
  std::optional<HugeBuffer> dram_;
  std::shared_ptr<const transport::RegionSet> shared_;
};

/// What the cores of one combination are to be like.
struct CoreRequest {
  search::SearchCoreOptions options = {};
  std::uint32_t cores = 1;
  std::uint32_t list = 64;   ///< largest
  std::uint32_t width = 1;   ///< largest
  std::uint32_t probe = 16;  ///< largest
  std::uint32_t k = 10;      ///< largest
  DiskChoice disk = {};      ///< of ssd
};

/// Makes the cores of one tier. The index and memory must outlive it and its cores.
class LocalTier {
 public:
  /// Throws Error when the tier cannot be opened.
  LocalTier(const transport::TierSpec& spec, const search::SearchIndex& index, LocalMemory& memory,
            const RemoteAccess& access);

  std::vector<std::unique_ptr<search::SearchCore>> make_cores(const CoreRequest& request);
  /// How many searches a core of the request should have in flight when nobody says.
  std::uint32_t choose_slots(const CoreRequest& request, VectorView queries,
                             const BatchParameters& parameters) const;
  /// Not of slotted pages.
  std::unique_ptr<search::SearchCore> make_core(search::SearchCoreOptions options);
  /// What the searches of a request keep in memory at most; none where only ssd has a budget.
  /// Throws Error when its budget is too small.
  std::optional<std::size_t> memory_bytes(const CoreRequest& request) const;

  /// "dram", "emulated:rdma".
  const std::string& name() const { return name_; }
  /// What stands behind the name, a modelled device with all its parameters.
  const std::string& model() const { return model_; }
  const layout::Manifest& manifest() const { return memory_.directory().manifest(); }
  /// Whether choose_slots() measures, and for seconds.
  bool measures_slots() const { return slotted_.has_value(); }
  bool is_disk() const { return spec_.kind == transport::TierKind::ssd; }
  /// Whether a record cache has anything to save: loads in place go past it.
  bool uses_cache() const { return !slotted_ && !transport::reached_by_loads(spec_); }

 private:
  /// None where a merged read might lie on two memory nodes.
  std::optional<std::uint32_t> merge_gap_bytes() const;
  void attach(const RemoteAccess& access);
  void open_disk();
  std::unique_ptr<transport::Endpoint> disk_endpoint() const;

  const transport::TierSpec spec_;
  const search::SearchIndex& index_;
  LocalMemory& memory_;
  std::string name_;
  std::string model_;
  std::shared_ptr<const transport::RegionSet> mapped_;  ///< of file, devdax and emulated
  std::shared_ptr<transport::Device> device_;           ///< of emulated
  std::shared_ptr<tiers::NodeSet> nodes_;        ///< of verbs and fabric
  std::optional<DiskTier> slotted_;                     ///< of ssd, slotted pages
  /// Tier ssd: the records of an index that is not in slotted pages.
  std::shared_ptr<const disk::DiskFile> records_;
};

}  // namespace farvec::cli
