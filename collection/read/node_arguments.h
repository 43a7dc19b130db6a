// What a collection is named by, and the memory nodes that hold parts of it, as command lines say
// it.
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
#include "collection/segment/segment.h"
#include "tiers/attach/attach_options.h"

namespace farvec::collection {

/// As given; addresses are separated by commas.
struct NodeArguments {
  std::string log;                   ///< empty: the log is in the collection's folder
  std::string log_tier = "shm";      ///< as tiers::parse_node_tier() takes it
  std::uint16_t log_copies = 0;      ///< nodes that have what is acknowledged; 0: more than half
  std::string segments;              ///< empty: records are on a tier of this process
  std::string segment_tier = "shm";  ///< as log_tier
  std::uint16_t segment_copies = 0;  ///< nodes that a segment is to lie on; 0: two, or one
};

/// --log-nodes, --log-tier, --segment-nodes, --segment-tier. `who` begins their help.
void add_node_options(Command& command, NodeArguments& nodes, const std::string& who);
/// --log-copies and --segment-copies, of who changes the collection.
void add_copies_options(Command& command, NodeArguments& nodes);
/// Throws Error naming the first option that means nothing without nodes that were not given.
void refuse_unused_node_options(const Command& command, const NodeArguments& nodes);

/// Null: the log is in the folder. `attach` says how to attach to each of them but for the tier.
/// Throws Error naming what is wrong with an address or the tier.
std::shared_ptr<LogNodes> log_nodes_of(const NodeArguments& nodes, tiers::AttachOptions attach);
/// Records on the segments' nodes, which were given. `options` says how to attach to each of them
/// but for the tier. Throws as log_nodes_of().
SegmentAccess segments_on_nodes(const NodeArguments& nodes, SegmentNodesOptions options);

/// Of "nodes:NAME" the name, which may be empty: see nodes_collection(). None: a folder.
std::optional<std::string> nodes_name(std::string_view collection);
/// Of a folder, or of "nodes:NAME" on the nodes of `segments`, which then has some.
std::shared_ptr<CollectionSource> collection_source(const std::string& collection,
                                                    const SegmentAccess& segments);

}  // namespace farvec::collection
