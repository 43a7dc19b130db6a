#include "tiers/attach/copy_nodes.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/unreachable_error.h"

namespace farvec::tiers {
namespace {

layout::Manifest placed_copies(const layout::Manifest& index, const CopyNodesOptions& options) {
  const std::size_t nodes = options.addresses.size();
  if (nodes == 0) throw Error("no memory node was named");
  if (nodes > layout::PlacedExtent::kMaxCopies || index.placement) {
    throw Error(
        "{} memory nodes cannot have copies of an index: at most {}, of one without a placement",
        nodes, layout::PlacedExtent::kMaxCopies);
  }
  layout::Manifest placed = index;
  std::vector<std::uint64_t> regions = index.held_bytes();
  regions.insert(regions.end(), options.files.begin(), options.files.end());
  placed.placement = layout::full_copies(regions, static_cast<std::uint32_t>(nodes));
  return placed;
}

}  // namespace

CopyNodes::CopyNodes(const layout::Manifest& index, CopyNodesOptions options)
    : options_(std::move(options)),
      manifest_(placed_copies(index, options_)),
      manifest_text_(layout::manifest_to_json(index)),
      kept_(options_.addresses, options_.attach, *this) {}

std::uint32_t CopyNodes::admit(const KeptNode& node, const Attachment& attachment) {
  if (!options_.files.empty() && attachment.file_bytes() != options_.files) {
    throw Error("the memory node at {} has other files beside the index than it is to have",
                rpc::to_string(node.address));
  }
  if (layout::manifest_to_json(attachment.manifest()) == manifest_text_) return node.number;
  throw Error(
      "the memory node at {} serves another index, or the index in another placement, "
      "than it is to have a copy of",
      rpc::to_string(node.address));
}

void CopyNodes::wait_ready(std::chrono::milliseconds bound, const std::atomic<bool>* stop) {
  const auto end = std::chrono::steady_clock::now() + bound;
  auto lock = kept_.lock();
  while (!kept_.any_attached()) {
    const bool stopped = stop != nullptr && stop->load(std::memory_order_relaxed);
    if (stopped || std::chrono::steady_clock::now() >= end) {
      throw UnreachableError("{}", kept_.missing());
    }
    kept_.wait(lock);
  }
}

std::unique_ptr<transport::Endpoint> CopyNodes::make_endpoint() {
  auto inbox = std::make_shared<EndpointInbox>(manifest_.memory_nodes());
  {
    auto lock = kept_.lock();
    if (!kept_.any_attached()) throw UnreachableError("{}", kept_.missing());
    kept_.remember(inbox);
    kept_.ask_all(inbox);
    // Connecting through a device may take longer than a read; a node that fails to is given up.
    const auto bound = std::max(options_.placed.node_timeout, options_.attach.connect_timeout);
    kept_.wait(lock, bound, [&] { return inbox->has_any() || !kept_.any_attached(); });
  }
  if (!inbox->has_any()) throw UnreachableError("none of the memory nodes can be read");
  return std::make_unique<PlacedEndpoint>(*manifest_.placement, std::move(inbox), options_.placed);
}

}  // namespace farvec::tiers
