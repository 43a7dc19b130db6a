// Opens a collection that a command reads: a folder, or memory nodes that hold parts or all of it.
#pragma once

#include <memory>
#include <string>

#include "base/command_line.h"
#include "collection/nodes/log_nodes.h"
#include "collection/read/collection_reader.h"
#include "collection/read/collection_source.h"
#include "collection/read/node_arguments.h"
#include "collection/segment/segment.h"
#include "rpc/tls.h"

namespace farvec::cli {

/// Holds the place of a collection in the words of the command line.
struct CollectionPlace {
  std::string collection;  ///< a folder, or nodes:NAME
  collection::NodeArguments nodes;
};

/// Adds --collection and the options of nodes. A command that also takes TLS flags declares those
/// itself.
Option add_place_options(Command& command, CollectionPlace& place);

/// Returns whether a command asks a compute node at `address`, and not the place. Throws Error
/// unless one of them is given, and for options of the place that would be ignored.
bool is_connected(const Command& command, const CollectionPlace& place, const std::string& address);

/// Holds what readers and followers are made from.
struct OpenedPlace {
  std::shared_ptr<collection::CollectionSource> source;
  collection::SegmentAccess access;
  std::shared_ptr<collection::LogNodes> log_nodes;  ///< null: the log is in the folder
};

/// Opens the place for `threads` threads that read records, from `tier` where no nodes have the
/// segments. Attaches to the log nodes, but reads nothing yet. Throws Error for options that would
/// be ignored, and for a collection on nodes whose nodes are not named.
OpenedPlace open_place(const Command& command, const CollectionPlace& place,
                       const rpc::TlsFiles& tls, const std::string& tier = "dram",
                       unsigned threads = 1);

/// Reads the collection without the records of its segments.
collection::CollectionReader open_without_records(const OpenedPlace& place);

}  // namespace farvec::cli
