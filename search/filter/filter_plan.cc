#include "search/filter/filter_plan.h"

#include <algorithm>
#include <cmath>

namespace farvec::search {
namespace {

/// An estimate takes some 15 ns, in which a disk of 2.5 GB a second brings this much.
constexpr std::uint32_t kBytesPerEstimate = 32;

std::uint32_t max_degree(const SearchIndex& index) {
  return index.graph() != nullptr ? index.graph()->max_degree() : index.slotted()->max_degree();
}

}  // namespace

bool can_scan(const SearchIndex& index) {
  if (index.clusters() != nullptr) return false;
  const RowVertices* const vertices =
      index.graph() == nullptr ? nullptr : index.graph()->row_vertices();
  return vertices == nullptr || vertices->known();
}

std::uint64_t most_scanned(const SearchIndex& index, std::uint32_t list,
                           std::uint32_t request_bytes) {
  if (!can_scan(index)) return 0;
  const bool estimates = index.graph() == nullptr || index.graph()->vertex_codes() != nullptr;
  const double reads = static_cast<double>(list) * index.count();
  if (!estimates) return static_cast<std::uint64_t>(std::sqrt(reads));
  const std::uint32_t estimates_per_read = max_degree(index) + request_bytes / kBytesPerEstimate;
  const double least = std::sqrt(reads * estimates_per_read);
  return std::max(kFewRows, static_cast<std::uint64_t>(least));
}

}  // namespace farvec::search
