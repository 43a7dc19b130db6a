// Names the indexes that the advisor compares.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/types.h"
#include "layout/cluster/cluster_layout.h"
#include "layout/index/manifest.h"

namespace farvec::measure {

/// Says how all graphs are built and searched; only the degree varies.
struct GraphBuild {
  std::uint32_t list = 75;
  double alpha = 1.15;
  std::uint32_t passes = 1;
  std::optional<std::uint32_t> code_bits;
  std::uint32_t width = 3;  ///< width of the searches
  /// What was found of a layout whose codes do not serve the samples: the bits that indexes have
  /// from then on, and the reason.
  struct Steering {
    std::uint32_t bits = 0;
    std::string because;  ///< a sentence without a full stop
  };
  std::map<layout::LayoutKind, Steering> steering;

  /// Returns the bits per dimension of the layout's codes: those that `steering` has for it; else
  /// what was asked for, as far as the layout can have it; else the layout's own.
  std::uint32_t bits(layout::LayoutKind layout) const;
};

/// Describes clusters that several layouts share.
struct Partition {
  std::uint32_t cluster_rows = 0;  ///< vectors per cluster, without replicas
  std::uint32_t replicas = 0;

  bool operator==(const Partition&) const = default;
};

/// Describes one index. For slotted pages it also says what their searches may keep in memory.
struct Setting {
  layout::IndexKind kind = layout::IndexKind::graph;
  std::uint32_t degree = 0;  ///< degree of a graph
  Partition partition;       ///< partition of clusters
  layout::ClusterLayoutKind layout = layout::ClusterLayoutKind::grouped;
  layout::LayoutKind graph_layout = layout::LayoutKind::csr;
  double memory_percent = 0;  ///< percent of the bytes of an index in slotted pages

  bool is_graph() const { return kind == layout::IndexKind::graph; }
  /// Returns true when its records have the codes of their neighbours; then compute DRAM has none.
  bool is_inline() const { return is_graph() && graph_layout == layout::LayoutKind::inlined; }
  /// Returns true when it is in slotted pages: searched on disks only, through a pool of records.
  bool is_slotted() const { return is_graph() && graph_layout == layout::LayoutKind::slotted; }

  bool operator==(const Setting&) const = default;
};

/// Names the kinds of searches. Those of one kind cost the same per unit of work.
enum class SearchFamily : std::uint8_t { graph, inlined, slotted, cluster };
inline constexpr SearchFamily kSearchFamilies[] = {SearchFamily::graph, SearchFamily::inlined,
                                                   SearchFamily::slotted, SearchFamily::cluster};
SearchFamily family_of(const Setting& setting);

/// Returns "csr", "slotted", "grouped" or another layout's name.
std::string layout_name(const Setting& setting);

/// Returns text like "graph, degree 32, csr", "graph, degree 32, slotted, 20% in memory" or
/// "clusters of 100, R 8, grouped".
std::string to_string(const Setting& setting);

/// Says what is to be indexed, in the terms of a command line.
struct IndexedFile {
  std::string path;
  Metric metric = Metric::l2;
  std::uint64_t row_bytes = 0;  ///< bytes of a row of the file
};

/// Returns the command that builds the whole index, without --out.
std::string build_command(const Setting& setting, const IndexedFile& file,
                          const GraphBuild& recipe);

/// Returns what a search of the index needs besides its list or number of clusters: "--width 3" for
/// graphs; budget, order and prefetch too for slotted pages; nothing for clusters.
std::string search_options(const Setting& setting, const GraphBuild& recipe);

}  // namespace farvec::measure
