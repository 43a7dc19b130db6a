#include "search/core/core_part.h"

#include <utility>

#include "search/core/index_kinds.h"
#include "search/index/search_index.h"

namespace farvec::search {

std::unique_ptr<CorePart> make_part(const SearchIndex& index, std::span<const std::byte> region,
                                    const SearchCoreOptions& options,
                                    coroutines::Scheduler& scheduler) {
  return index.visit_records(
      [&](const auto& own) { return make_load_part(own, region, options, scheduler); });
}

std::unique_ptr<CorePart> make_part(const SearchIndex& index,
                                    std::unique_ptr<transport::Endpoint> endpoint,
                                    const SearchCoreOptions& options,
                                    coroutines::Scheduler& scheduler) {
  return index.visit_records([&](const auto& own) {
    return make_read_part(own, std::move(endpoint), options, scheduler);
  });
}

}  // namespace farvec::search
