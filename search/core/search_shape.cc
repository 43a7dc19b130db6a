#include "search/core/search_shape.h"

#include <string>
#include <variant>

#include "base/error.h"
#include "base/quantity.h"
#include "search/core/index_kinds.h"

namespace farvec::search {

void set_largest(SearchShape& shape, const SearchChoice& choice) {
  std::visit([&](const auto& own) { set_own_largest(shape, own); }, choice);
}

void set_shared_pools(SearchShape& shape, const DiskArguments& arguments) {
  shape.disk = parse_page_choice(arguments);
  const std::string& budget = arguments.memory_budget;
  if (budget.empty()) return;
  if (budget.ends_with('%')) {
    throw Error("--memory-budget {}: a collection grows, so say bytes, like 64MB", budget);
  }
  shape.pools = std::make_shared<slotted::PoolBudget>(parse_bytes(budget, "--memory-budget"));
}

std::shared_ptr<slotted::PoolBudget> pools_of_records(std::size_t bytes) {
  return std::make_shared<slotted::PoolBudget>(bytes, slotted::PoolBudget::Counts::records_alone);
}

void settle_pools(const SearchShape& shape) {
  if (shape.pools != nullptr) shape.pools->settle();
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
  options.second_bytes = shape.second_bytes;
  options.shared_budget = shape.pools;
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
