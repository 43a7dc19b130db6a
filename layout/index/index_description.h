// Defines what a manifest says about one kind of index only: one struct per kind.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "base/cluster_words.h"
#include "base/types.h"
#include "layout/cluster/cluster_geometry.h"
#include "layout/graph/graph_geometry.h"
#include "layout/pages/entry_graph_shape.h"
#include "layout/pages/slotted_geometry.h"
#include "layout/region/region_header.h"

namespace farvec::layout {

/// Returns the kind of the region that holds the records in a layout.
RegionKind records_kind(LayoutKind layout);
RegionKind records_kind(ClusterLayoutKind layout);

enum class IndexKind : std::uint8_t { graph = 0, cluster = 1 };

struct KindWords {
  std::string_view name;         ///< in manifests
  std::string_view in_sentence;  ///< what an index of this kind is, in words
};

/// Returns "graph", "cluster".
std::string_view to_string(IndexKind kind);
/// Returns "a graph", "clusters".
std::string_view in_words(IndexKind kind);

/// The results of trial searches at the build, where codes of the usual bits lose neighbours that
/// the vectors themselves find. Results are shares of ten neighbours, 0 to 1, with the list for
/// which codes lose most.
struct SteeringFacts {
  std::uint32_t usual_bits = 0;  ///< bits per dimension
  /// List of the searches; for clusters, the number of estimates that are kept.
  std::uint32_t list = 0;
  double usual = 0;    ///< found with codes of these bits
  double codes = 0;    ///< found with the codes that the index has
  double vectors = 0;  ///< found with the vectors
};

/// BuildParameters are everything that, together with the data set, determines a graph index that
/// no merge has changed; after a merge, how the last merge was made.
struct BuildParameters {
  std::uint32_t degree = 0;
  std::uint32_t list = 0;
  double alpha = 0;
  std::uint32_t passes = 0;
  std::uint64_t seed = 0;
  std::uint32_t code_bits = 0;  ///< bits per dimension; 0: no codes, but the vectors themselves
  /// Present when the data decided the bits of the index, or when the index loses neighbours with
  /// the bits that were asked for.
  std::optional<SteeringFacts> steering = std::nullopt;
  /// Merges since the graph was built from nothing: the graph depends on every one of them.
  std::uint32_t merges = 0;
};

/// ClusterBuildParameters are the build parameters of a cluster index.
struct ClusterBuildParameters {
  std::uint32_t replicas = 0;  ///< R: the most clusters per vector
  HeadKind heads = HeadKind::means;
  ClosureRule closure = ClosureRule::fitted;
  double closure_ratio = 0;
  double rng_factor = 2;
  double balance = 0;
  std::uint64_t sample = 0;  ///< rows that k-means used
  std::uint64_t seed = 0;
  /// The same for coded clusters as for a graph: shares of the nearest members that 64 estimates
  /// have.
  std::optional<SteeringFacts> steering = std::nullopt;
};

/// A SlottedDescription is what a graph index in slotted pages has in addition.
struct SlottedDescription {
  PayloadKind payload = PayloadKind::code;
  std::uint32_t extension_bits = 0;
  std::uint32_t payload_bytes = 0;
  std::uint32_t pages = 0;
  std::string placement;  ///< how records were assigned to pages: affinity, bnf, id
  bool rerank = false;    ///< a fifth region holds the stored vectors, one after another
  /// Pairs that the build found to be affine, and the number of them that share a page.
  std::uint64_t affine_pairs = 0;
  std::uint64_t affine_pairs_together = 0;
  EntryGraphShape entries;
};

struct GraphDescription {
  static constexpr IndexKind kKind = IndexKind::graph;
  static constexpr KindWords kWords{"graph", "a graph"};

  LayoutKind layout = LayoutKind::csr;
  bool record_checksum = false;
  std::uint32_t block_bytes = 4096;  ///< for slotted pages, the page size
  std::uint32_t max_degree = 0;
  std::uint64_t edges = 0;
  NodeId entry = 0;
  std::uint32_t neighbor_code_bytes = 0;  ///< bytes per record in the inline layout; else 0
  /// Bytes of degrees and lists of all records in the packed layout; else 0.
  std::uint64_t list_bytes = 0;
  std::optional<SlottedDescription> slotted;  ///< present in that layout only
  BuildParameters build;

  /// Makes the layout slotted, with a new description.
  SlottedDescription& make_slotted() {
    layout = LayoutKind::slotted;
    return slotted.emplace();
  }
  std::uint32_t extension_bits() const { return slotted ? slotted->extension_bits : 0; }
  /// Returns the total of the offset table, in a layout that needs one.
  std::uint64_t table_total() const { return layout == LayoutKind::packed ? list_bytes : edges; }
  std::string_view layout_name() const { return to_string(layout); }
  bool has_record_checksums() const { return record_checksum; }
};

struct ClusterDescription {
  static constexpr IndexKind kKind = IndexKind::cluster;
  static constexpr KindWords kWords{"cluster", "clusters"};

  /// Its vector_bytes and count agree with the manifest's dimension, stored_type and count.
  ClusterGeometry geometry;
  /// replication[i] vectors are in i + 1 clusters.
  std::array<std::uint64_t, kMaxReplicas> replication{};
  ClusterBuildParameters build;

  std::string_view layout_name() const { return to_string(geometry.kind); }
  bool has_record_checksums() const { return geometry.record_checksum; }
};

using IndexDescription = std::variant<GraphDescription, ClusterDescription>;

IndexKind kind_of(const IndexDescription& description);

}  // namespace farvec::layout
