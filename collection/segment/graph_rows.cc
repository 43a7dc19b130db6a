// This file reads rows of segments that are graphs.
#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/error.h"
#include "collection/segment/checked_records.h"
#include "collection/segment/opened_rows.h"
#include "layout/graph/graph_layout.h"
#include "layout/graph/record_reader.h"

namespace farvec::collection {
namespace {

/// Vertices between two checks of the deadline.
constexpr NodeId kLearnRun = 4096;

/// Where vertices have numbers of their own (packed), all records are read to learn them.
class GraphRows final : public OpenedRows {
 public:
  explicit GraphRows(const layout::IndexDirectory& directory)
      : locator_(directory.load_locator({.threads = 1, .quiet = true})), records_(directory) {}

  Status learn(Ticks deadline) override;
  Status read(NodeId row, std::span<std::byte> out, Ticks deadline) const override;
  bool copy(NodeId row, std::span<std::byte> out, std::span<const std::byte> region) const override;

 private:
  struct Learning {
    CheckedRecords::Loading loading;
    NodeId vertices = 0;
  };
  Status number(Learning& learning, Ticks deadline);
  NodeId vertex_of(NodeId row) const { return vertex_of_.empty() ? row : vertex_of_.at(row); }
  void take(NodeId vertex, std::span<const std::byte> bytes, std::span<std::byte> out) const;

  const layout::GraphLocator locator_;
  const CheckedRecords records_;
  std::unique_ptr<Learning> learning_;
  std::vector<NodeId> vertex_of_;  ///< [row]; empty: each is its row's number
};

Status GraphRows::learn(Ticks deadline) {
  if (locator_.geometry().kind != layout::LayoutKind::packed) return {};
  if (learning_ == nullptr) {
    learning_ = std::make_unique<Learning>();
    vertex_of_.assign(locator_.geometry().count, kInvalidNode);
  }
  if (Status status = records_.load(learning_->loading, deadline); !status.ok()) return status;
  if (Status status = number(*learning_, deadline); !status.ok()) return status;
  learning_.reset();
  const auto missing = std::find(vertex_of_.begin(), vertex_of_.end(), kInvalidNode);
  if (missing == vertex_of_.end()) return {};
  throw Error("'{}' has no vertex of row {}: it is damaged", records_.path(),
              missing - vertex_of_.begin());
}

Status GraphRows::number(Learning& learning, Ticks deadline) {
  layout::RecordReader records(locator_, learning.loading.region.span());
  for (NodeId& v = learning.vertices; v < locator_.geometry().count; ++v) {
    if (v % kLearnRun == 0 && now_ticks() >= deadline) return rows_are_too_late();
    vertex_of_[records.read(v).row] = v;
  }
  return {};
}

Status GraphRows::read(NodeId row, std::span<std::byte> out, Ticks deadline) const {
  FARVEC_CHECK(row < locator_.geometry().count);
  const NodeId vertex = vertex_of(row);
  const layout::Extent extent = locator_.locate(vertex);
  std::vector<std::byte> bytes(extent.bytes);
  const Status read = records_.read(extent.offset, bytes, deadline);
  if (read.ok()) take(vertex, bytes, out);
  return read;
}

bool GraphRows::copy(NodeId row, std::span<std::byte> out,
                     std::span<const std::byte> region) const {
  FARVEC_CHECK(row < locator_.geometry().count);
  const NodeId vertex = vertex_of(row);
  const layout::Extent extent = locator_.locate(vertex);
  FARVEC_CHECK(extent.offset + extent.bytes <= region.size());
  take(vertex, region.subspan(extent.offset, extent.bytes), out);
  return true;
}

/// Copies the vector out of a vertex's record.
void GraphRows::take(NodeId vertex, std::span<const std::byte> bytes,
                     std::span<std::byte> out) const {
  FARVEC_CHECK(out.size() == locator_.geometry().vector_bytes);
  std::vector<NodeId> scratch(locator_.geometry().scratch_ids());
  const Result<NodeRecord> record = locator_.parse(vertex, locator_.locate(vertex), bytes, scratch);
  if (!record.ok()) {
    throw Error("'{}', vertex {}: {}", records_.path(), vertex, record.status().message());
  }
  std::memcpy(out.data(), record.value().vector, out.size());
}

}  // namespace

std::unique_ptr<OpenedRows> open_graph_rows(const layout::IndexDirectory& directory) {
  return std::make_unique<GraphRows>(directory);
}

}  // namespace farvec::collection
