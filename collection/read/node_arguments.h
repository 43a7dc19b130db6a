// NodeArguments name the memory nodes that hold parts of a collection, in the form of command
// lines; these functions read such arguments and the collection's name.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/command_line.h"
#include "collection/nodes/log_nodes.h"
#include "collection/nodes/segment_nodes.h"
#include "collection/read/collection_source.h"
#include "collection/segment/segment_access.h"
#include "tiers/attach/attach_options.h"

namespace farvec::collection {

/// They are kept as given; addresses are separated by commas.
struct NodeArguments {
  std::string log;                   ///< empty: the log is in the collection's folder
  std::string log_tier = "shm";      ///< see tiers::parse_node_tier()
  std::uint16_t log_copies = 0;      ///< nodes that have what is acknowledged; 0: more than half
  std::string segments;              ///< empty: records are on a tier of this process
  std::string segment_tier = "shm";  ///< see tiers::parse_node_tier()
  std::uint16_t segment_copies = 0;  ///< nodes that are to hold a segment; 0: two, or one
};

/// Adds --log-nodes, --log-tier, --segment-nodes and --segment-tier. Their help begins with `who`.
void add_node_options(Command& command, NodeArguments& nodes, const std::string& who);
/// Adds --log-copies and --segment-copies, for commands that change the collection.
void add_copies_options(Command& command, NodeArguments& nodes);
/// Throws Error naming the first option that means nothing without nodes that were not given.
void refuse_unused_node_options(const Command& command, const NodeArguments& nodes);

/// Returns null when the log is in the folder. `attach` says how to attach to each of the nodes,
/// except for the tier. Throws Error naming what is wrong with an address or the tier.
std::shared_ptr<LogNodes> log_nodes_of(const NodeArguments& nodes, tiers::AttachOptions attach);
/// Returns the access to records on the segments' nodes, which were given. `options` says how to
/// attach to each of them, except for the tier. Throws what log_nodes_of() throws.
SegmentAccess segments_on_nodes(const NodeArguments& nodes, SegmentNodesOptions options);

/// Returns the name in "nodes:NAME", which may be empty: see nodes_collection(). None: a folder.
std::optional<std::string> nodes_name(std::string_view collection);
/// Returns the collection in a folder, or for "nodes:NAME" on the nodes of `segments`, which then
/// has some.
std::shared_ptr<CollectionSource> collection_source(const std::string& collection,
                                                    const SegmentAccess& segments);

}  // namespace farvec::collection
