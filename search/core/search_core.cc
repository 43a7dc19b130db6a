#include "search/core/search_core.h"

#include <utility>

#include "search/core/core_loop.h"

namespace farvec::search {

Status check_time(Ticks deadline, const SearchCaller* caller) {
  if (caller != nullptr && caller->gave_up()) {
    return {StatusCode::cancelled, "the search was given up while it ran"};
  }
  if (now_ticks() <= deadline) return {};
  return {StatusCode::deadline_exceeded, "the deadline passed during the search"};
}

std::unique_ptr<SearchCore> make_core(const SearchIndex& index, std::span<const std::byte> region,
                                      const SearchCoreOptions& options) {
  return std::make_unique<CoreLoop>(CoreFibers{options.slots},
                                    [&](coroutines::Scheduler& scheduler) {
                                      return make_part(index, region, options, scheduler);
                                    });
}

std::unique_ptr<SearchCore> make_core(const SearchIndex& index,
                                      std::unique_ptr<transport::Endpoint> endpoint,
                                      const SearchCoreOptions& options) {
  return std::make_unique<CoreLoop>(
      CoreFibers{options.slots}, [&](coroutines::Scheduler& scheduler) {
        return make_part(index, std::move(endpoint), options, scheduler);
      });
}

}  // namespace farvec::search
