// --tier ssd: an index's pages on a disk of this machine, and what searches may keep in memory.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/search/batch_search.h"
#include "disk/disk_file.h"
#include "layout/region/index_directory.h"
#include "search/disk_options.h"
#include "search/search_core.h"
#include "ssd_baseline/search/slotted_store.h"

namespace farvec::cli {

using search::DiskArguments;
using search::DiskChoice;

/// All combinations; of an index that is not in slotted pages the budgets alone. Throws Error for
/// anything that is not understood.
std::vector<DiskChoice> disk_choices(const DiskArguments& arguments,
                                     const layout::Manifest& manifest);

/// The choice with a number of results to rank again: twice the k, as far as the list goes, where
/// there are vectors beside the codes.
DiskChoice resolve_rerank(DiskChoice choice, const layout::Manifest& manifest, std::uint32_t k,
                          std::uint32_t list);

/// The only one. Throws Error when the arguments are lists.
DiskChoice one_disk_choice(const DiskArguments& arguments, const layout::Manifest& manifest);

/// Slotted pages in a file or on a block device. Directory and index must outlive it and its cores.
class DiskTier {
 public:
  static constexpr std::uint32_t kMostSlots = 64;
  /// Most searches for each number of slots that choose_slots() tries.
  static constexpr std::size_t kProbeQueries = 800;
  /// Most searches that choose_slots() does in all.
  static constexpr std::size_t kChoosingSearches = kProbeQueries * std::bit_width(kMostSlots);

  /// `path` is the index's pages themselves, a directory that holds them (and the vectors, when
  /// results are ranked again) under their name, or empty: they lie in the index's directory.
  /// Throws Error when they are not this index's.
  DiskTier(const std::string& path, const layout::IndexDirectory& directory,
           const ssd_baseline::SlottedIndex& index);

  /// Cores that share a pool, which is as large as the budget allows. Throws Error when the budget
  /// is too small.
  std::vector<std::unique_ptr<search::SearchCore>> make_cores(
      const ssd_baseline::SlottedSearchOptions& options) const;
  ssd_baseline::MemoryPlan plan(const ssd_baseline::SlottedSearchOptions& options) const {
    return ssd_baseline::SlottedStore::plan(index_, options);
  }

  /// Searches in flight on a core that keep the disk busy: the fewest, of powers of two, with
  /// nearly the best rate over some of the queries; no more than leave the pool its share of the
  /// budget. `all.slots` does not matter. Takes about three seconds.
  std::uint32_t choose_slots(const ssd_baseline::SlottedSearchOptions& all, VectorView queries,
                             const BatchParameters& parameters) const;

  /// "PATH (O_DIRECT, blocks of 512 bytes), io_uring (...)".
  const std::string& model() const { return model_; }

 private:
  /// Queries per second, over some of them, on one core.
  double probe_rate(const ssd_baseline::SlottedSearchOptions& options, VectorView queries,
                    const BatchParameters& parameters) const;
  /// Most that leave enough of the budget to the pool.
  std::uint32_t affordable_slots(ssd_baseline::SlottedSearchOptions options) const;

  const layout::IndexDirectory& directory_;
  const ssd_baseline::SlottedIndex& index_;
  const std::string path_;
  const std::string model_;
};

}  // namespace farvec::cli
