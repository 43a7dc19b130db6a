// A SlottedIndex holds what a search of slotted pages keeps in DRAM besides its pool.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "base/types.h"
#include "distance/distance.h"
#include "graph/beam_scratch.h"
#include "layout/graph/codes_region.h"
#include "layout/index/index_directory.h"
#include "layout/pages/slotted_geometry.h"
#include "quantization/split_rabitq.h"

namespace farvec::slotted {

/// A PreparedQuery is one query, ready to be compared with codes.
struct PreparedQuery {
  quantization::SplitQuery split;  ///< only `code` is used where the records hold vectors
  const std::byte* vector = nullptr;
};

/// Holds the codes, the graph of entries and the facts of an index; the store knows where the
/// records are. Immutable after construction and shared by all cores.
class SlottedIndex {
 public:
  struct Parts {
    Metric metric = Metric::l2;
    ElementType type = ElementType::f32;  ///< stored
    std::uint32_t dimension = 0;
    NodeId entry = kInvalidNode;
    layout::SlottedGeometry geometry;
    layout::Codes codes;
    layout::EntryGraph entries;
    bool has_vectors = false;  ///< true: in a region of their own
  };
  /// Throws Error when the parts do not fit together.
  explicit SlottedIndex(Parts parts);

  const layout::SlottedGeometry& geometry() const { return parts_.geometry; }
  std::uint32_t dimension() const { return parts_.dimension; }
  std::size_t count() const { return parts_.geometry.count; }
  std::uint32_t max_degree() const { return parts_.geometry.max_degree; }
  /// Every vertex is reachable from it.
  NodeId entry() const { return parts_.entry; }
  /// The graph that finds better places to start from.
  SampledGraphView entry_graph() const { return parts_.entries.view(); }
  bool has_vectors() const { return parts_.has_vectors; }
  /// Says whether the records hold vectors; else they hold the rest of the codes.
  bool vectors_in_records() const { return !split_; }
  std::uint32_t vector_bytes() const {
    return static_cast<std::uint32_t>(packed_bytes(parts_.type, parts_.dimension));
  }

  void prepare(const std::byte* query, PreparedQuery& out) const;
  void prefetch(NodeId id) const { code().prefetch_record(codes_, id); }
  void estimate(const PreparedQuery& query, const NodeId* ids, std::size_t count,
                float* out) const {
    code().estimate(query.split.code, codes_, ids, count, out);
  }
  /// Returns the distance by the record's payload, which is the rest of the code, or the vector.
  float refine(const PreparedQuery& query, NodeId id, const std::byte* payload) const {
    if (!split_) return distance(query, payload);
    return split_->refine(query.split, codes_ + std::size_t{id} * code().record_bytes(), payload);
  }
  /// Returns the exact distance of a stored vector at any alignment.
  float distance(const PreparedQuery& query, const std::byte* vector) const {
    return kernel_(query.vector, vector, parts_.dimension);
  }

  /// Returns the bytes of the region on the disk, header included.
  std::uint64_t region_bytes() const { return parts_.geometry.region_bytes(); }
  /// 0, because every pool knows where its own records are.
  std::size_t location_bytes() const { return 0; }
  std::size_t code_bytes() const { return parts_.codes.region.size(); }
  std::size_t entry_graph_bytes() const { return parts_.entries.dram_bytes(); }
  std::size_t dram_bytes() const { return code_bytes() + entry_graph_bytes(); }

 private:
  const quantization::Rabitq& code() const { return split_ ? split_->code() : *whole_; }

  Parts parts_;
  std::optional<quantization::SplitRabitq> split_;  ///< set where the records hold codes
  std::optional<quantization::Rabitq> whole_;       ///< set where the records hold vectors
  const std::byte* codes_ = nullptr;
  distance::PairKernel kernel_;
};

/// Reads the codes and the graph of entries, and checks every checksum. Throws Error.
SlottedIndex load_slotted_index(const layout::IndexDirectory& directory,
                                const layout::LoadOptions& options = {});

/// A SlottedScorer is a graph::NodeScorer for one query.
struct SlottedScorer {
  const SlottedIndex& index;
  const PreparedQuery& query;

  void prefetch(NodeId id) const { index.prefetch(id); }
  void estimate(const NodeId* ids, std::size_t count, float* out) const {
    index.estimate(query, ids, count, out);
  }
  float exact(NodeId id, const NodeRecord& record) const {
    return index.refine(query, id, record.vector);
  }
};

/// A SearchStart holds the vertices from which a search of the whole graph starts: the entry of the
/// graph, and the nearest that the graph of entries has.
struct SearchStart {
  static constexpr std::uint32_t kMostFound = 10;

  std::array<NodeId, kMostFound + 1> vertices{};
  std::uint32_t count = 0;
  std::uint32_t estimates = 0;  ///< how many it took to find them

  std::span<const NodeId> view() const { return std::span(vertices).first(count); }
};

/// Finds them. Overwrites the scratch. It never suspends.
SearchStart find_start(const SlottedIndex& index, const PreparedQuery& query,
                       graph::BeamScratch& scratch);

}  // namespace farvec::slotted
