// farvec build graph --layout slotted: codes, extensions, placement, pages.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "base/command_line.h"
#include "base/types.h"
#include "graph/vamana_builder.h"
#include "layout/region/index_writer.h"
#include "layout/region/manifest.h"

namespace farvec::cli {

struct SlottedOptions {
  std::string payload = "auto";
  std::uint32_t extension_bits = 4;
  std::uint32_t page_bytes = 4096;
  std::string placement = "bnf";
  std::string rerank = "auto";
  std::uint32_t entry_vertices = 0;  ///< 0: as many as pay
};

void add_slotted_options(Command& command, SlottedOptions& options);

/// Throws Error naming the first option that was given and would be ignored: all of them, where
/// `options` is null because the layout is another one, and those of the other kind of payload.
void refuse_unused_slotted(const Command& command, const SlottedOptions* options);

/// The same with what "auto" stands for on such rows: vectors where two fit a page, else codes and
/// the vectors beside them. One bit of every dimension in DRAM leads searches well when there are
/// many dimensions, and with few a vector is hardly more than its code.
SlottedOptions resolve_slotted(SlottedOptions options, const VectorView& rows);

/// Says on stderr what recall the options will not reach, and which would. Of resolved options.
void warn_of_slotted(const SlottedOptions& options, std::uint32_t dimension,
                     std::uint32_t code_bits);

/// Throws Error for options that make no sense.
void check_slotted_options(const SlottedOptions& options);

/// What the build is to remember for the placement.
graph::AffinityOptions affinity_options(const SlottedOptions& options, const VectorView& rows,
                                        Metric metric, const graph::VamanaOptions& graph);

/// A finished graph over the rows of an index.
struct BuiltGraph {
  const graph::Graph& graph;
  const graph::VamanaStats& stats;
  VectorView rows;              ///< stored type
  std::uint32_t code_bits = 1;  ///< per dimension in DRAM
};

/// Encodes, places and writes; `manifest` has what write_slotted_index wants of the caller but
/// layout, `slotted` and block_bytes.
layout::Manifest write_slotted(const std::filesystem::path& directory, layout::Manifest manifest,
                               const BuiltGraph& built, const SlottedOptions& options,
                               const layout::WriteOptions& write);

}  // namespace farvec::cli
