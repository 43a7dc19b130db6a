// A CollectionManifest says what a collection is, in words: collection.json, which is replaced
// whenever its segments change.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/types.h"
#include "layout/attributes/schema.h"
#include "layout/cluster/cluster_layout.h"
#include "layout/collection/collection_format.h"
#include "layout/graph/graph_layout.h"
#include "layout/index/index_description.h"
#include "layout/index/reduction_wish.h"

namespace farvec::layout {

/// A SegmentEntry is a segment in the manifest. The segment's files hold the same facts.
struct SegmentEntry {
  std::uint64_t number = 0;  ///< its folder's name
  std::uint64_t rows = 0;    ///< 1 to kMostSegmentRows
  /// Names the file of the rows that are out: the collection's version then, or a lower one where a
  /// manifest may name a file of that version already; 0: none is out and there is no file.
  std::uint64_t out_version = 0;
  std::uint64_t out_count = 0;  ///< rows that are out
  /// Names the file of the rows whose attributes were updated since the segment was made, as
  /// out_version does that of others; 0: none was.
  std::uint64_t update_version = 0;
  std::uint64_t update_count = 0;  ///< rows that were updated
  /// Says whether the segment has a file of its rows' attributes. It has none, and the attributes
  /// of its rows are null, where it is older than the first column of the schema.
  bool attributed = false;

  bool operator==(const SegmentEntry&) const = default;
};
/// The most rows that a graph has: graph::kMaxNodes is one more.
inline constexpr std::uint64_t kMostSegmentRows = (std::uint64_t{1} << 31) - 1;
inline constexpr std::size_t kMostSegments = 4096;

/// The build options of segments that are clusters, see cluster::ClusteringOptions.
struct ClusterSegmentOptions {
  static constexpr std::uint64_t kMostClusterBytes = std::uint64_t{1} << 30;

  ClusterLayoutKind layout = ClusterLayoutKind::grouped;
  /// Bytes of the vectors that have one cluster as their own, on average; 1 to kMostClusterBytes.
  std::uint64_t cluster_bytes = 8192;
  std::uint32_t replicas = kMaxReplicas;  ///< 1 to kMaxReplicas
  double closure_ratio = 0;               ///< 0: chosen at each build; 1 to 100
  double balance = 2;                     ///< 1 to 1e6

  bool operator==(const ClusterSegmentOptions&) const = default;
};

/// Parses "graph" or "cluster", the kinds that segments can have. Throws Error naming the words.
IndexKind parse_segment_kind(std::string_view text);

/// CollectionOptions are the options with which every segment is built, and when.
struct CollectionOptions {
  static constexpr std::uint32_t kMostMemtableRows = 1u << 30;

  std::uint32_t memtable_rows = 1u << 16;  ///< a memtable with this many rows becomes a segment
  std::uint32_t merge_fanout = 2;          ///< how many segments of one size are merged; 2 to 64
  LayoutKind layout = LayoutKind::csr;     ///< csr, inlined, packed or slotted
  std::uint32_t degree = 32;               ///< see graph::VamanaOptions; 1 to 1024
  std::uint32_t list = 100;                ///< 1 to 10000
  double alpha = 1.2;                      ///< 1 to 4
  /// Bits per dimension, 1 to 8, or 0 for the vectors themselves; without a value the rows of a
  /// segment decide.
  std::optional<std::uint32_t> code_bits = std::nullopt;
  /// The kind of all segments. Clusters are built with `clusters`, graphs with the options above.
  IndexKind kind = IndexKind::graph;
  ClusterSegmentOptions clusters = {};
  /// What segments have of each vector where that is fewer bits than the rows have. Each of them
  /// then has a second copy of its whole rows. None: segments have the rows.
  std::optional<ReductionWish> store = std::nullopt;

  /// Returns true for segments in slotted pages.
  bool in_pages() const { return kind == IndexKind::graph && layout == LayoutKind::slotted; }

  bool operator==(const CollectionOptions&) const = default;
};

struct CollectionManifest {
  Metric metric = Metric::l2;
  ElementType source_type = ElementType::f32;  ///< type of inserted rows and of queries
  /// The type in which rows are kept: see whole_type().
  ElementType stored_type = ElementType::f32;
  std::uint32_t dimension = 0;
  Schema schema;  ///< the attributes of the rows; they have none where it has no columns
  CollectionOptions options;

  std::uint64_t revision = 0;      ///< grows with every manifest that is written
  std::uint64_t next_segment = 0;  ///< above the number of every segment there ever was
  std::uint64_t last_version = 0;  ///< no change before this manifest had a higher one
  std::uint64_t log_position = 0;  ///< replay begins here
  /// Identifies the log on memory nodes; 0: the log is in the folder.
  std::uint64_t log_on_nodes = 0;
  /// Identifies the log on memory nodes that a move from the folder is making, or has left half
  /// done; 0: there is none. It is random, so that no two folders make one log, even when one is
  /// the other's copy.
  std::uint64_t log_moving = 0;
  /// No writer that opened this very folder gave the log on memory nodes a later epoch. A writer
  /// with a later one opened a copy of the folder. 0: not known.
  std::uint32_t log_epoch = 0;
  /// Memory nodes tell the collection's segments from those of others by it. Random; 0: no node has
  /// any.
  std::uint64_t segments_on_nodes = 0;
  std::vector<SegmentEntry> segments;  ///< in order of ascending number

  std::string farvec_version;  ///< the farvec that wrote it
  std::string farvec_commit;

  /// Returns the type of the vectors in the indexes that segments are.
  ElementType segment_type() const { return options.store ? options.store->type : stored_type; }

  bool operator==(const CollectionManifest&) const = default;
};

std::string collection_to_json(const CollectionManifest& manifest);

/// Throws Error, naming `source` and the field, when anything is missing, of the wrong type, out of
/// range, or contradicts something else in the manifest, and when its checksum does not match.
CollectionManifest collection_from_json(std::string_view text, std::string_view source);

/// Reads the manifest of the collection in `folder`. Throws Error when there is none, and what
/// collection_from_json() throws.
CollectionManifest read_collection(const std::filesystem::path& folder);

/// Replaces the manifest in one step and names this farvec as its writer. Returns when the new one
/// outlives a loss of power. Throws Error for a manifest that read_collection() would refuse, and
/// what OutputFile throws; then nothing has changed.
void write_collection(const std::filesystem::path& folder, CollectionManifest manifest);

}  // namespace farvec::layout
