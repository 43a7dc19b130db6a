// A random graph in slotted pages, for tests that only move bytes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <numeric>
#include <string>
#include <vector>

#include "layout/index/slotted_writer.h"
#include "layout/pages/page_encoder.h"
#include "layout/pages/page_plan.h"
#include "layout/pages/slotted_page.h"
#include "layout/pages/slotted_record.h"
#include "tests/unit/layout/graph/random_graph.h"
#include "tests/unit/layout/index/index_fixture.h"

namespace farvec::layout {

struct PageShape {
  std::size_t count = 500;
  std::uint32_t max_degree = 12;
  std::uint32_t payload_bytes = 37;
  std::uint32_t page_bytes = 4096;
};

/// Random payloads, a plan in the order of a shuffle, every third record colored.
class RandomPages {
 public:
  explicit RandomPages(const PageShape& shape = {})
      : graph_(shape.count, shape.max_degree, shape.payload_bytes, ElementType::u8),
        geometry_{.payload = PayloadKind::vector,
                  .extension_bits = 0,
                  .payload_bytes = shape.payload_bytes,
                  .page_bytes = shape.page_bytes,
                  .max_degree = shape.max_degree,
                  .pages = 0,
                  .count = shape.count},
        costs_(record_costs(geometry_, graph_.view(), 2)) {
    std::vector<NodeId> order(shape.count);
    std::iota(order.begin(), order.end(), NodeId{0});
    Random random(9);
    for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
    plan_ = plan_in_order(order, costs_);
    for (const NodeId id : plan_.ids) plan_.colors.push_back(color_of(id));
    geometry_.pages = static_cast<std::uint32_t>(plan_.pages());
  }

  static std::uint8_t color_of(NodeId id) {
    return id % 3 == 0 ? static_cast<std::uint8_t>(1 + id % 255) : std::uint8_t{0};
  }

  const RandomGraph& graph() const { return graph_; }
  const SlottedGeometry& geometry() const { return geometry_; }
  const RecordCosts& costs() const { return costs_; }
  const PagePlan& plan() const { return plan_; }
  PageEncoder encoder() const {
    const VectorView rows = graph_.vectors();
    return PageEncoder(geometry_, graph_.view(), {rows.data, rows.stride_bytes}, plan_);
  }
  std::vector<std::byte> encode() const {
    std::vector<std::byte> bytes(std::size_t{geometry_.pages} * geometry_.page_bytes);
    encoder().encode(0, geometry_.pages, bytes);
    return bytes;
  }
  std::vector<NodeId> sorted_neighbors(NodeId id) const {
    const AdjacencyView view = graph_.view();
    std::vector<NodeId> ids(view.row(id), view.row(id) + view.degrees[id]);
    std::sort(ids.begin(), ids.end());
    return ids;
  }
  std::span<const std::byte> page(const std::vector<std::byte>& bytes, std::uint32_t number) const {
    return std::span(bytes).subspan(std::size_t{number} * geometry_.page_bytes,
                                    geometry_.page_bytes);
  }

 private:
  RandomGraph graph_;
  SlottedGeometry geometry_;
  RecordCosts costs_;
  PagePlan plan_;
};

/// The same as an index on disk, with random codes.
class RandomSlottedIndex {
 public:
  explicit RandomSlottedIndex(std::size_t count = 500) : pages_({.count = count}) {
    RandomIndex like(count);
    manifest_ = like.manifest();
    manifest_.graph().make_slotted() = {PayloadKind::vector, 0, 37, 0, "id", true, 10, 4, {}};
    // Every second vertex, in a ring.
    for (std::size_t id = 0; id < count; id += 2) entry_ids_.push_back(static_cast<NodeId>(id));
    for (std::size_t v = 0; v < entry_ids_.size(); ++v) {
      next_.push_back(entry_ids_[(v + 1) % entry_ids_.size()]);
    }
    ones_.assign(entry_ids_.size(), 1);
    const IndexContents contents = like.contents();
    header_ = contents.codes.header;
    centroid_ = like.centroid();
    records_ = like.records();
  }

  Manifest& manifest() { return manifest_; }
  const RandomPages& pages() const { return pages_; }
  SampledGraphView entries() const {
    return {entry_ids_, {next_.data(), ones_.data(), next_.size(), 1, entry_ids_.back()}};
  }
  Manifest write(const std::filesystem::path& directory, bool overwrite = false) const {
    const VectorView rows = pages_.graph().vectors();
    return write_slotted_index(directory, manifest_,
                               {pages_.graph().view(),
                                rows,
                                {rows.data, rows.stride_bytes},
                                {header_, centroid_, records_},
                                pages_.costs(),
                                pages_.plan(),
                                entries()},
                               {.overwrite = overwrite, .threads = 2, .quiet = true});
  }

 private:
  RandomPages pages_;
  Manifest manifest_;
  CodesHeader header_;
  std::vector<float> centroid_;
  std::vector<std::byte> records_;
  std::vector<NodeId> entry_ids_;
  std::vector<NodeId> next_;
  std::vector<std::uint32_t> ones_;
};

}  // namespace farvec::layout
