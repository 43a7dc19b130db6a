#include "search/search_core.h"

#include <utility>

#include "search/index_kinds.h"
#include "search/search_index.h"

namespace farvec::search {

std::unique_ptr<SearchCore> make_core(const SearchIndex& index, std::span<const std::byte> region,
                                      const SearchCoreOptions& options) {
  return index.visit_records([&](const auto& own) { return make_load_core(own, region, options); });
}

std::unique_ptr<SearchCore> make_core(const SearchIndex& index,
                                      std::unique_ptr<transport::Endpoint> endpoint,
                                      const SearchCoreOptions& options) {
  return index.visit_records(
      [&](const auto& own) { return make_read_core(own, std::move(endpoint), options); });
}

}  // namespace farvec::search
