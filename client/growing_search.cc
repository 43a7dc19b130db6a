#include "client/growing_search.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/status_error.h"

namespace farvec::client {
namespace {

/// What a search looks for at first: fewer rows cost as much.
constexpr std::uint32_t kLeastRows = 50;

/// The list of a search of clusters does not bound its results.
std::uint32_t most_rows_of(const search::SearchBounds& most) {
  std::uint64_t rows = std::min<std::uint64_t>(most.k, most.vectors);
  if (most.kind == layout::IndexKind::graph) rows = std::min<std::uint64_t>(rows, most.list);
  return static_cast<std::uint32_t>(rows);
}

}  // namespace

GrowingSearch::GrowingSearch(search::AskedSearch first, const search::SearchBounds& most,
                             std::uint32_t clusters)
    : asked_(std::move(first)),
      most_(most),
      clusters_(clusters),
      list_(asked_.list),
      most_rows_(most_rows_of(most)),
      complete_(most.vectors == 0) {
  asked_.k = kLeastRows;
}

search::AskedSearch GrowingSearch::next(std::uint64_t rows) {
  if (!used_up_.empty()) {
    throw StatusError(StatusCode::resource_exhausted,
                      "a search has no room for more rows than came: {}", used_up_);
  }
  const std::uint64_t wanted = std::max<std::uint64_t>(rows, asked_.k);
  asked_.k = static_cast<std::uint32_t>(std::min<std::uint64_t>(wanted, most_rows_));
  const std::uint32_t longer = std::min(asked_.k + asked_.k / 2, most_.list);
  asked_.list = std::max(list_, longer);
  return asked_;
}

void GrowingSearch::came(std::size_t rows, std::uint64_t probed) {
  if (rows < asked_.k) {
    end_or_probe_more(probed);
  } else if (asked_.k == most_rows_) {
    used_up_ = clusters_ > 0 ? "its node allows no larger k (--max-k)"
                             : "its node allows no longer list (--max-list and --max-k)";
  } else {
    asked_.k = static_cast<std::uint32_t>(
        std::min<std::uint64_t>(std::uint64_t{2} * asked_.k, most_rows_));
  }
  complete_ = complete_ || rows >= most_.vectors;
  std::uint32_t& probe = asked_.probing.clusters;
  probe = static_cast<std::uint32_t>(std::max<std::uint64_t>(
      probe, std::min<std::uint64_t>(std::uint64_t{2} * probe, most_.clusters)));
}

/// Fewer rows came than were asked for: clusters that were not probed may have more.
void GrowingSearch::end_or_probe_more(std::uint64_t probed) {
  const std::uint32_t probe = asked_.probing.clusters;
  if (clusters_ == 0 || probed < probe) {
    complete_ = true;
  } else if (probe < most_.clusters) {
    return;
  } else if (asked_.within < std::numeric_limits<float>::infinity() && clusters_ != probe) {
    // Without a bound a search goes on by itself until it has enough rows.
    used_up_ = "its node allows no more clusters to probe (--max-probe)";
  } else {
    complete_ = true;
  }
}

}  // namespace farvec::client
