#include "collection/nodes/segment_nodes.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "tiers/attach/copy_nodes.h"

namespace farvec::collection {
namespace {

constexpr std::size_t kMostHomes = layout::PlacedExtent::kMaxCopies;
constexpr std::uint16_t kDefaultCopies = 2;

SegmentNodesOptions checked(SegmentNodesOptions options) {
  const std::size_t most = std::min(options.nodes.size(), kMostHomes);
  if (most == 0) throw Error("no memory node was named for the segments");
  if (options.copies == 0) {
    options.copies = static_cast<std::uint16_t>(std::min<std::size_t>(kDefaultCopies, most));
  }
  if (options.copies <= most) return options;
  throw Error("{} copies of a segment do not fit {} memory nodes: each has one, and {} at most",
              options.copies, options.nodes.size(), kMostHomes);
}

}  // namespace

SegmentNodes::SegmentNodes(SegmentNodesOptions options) : options_(checked(std::move(options))) {}

std::vector<std::size_t> SegmentNodes::homes(std::uint64_t segment) const {
  const std::size_t nodes = options_.nodes.size();
  std::vector<std::size_t> homes(std::min(nodes, kMostHomes));
  for (std::size_t i = 0; i < homes.size(); ++i) homes[i] = (segment + i) % nodes;
  return homes;
}

tiers::AttachOptions SegmentNodes::attach_options(std::size_t node,
                                                  const layout::SegmentKey& key) const {
  tiers::AttachOptions attach = options_.attach;
  attach.memory_node = options_.nodes[node];
  attach.segment = key;
  attach.await_listener = false;
  return attach;
}

std::shared_ptr<tiers::NodeSet> SegmentNodes::attach(const layout::SegmentKey& key,
                                                     const layout::Manifest& manifest,
                                                     std::vector<std::uint64_t> files) const {
  tiers::CopyNodesOptions set;
  for (const std::size_t node : homes(key.number)) set.addresses.push_back(options_.nodes[node]);
  set.attach = options_.attach;
  set.attach.segment = key;
  set.placed = options_.placed;
  set.files = std::move(files);
  return std::make_shared<tiers::CopyNodes>(manifest, std::move(set));
}

}  // namespace farvec::collection
