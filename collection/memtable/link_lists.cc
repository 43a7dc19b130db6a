#include "collection/memtable/link_lists.h"

#include <atomic>

#include "base/check.h"

namespace farvec::collection {
namespace {

/// A list is pruned to its degree when it has become longer than it by a quarter.
constexpr std::uint32_t kSlackShare = 4;
constexpr std::uint32_t kChildrenShift = 16;
constexpr std::uint32_t kDegreeMask = (1u << kChildrenShift) - 1;

/// Returns the words of a list, which fill whole cache lines.
std::uint32_t list_words(std::uint32_t degree) {
  const std::size_t words = 1 + degree + degree / kSlackShare;
  return static_cast<std::uint32_t>(round_up(words, kCacheLineBytes / sizeof(std::uint32_t)));
}

std::uint32_t load(std::uint32_t& word) {
  return std::atomic_ref(word).load(std::memory_order_acquire);
}

void store(std::uint32_t& word, std::uint32_t value) {
  std::atomic_ref(word).store(value, std::memory_order_release);
}

}  // namespace

LinkLists::LinkLists(std::uint32_t count, std::uint32_t degree)
    : stride_(list_words(degree)),
      words_(std::size_t{count} * stride_ * sizeof(std::uint32_t)),
      first_(reinterpret_cast<std::uint32_t*>(words_.data())) {
  FARVEC_CHECK(stride_ <= kDegreeMask, "a degree of {}", degree);
}

void LinkLists::read(NodeId vertex, std::vector<NodeId>& out) const {
  std::uint32_t* const words = list(vertex);
  out.resize(load(words[0]) & kDegreeMask);
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = load(words[1 + i]);
}

std::uint32_t LinkLists::read_locked(NodeId vertex, std::vector<NodeId>& ids) const {
  std::uint32_t* const words = list(vertex);
  const std::uint32_t head = load(words[0]);
  ids.resize(head & kDegreeMask);
  for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = load(words[1 + i]);
  return head >> kChildrenShift;
}

void LinkLists::write_locked(NodeId vertex, std::span<const NodeId> ids, std::uint32_t children) {
  FARVEC_CHECK(children <= ids.size() && ids.size() <= capacity(), "{} ids, {} children",
               ids.size(), children);
  std::uint32_t* const words = list(vertex);
  for (std::size_t i = 0; i < ids.size(); ++i) store(words[1 + i], ids[i]);
  store(words[0], static_cast<std::uint32_t>(ids.size()) | children << kChildrenShift);
}

}  // namespace farvec::collection
