#include "ssd_baseline/paged/change/vertex_getter.h"

#include <cstring>

#include "layout/hnsw/hnsw_vertex.h"

namespace farvec::paged {
namespace {

/// The most look-ups of a vertex. Another one is needed when a change has moved its id meanwhile.
constexpr int kAttempts = 16;

}  // namespace

Status VertexGetter::read(NodeId id, layout::HnswPlace place, Ticks deadline,
                          std::span<std::byte> out) {
  const auto pin = fetcher_.fetch(place.page, deadline, counts_);
  if (!pin.ok()) return pin.status();
  return pin.value().read([&](std::span<const std::byte> bytes) -> Status {
    const auto vertex = layout::HnswVertex::parse(hnsw_.shape(), bytes, place.slot);
    if (!vertex.ok()) return vertex.status();
    if (vertex.value().id() != id || vertex.value().marked()) {
      return {StatusCode::not_found, "another vertex has the place"};
    }
    std::memcpy(out.data(), vertex.value().vector(), out.size());
    return {};
  });
}

Status VertexGetter::get(NodeId id, Ticks deadline, std::span<std::byte> out) {
  FARVEC_CHECK(out.size() == hnsw_.shape().vector_bytes());
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const auto found = ids_.find(id, deadline, counts_);
    if (!found.ok()) return found.status();
    const layout::HnswPlace place = found.value().place;
    if (place.empty()) return {StatusCode::not_found, "the id is not in the graph"};
    if (place.page >= hnsw_.store().pages()) {
      return {StatusCode::data_loss, "the id map leads to a page that does not exist"};
    }
    const Status status = read(id, place, deadline, out);
    if (status.code() != StatusCode::not_found) return status;
  }
  return {StatusCode::data_loss, "the id map leads to another vertex"};
}

}  // namespace farvec::paged
