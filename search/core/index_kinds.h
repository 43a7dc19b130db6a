// Declares what each kind of index does in its own way: an overload of each function for every
// kind, together in one file per kind (graph_kind.cc, cluster_kind.cc). Slotted pages, which are a
// graph's in the manifest, are loaded here too; slotted_core.h declares what searches them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "layout/index/index_directory.h"
#include "search/core/core_part.h"
#include "search/core/search_shape.h"
#include "search/index/region_fetch.h"
#include "search/index/search_index.h"
#include "search/lanes/read_dispatcher.h"

namespace farvec::search {

/// Like load_search_index(); `description` is the manifest's own.
SearchIndex load_kind(const layout::IndexDirectory& directory,
                      const layout::GraphDescription& description,
                      const layout::LoadOptions& options);
SearchIndex load_kind(const layout::IndexDirectory& directory,
                      const layout::ClusterDescription& description,
                      const layout::LoadOptions& options);

/// Like fetch_search_index(); `description` is the manifest's own, and in a layout for memory.
SearchIndex fetch_kind(const layout::Manifest& manifest,
                       const layout::GraphDescription& description, transport::Endpoint& endpoint,
                       const FetchBound& bound);
SearchIndex fetch_kind(const layout::Manifest& manifest,
                       const layout::ClusterDescription& description, transport::Endpoint& endpoint,
                       const FetchBound& bound);

/// Works like make_part().
std::unique_ptr<CorePart> make_load_part(const GraphIndex& index, std::span<const std::byte> region,
                                         const SearchCoreOptions& options,
                                         coroutines::Scheduler& scheduler);
std::unique_ptr<CorePart> make_load_part(const ClusterIndex& index,
                                         std::span<const std::byte> region,
                                         const SearchCoreOptions& options,
                                         coroutines::Scheduler& scheduler);
std::unique_ptr<CorePart> make_read_part(const GraphIndex& index,
                                         std::unique_ptr<transport::Endpoint> endpoint,
                                         const SearchCoreOptions& options,
                                         coroutines::Scheduler& scheduler);
std::unique_ptr<CorePart> make_read_part(const ClusterIndex& index,
                                         std::unique_ptr<transport::Endpoint> endpoint,
                                         const SearchCoreOptions& options,
                                         coroutines::Scheduler& scheduler);

/// Returns the bytes of the longest read that searches of the index ask for. Throws Error when no
/// disk brings that many at once.
std::uint64_t longest_read(const GraphIndex& index);
std::uint64_t longest_read(const ClusterIndex& index);

/// Works like set_largest().
void set_own_largest(SearchShape& shape, const GraphChoice& choice);
void set_own_largest(SearchShape& shape, const ProbeChoice& choice);

/// CoreNeeds says what memory one core over an endpoint needs.
struct CoreNeeds {
  DispatcherOptions lanes;
  std::size_t search_bytes = 0;  ///< the most that one search in flight takes
  std::size_t cache_bytes = 0;   ///< size of its record cache
};
CoreNeeds core_needs(const GraphIndex& index, const SearchShape& shape);
CoreNeeds core_needs(const ClusterIndex& index, const SearchShape& shape);

}  // namespace farvec::search
