#include "postgres/engine/many_part.h"

#include "base/log.h"
#include <exception>

namespace farvec::postgres {
namespace {

constexpr double kLookUs = 100e3;
constexpr Status kNotOpened{StatusCode::unavailable, "the core cannot search the index"};

}  // namespace

ManyPart::Bound& ManyPart::bound_to(OpenIndex& index) {
  const auto known = bound_.find(&index);
  if (known != bound_.end()) return known->second;
  Bound bound;
  bound.index = index.shared_from_this();
  bound.part = std::make_unique<collection::CollectionPart>([&index] { return index.view(); },
                                                            count_, scheduler_);
  return bound_.emplace(&index, std::move(bound)).first->second;
}

Status ManyPart::search(std::uint32_t slot, const search::SearchRequest& request,
                        search::SearchAnswer& answer) {
  // The task that asks has the index as one that may change; a request says only which it is.
  auto& index = *static_cast<OpenIndex*>(const_cast<void*>(request.index));
  Bound* bound = nullptr;
  try {
    bound = &bound_to(index);
  } catch (const std::exception& error) {
    spdlog::error("index {} cannot be searched: {}", to_string(index.name()), error.what());
    return kNotOpened;
  }
  // References to elements of a map stay good while others come and go.
  ++bound->users;
  const Status status = bound->part->search(slot, request, answer);
  --bound->users;
  return status;
}

bool ManyPart::poll() {
  bool any = false;
  for (auto& [key, bound] : bound_) any = bound.part->poll() || any;
  const Ticks now = now_ticks();
  if (now < look_at_) return any;
  look_at_ = now + us_to_ticks(kLookUs);
  std::erase_if(bound_, [](const auto& entry) {
    return entry.second.users == 0 && entry.second.index->leaving();
  });
  return any;
}

search::CoreStatistics ManyPart::statistics() const {
  search::CoreStatistics sum;
  for (const auto& [key, bound] : bound_) sum += bound.part->statistics();
  return sum;
}

}  // namespace farvec::postgres
