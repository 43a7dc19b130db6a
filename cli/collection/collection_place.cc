#include "cli/collection/collection_place.h"

#include <chrono>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/option_rules.h"
#include "rpc/tls_flags.h"

namespace farvec::cli {
namespace {

/// The patience with each node; of several, others are read meanwhile.
constexpr std::chrono::milliseconds kPatience{2'000};

void check(const Command& command, const CollectionPlace& place) {
  const bool records_on_nodes = !place.nodes.segments.empty();
  const bool on_nodes = records_on_nodes || !place.nodes.log.empty();
  refuse_unused(command, std::vector<OptionRule>{{"--tier", !records_on_nodes, "--segment-tier"}});
  collection::refuse_unused_node_options(command, place.nodes);
  if (!on_nodes) rpc::refuse_tls_flags(command, "nodes; this is a folder");
  const bool whole = records_on_nodes && !place.nodes.log.empty();
  if (collection::nodes_name(place.collection) && !whole) {
    throw Error("--collection {}: name its memory nodes, by --log-nodes and --segment-nodes",
                place.collection);
  }
}

}  // namespace

Option add_place_options(Command& command, CollectionPlace& place) {
  const Option collection =
      command.add_option("--collection", place.collection,
                         "Folder of the collection; or nodes:NAME, which is found on the nodes of "
                         "--log-nodes and --segment-nodes alone: NAME is what its folder is called "
                         "where it is changed, or its number on the nodes, and may be left out "
                         "where they have one collection");
  collection::add_node_options(command, place.nodes, "");
  return collection;
}

bool is_connected(const Command& command, const CollectionPlace& place,
                  const std::string& address) {
  if (place.collection.empty() == address.empty()) {
    throw Error("give one of --collection and --connect");
  }
  if (address.empty()) return false;
  const std::string where = "--collection; this is --connect";
  refuse_unused(command, std::vector<OptionRule>{{"--log-nodes", false, where},
                                                 {"--segment-nodes", false, where}});
  collection::refuse_unused_node_options(command, place.nodes);
  return true;
}

collection::CollectionReader open_without_records(const OpenedPlace& place) {
  return collection::CollectionReader(
      *place.source, place.access,
      {.records = collection::Reading::Records::leave, .log_nodes = place.log_nodes});
}

OpenedPlace open_place(const Command& command, const CollectionPlace& place,
                       const rpc::TlsFiles& tls, const std::string& tier, unsigned threads) {
  check(command, place);
  tiers::AttachOptions attach;
  attach.wait = kPatience;
  attach.connect_timeout = kPatience;
  attach.tls = rpc::load_tls(tls);
  attach.cores = threads;
  OpenedPlace opened;
  opened.log_nodes = collection::log_nodes_of(place.nodes, attach);
  if (opened.log_nodes != nullptr) (void)opened.log_nodes->refresh();
  if (place.nodes.segments.empty()) {
    opened.access = collection::SegmentAccess::on(tier);
  } else {
    collection::SegmentNodesOptions nodes;
    nodes.attach = std::move(attach);
    opened.access = collection::segments_on_nodes(place.nodes, std::move(nodes));
  }
  opened.source = collection::collection_source(place.collection, opened.access);
  return opened;
}

}  // namespace farvec::cli
