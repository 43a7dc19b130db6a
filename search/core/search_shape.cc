#include "search/core/search_shape.h"

#include <variant>

#include "search/core/index_kinds.h"

namespace farvec::search {

void set_largest(SearchShape& shape, const SearchChoice& choice) {
  std::visit([&](const auto& own) { set_own_largest(shape, own); }, choice);
}

SearchCoreOptions core_options(const SearchShape& shape) {
  SearchCoreOptions options;
  options.slots = shape.slots;
  options.cache_bytes = shape.cache_bytes;
  options.max_list = shape.list;
  options.max_probe = shape.probe;
  options.merge_gap_bytes = shape.merge_gap_bytes;
  options.probe_counts = shape.probe_counts;
  return options;
}

slotted::SlottedSearchOptions slotted_options(const SearchShape& shape,
                                              const layout::Manifest& manifest) {
  const DiskChoice choice = resolve_rerank(shape.disk, manifest, shape.k, shape.list);
  slotted::SlottedSearchOptions options;
  options.search = choice.search;
  options.pool = choice.pool;
  options.prefetch = choice.prefetch;
  options.page_search = choice.page_search;
  options.memory_budget = choice.memory_budget;
  options.rerank = *choice.rerank;
  options.rerank_by_k = !shape.disk.rerank && options.rerank > 0;
  options.cores = shape.cores;
  options.slots = shape.slots;
  options.list = shape.list;
  options.width = shape.width;
  options.k = shape.k;
  return options;
}

}  // namespace farvec::search
