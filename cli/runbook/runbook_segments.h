// Adds the options of a runbook on a collection, which say what its segments are.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/command_line.h"
#include "base/types.h"
#include "cli/index/reduction_option.h"
#include "cli/runbook/runbook_collection.h"
#include "layout/attributes/schema.h"

namespace farvec::cli {

struct RunbookSegments {
  RunbookCollectionOptions options;
  std::string kind = "graph";           ///< graph, slotted or cluster
  std::optional<std::uint32_t> degree;  ///< most edges in their graphs; none: the metric's
  ReductionOption reduction;
};

void add_segment_options(Command& command, RunbookSegments& segments);
/// Throws an Error that names an option that these segments ignore.
void refuse_unused_segments(const Command& command, const RunbookSegments& segments);
/// Throws an Error that names an option of segments, where there are none. `where` says which index
/// has some.
void refuse_segments(const Command& command, const std::string& where);

/// Returns what a collection of the data is made with.
RunbookCollectionOptions collection_options(const RunbookSegments& segments, Metric metric,
                                            const VectorView& data, layout::Schema schema);

}  // namespace farvec::cli
