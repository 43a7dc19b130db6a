// Builds indexes of a sample in a folder of their own, and opens them in the way that every tool
// opens an index.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/progress.h"
#include "disk/disk_file.h"
#include "layout/index/index_directory.h"
#include "measure/advise/sample.h"
#include "measure/advise/setting.h"
#include "ssd_baseline/slotted/search/slotted_index.h"
#include "ssd_baseline/slotted/search/slotted_store.h"
#include "tiers/index_on_tier.h"

namespace farvec::measure {

struct SmallBuild {
  GraphBuild recipe;
  std::uint64_t seed = 1;
  unsigned threads = 0;
  std::vector<layout::LayoutKind> graph_layouts;
  Interruption interrupted = {};
};

/// Builds one graph and writes one index per layout, at directory / to_string(layout). Returns the
/// share of its vertices that have fewer than half of `degree` edges. Where the codes of a layout
/// do not serve the sample, build.recipe.steering has from then on the bits that were written
/// instead and the reason. Bits that recipe.code_bits asks for are not replaced. Throws Error.
double write_graphs(const std::filesystem::path& directory, const Sample& sample,
                    std::uint32_t degree, SmallBuild& build);

/// Clusters the sample once and writes one index per layout, at directory / to_string(layout).
/// Throws Error.
void write_clusters(const std::filesystem::path& directory, const Sample& sample,
                    const Partition& partition,
                    const std::vector<layout::ClusterLayoutKind>& layouts, const SmallBuild& build);

/// Opens an index so that it is ready to be searched on one modelled device, or in DRAM.
class OpenIndex {
 public:
  /// Throws Error.
  OpenIndex(const std::filesystem::path& directory, const tiers::TierSpec& tier);

  const layout::Manifest& manifest() const { return directory_.manifest(); }
  const search::SearchIndex& index() const { return index_; }
  /// Returns the bytes of its records and of what is kept beside them.
  std::uint64_t bytes() const { return index_.region_bytes() + index_.dram_bytes(); }
  /// Makes the cores, which must not outlive this object.
  std::vector<std::unique_ptr<search::SearchCore>> make_cores(
      const search::SearchShape& shape) const {
    return tier_.make_cores(shape);
  }

 private:
  const layout::IndexDirectory directory_;
  const search::SearchIndex index_;
  tiers::IndexRecords records_;
  const tiers::IndexOnTier tier_;
};

/// Opens an index in slotted pages that is read from memory instead of a disk: what its searches
/// read and compute is the same.
class OpenPages {
 public:
  /// Throws Error.
  explicit OpenPages(const std::filesystem::path& directory);

  const layout::Manifest& manifest() const { return directory_.manifest(); }
  const slotted::SlottedIndex& index() const { return index_; }
  /// Makes a core with an empty pool, which must not outlive this object. Throws Error when the
  /// budget is too small.
  std::unique_ptr<search::SearchCore> make_core(const slotted::SlottedSearchOptions& options) const;

 private:
  const layout::IndexDirectory directory_;
  const slotted::SlottedIndex index_;
  const disk::DiskFiles files_;
  const HugeBuffer pages_;
};

}  // namespace farvec::measure
