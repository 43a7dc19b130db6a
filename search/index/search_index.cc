#include "search/index/search_index.h"

#include <algorithm>

#include "base/error.h"
#include "layout/graph/record_reader.h"
#include "search/index/row_attributes.h"
#include "search/index/second_copy.h"

namespace farvec::search {
namespace {

void find_vertices(const GraphIndex& index, std::span<const std::byte> region) {
  RowVertices& vertices = *index.row_vertices();
  layout::RecordReader records(index.locator(), region);
  vertices.open();
  while (!vertices.known()) {
    const RowVertices::Batch batch = vertices.next();
    for (NodeId v = batch.first; v < batch.first + batch.count; ++v) {
      vertices.learn(v, records.read(v).row);
    }
    if (batch.count > 0) vertices.finish(batch);
  }
  if (Status status = vertices.check(); !status.ok()) {
    throw Error("{}: the index is damaged; rebuild it", status.message());
  }
}

}  // namespace

void SearchIndex::find_rows(std::span<const std::byte> region) {
  if (!must_find_rows()) return;
  if (auto* const clusters = std::get_if<ClusterIndex>(&index_)) {
    clusters->find_homes(region);
  } else {
    find_vertices(*graph(), region);
  }
}

bool SearchIndex::must_find_rows() const {
  if (clusters() != nullptr) return true;
  return graph() != nullptr && graph()->row_vertices() != nullptr;
}

std::size_t SearchIndex::dram_bytes() const {
  const std::size_t own = std::visit([](const auto& index) { return index.dram_bytes(); }, index_);
  const std::size_t of_second = second_ == nullptr ? 0 : second_->dram_bytes();
  return own + of_second + (attributes_ == nullptr ? 0 : attributes_->dram_bytes());
}

std::size_t SearchIndex::row_bytes() const {
  if (clusters() != nullptr) return clusters()->home_bytes();
  const RowVertices* const vertices = graph() == nullptr ? nullptr : graph()->row_vertices();
  return vertices == nullptr ? 0 : vertices->dram_bytes();
}

}  // namespace farvec::search
