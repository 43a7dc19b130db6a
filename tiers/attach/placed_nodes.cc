#include "tiers/attach/placed_nodes.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <span>
#include <utility>

#include "base/error.h"
#include "base/unreachable_error.h"
#include "layout/index/file_placement.h"

namespace farvec::tiers {

PlacedNodes::PlacedNodes(PlacedNodesOptions options)
    : options_(std::move(options)), kept_(options_.addresses, options_.attach, *this) {}

std::uint32_t PlacedNodes::admit(const KeptNode& node, const Attachment& attachment) {
  if (!ready() && !kept_.any_attached()) {
    manifest_ = std::make_unique<const layout::Manifest>(attachment.manifest());
    manifest_text_ = layout::manifest_to_json(*manifest_);
    generation_ = attachment.generation();
    files_known_ = false;
  }
  require_same(node, attachment);
  require_same_files(node, attachment);
  if (!files_known_ && layout::holds_files(attachment.node())) take_files(attachment);
  return attachment.node();
}

void PlacedNodes::take_files(const Attachment& attachment) {
  files_known_ = true;
  file_bytes_ = attachment.file_bytes();
  placement_ = manifest_->placement;
  if (placement_) layout::add_files(*placement_, file_bytes_);
}

/// The first nodes have all files, and the others none.
void PlacedNodes::require_same_files(const KeptNode& node, const Attachment& attachment) const {
  const bool holds = layout::holds_files(attachment.node());
  if (holds ? !files_known_ || attachment.file_bytes() == file_bytes_
            : attachment.file_bytes().empty()) {
    return;
  }
  throw Error(
      "the memory node at {} holds other attributes of the index than the nodes before it: it runs "
      "an older farvec, or the attributes were written anew; start it again",
      rpc::to_string(node.address));
}

void PlacedNodes::require_same(const KeptNode& node, const Attachment& attachment) const {
  if (layout::manifest_to_json(attachment.manifest()) != manifest_text_) {
    throw Error(
        "the memory node at {} serves another index, or the index in another placement, "
        "than the nodes before it: start all of them on one index directory",
        rpc::to_string(node.address));
  }
  for (const auto& other : kept_.nodes()) {
    if (other.get() == &node || other->attachment == nullptr) continue;
    if (other->node != attachment.node()) continue;
    throw Error(
        "the memory nodes at {} and {} both say that they are node {} of the placement: "
        "give each its own --node",
        rpc::to_string(other->address), rpc::to_string(node.address), attachment.node());
  }
}

/// Called under the lock. Returns true when every node is attached, or will not be waited for.
bool PlacedNodes::waited_enough() const {
  const auto nodes = kept_.nodes();
  return std::all_of(nodes.begin(), nodes.end(), [this](const auto& node) {
    return node->attachment != nullptr || (!options_.await_absent && node->absent);
  });
}

void PlacedNodes::wait_ready(std::chrono::milliseconds bound, const std::atomic<bool>* stop) {
  if (ready()) {
    if (!alive()) throw UnreachableError("the memory nodes are gone");
    return;
  }
  const auto end = std::chrono::steady_clock::now() + bound;
  auto lock = kept_.lock();
  for (;;) {
    if (const std::string failure = kept_.take_failure(); !failure.empty()) {
      throw Error("{}", failure);
    }
    if (kept_.missing().empty() && !holds_everything()) {
      throw Error(
          "the index is placed over {} memory nodes, and the {} that were named do not hold "
          "all of it: name the others too",
          manifest_->memory_nodes(), kept_.nodes().size());
    }
    const bool stopped = stop != nullptr && stop->load(std::memory_order_relaxed);
    if (waited_enough() || stopped || std::chrono::steady_clock::now() >= end) break;
    kept_.wait(lock);
  }
  const std::string names = kept_.missing();
  if (!holds_everything()) throw UnreachableError("{}", names);
  if (!names.empty()) spdlog::warn("begins without {}", names);
  if (!manifest_->placement) only_ = kept_.nodes().front()->attachment;
  ready_.store(true, std::memory_order_relaxed);
}

/// Called under the lock. All of the codes and offsets are needed, and a node that says whether
/// the rows have attributes.
bool PlacedNodes::holds_everything() const {
  if (manifest_ == nullptr || !files_known_) return false;
  std::vector<bool> here(manifest_->memory_nodes());
  for (const auto& node : kept_.nodes()) {
    if (node->attachment != nullptr) here[node->node] = true;
  }
  if (!manifest_->placement) return here[0];
  for (std::uint32_t r = 0; r < manifest_->held_regions(); ++r) {
    const bool rows = r == layout::kRecordsRegion || r == layout::kSecondCopyRegion;
    if (rows && options_.partial) continue;
    for (const layout::PlacedExtent& extent : manifest_->placement->regions[r].extents()) {
      const auto copies = std::span(extent.copies).first(extent.copy_count);
      if (std::none_of(copies.begin(), copies.end(),
                       [&](const auto& copy) { return here[copy.node]; })) {
        return false;
      }
    }
  }
  return true;
}

std::shared_ptr<const transport::RegionSet> PlacedNodes::regions() const {
  const auto lock = kept_.lock();
  const KeptNode& first = *kept_.nodes().front();
  if (manifest_->placement || first.attachment == nullptr) return nullptr;
  return first.attachment->regions();
}

std::unique_ptr<transport::Endpoint> PlacedNodes::make_endpoint() {
  std::vector<KeptNodes::Attached> attached;
  auto inbox = std::make_shared<EndpointInbox>(manifest_->memory_nodes());
  {
    // Both in one lock, so that a node that comes meanwhile is seen here or sees the inbox.
    const auto lock = kept_.lock();
    for (const auto& node : kept_.nodes()) {
      if (node->attachment != nullptr) attached.push_back({node->node, node->attachment});
    }
    if (manifest_->placement) kept_.remember(inbox);
  }
  if (attached.empty()) throw UnreachableError("{}", "the memory node is gone");
  if (!manifest_->placement) return attached.front().attachment->make_endpoint();
  KeptNodes::hand_out_all(attached, *inbox);
  if (!inbox->has_any()) throw UnreachableError("none of the memory nodes can be read");
  return std::make_unique<PlacedEndpoint>(*placement_, std::move(inbox), options_.placed);
}

}  // namespace farvec::tiers
