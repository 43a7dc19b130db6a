#include "collection/read/node_arguments.h"

#include <utility>
#include <vector>

#include "base/option_rules.h"
#include "rpc/address.h"
#include "tiers/tier_spec.h"

namespace farvec::collection {

void add_node_options(Command& command, NodeArguments& nodes, const std::string& who) {
  command.add_option("--log-nodes", nodes.log,
                     who +
                         "its log is on the memory nodes at these addresses, separated by commas, "
                         "which run with --log-bytes. A writer moves the log there from the "
                         "collection's folder, for good; what it acknowledges is read from there");
  command
      .add_option("--log-tier", nodes.log_tier,
                  "How: shm (nodes of this machine), fabric:PROVIDER, verbs")
      .show_default();
  command.add_option("--segment-nodes", nodes.segments,
                     who +
                         "its segments are searched on the memory nodes at these addresses, "
                         "separated by commas and in the same order for every process, which run "
                         "with --segment-bytes. The writer brings them there, from the "
                         "collection's folder under the same path on the nodes' machines");
  command.add_option("--segment-tier", nodes.segment_tier, "How, as --log-tier").show_default();
}

void add_copies_options(Command& command, NodeArguments& nodes) {
  command
      .add_option("--log-copies", nodes.log_copies,
                  "Memory nodes that have a change when it is acknowledged; writing goes on while "
                  "this number is left, and the collection opens when all but this number less "
                  "one are there (default: more than half)")
      .range(std::uint16_t{1}, std::uint16_t{64});
  command
      .add_option("--segment-copies", nodes.segment_copies,
                  "Memory nodes that each segment is to lie on (default: 2, or 1 where there is no "
                  "other); searches go on while one of them is left")
      .range(std::uint16_t{1}, std::uint16_t{4});
}

void refuse_unused_node_options(const Command& command, const NodeArguments& nodes) {
  refuse_unused(command, std::vector<OptionRule>{
                             {"--log-tier", !nodes.log.empty(), "--log-nodes"},
                             {"--segment-tier", !nodes.segments.empty(), "--segment-nodes"}});
}

std::shared_ptr<LogNodes> log_nodes_of(const NodeArguments& nodes, tiers::AttachOptions attach) {
  if (nodes.log.empty()) return nullptr;
  LogNodesOptions options;
  options.nodes = rpc::parse_addresses(nodes.log);
  options.copies = nodes.log_copies;
  options.attach = std::move(attach);
  options.attach.reads = tiers::parse_node_tier(nodes.log_tier)->read_path();
  return std::make_shared<LogNodes>(std::move(options));
}

SegmentAccess segments_on_nodes(const NodeArguments& nodes, SegmentNodesOptions options) {
  SegmentAccess segments;
  segments.tier = tiers::parse_node_tier(nodes.segment_tier);
  options.nodes = rpc::parse_addresses(nodes.segments);
  options.copies = nodes.segment_copies;
  options.attach.reads = segments.tier->read_path();
  segments.nodes = std::make_shared<const SegmentNodes>(std::move(options));
  return segments;
}

std::optional<std::string> nodes_name(std::string_view collection) {
  constexpr std::string_view kOnNodes = "nodes:";
  if (!collection.starts_with(kOnNodes)) return std::nullopt;
  return std::string(collection.substr(kOnNodes.size()));
}

std::shared_ptr<CollectionSource> collection_source(const std::string& collection,
                                                    const SegmentAccess& segments) {
  const auto name = nodes_name(collection);
  return name ? nodes_collection(segments.nodes, *name) : folder_collection(collection);
}

}  // namespace farvec::collection
