#include "ssd_baseline/paged/graph/gathered_vectors.h"

#include <algorithm>

namespace farvec::paged {

Status GatheredVectors::gather(std::span<const graph::Handle> handles, Ticks deadline,
                               FetchCounts& counts) {
  wanted_.assign(handles.begin(), handles.end());
  std::sort(wanted_.begin(), wanted_.end());
  wanted_.erase(std::unique(wanted_.begin(), wanted_.end()), wanted_.end());
  std::erase_if(wanted_, [&](graph::Handle handle) { return find(handle) != nullptr; });
  const std::size_t known = entries_.size();
  const Status status = reader_.read(
      wanted_, deadline, counts, [&](std::uint32_t i, const layout::HnswVertex& v) -> Status {
        const auto row = static_cast<std::uint32_t>(entries_.size());
        entries_.push_back({wanted_[i], row, v.id(), v.marked()});
        rows_.insert(rows_.end(), v.vector(), v.vector() + vector_bytes());
        return {};
      });
  const auto by_handle = [](const Entry& a, const Entry& b) { return a.handle < b.handle; };
  const auto middle = entries_.begin() + static_cast<std::ptrdiff_t>(known);
  std::sort(middle, entries_.end(), by_handle);
  std::inplace_merge(entries_.begin(), middle, entries_.end(), by_handle);
  return status;
}

const GatheredVectors::Entry* GatheredVectors::find(graph::Handle handle) const {
  const auto at =
      std::lower_bound(entries_.begin(), entries_.end(), handle,
                       [](const Entry& entry, graph::Handle h) { return entry.handle < h; });
  return at != entries_.end() && at->handle == handle ? &*at : nullptr;
}

}  // namespace farvec::paged
