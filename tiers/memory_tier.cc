// Tiers dram, shm, numa, file, devdax and pmem: records are loads from a mapping of this process.
#include "tiers/memory_tier.h"

#include <fmt/format.h>

#include <charconv>
#include <utility>

#include "base/check.h"
#include "tiers/kinds.h"
#include "tiers/node_tier.h"

namespace farvec::tiers {
namespace {

class DramSpec final : public TierSpec {
 public:
  std::string name() const override { return "dram"; }
  TierTraits traits() const override { return {.loads = true, .dram = true, .own_memory = true}; }
  std::unique_ptr<Tier> open(const TierContext& context) const override {
    FARVEC_CHECK(context.memory != nullptr);
    return std::make_unique<MemoryTier>([memory = context.memory] { return memory->dram(); },
                                        "this process's DRAM", context);
  }
};

class SharedMemorySpec final : public TierSpec {
 public:
  std::string name() const override { return "shm"; }
  TierTraits traits() const override {
    return {.loads = true, .own_memory = true, .over_nodes = true};
  }
  std::unique_ptr<Tier> open(const TierContext& context) const override {
    if (context.nodes != nullptr) return std::make_unique<NodeTier>(context.nodes, *this);
    return std::make_unique<MemoryTier>([memory = context.memory] { return memory->shared(); },
                                        "shared memory (memfd), read-only mapping", context);
  }
};

/// A file with the bytes of the records region, or a device (or a file that stands for one) on
/// which the index is stored.
class MappedSpec final : public TierSpec {
 public:
  MappedSpec(std::string word, std::string path, bool stored)
      : word_(std::move(word)), path_(std::move(path)), stored_(stored) {}
  std::string name() const override { return word_ + ":" + path_; }
  TierTraits traits() const override { return {.loads = true}; }
  std::unique_ptr<Tier> open(const TierContext& context) const override {
    FARVEC_CHECK(context.memory != nullptr);
    auto mapped = stored_ ? context.memory->map_stored(path_) : context.memory->map(path_);
    return std::make_unique<MemoryTier>([mapped] { return mapped; }, "mapped " + path_, context);
  }

 private:
  const std::string word_;
  const std::string path_;
  const bool stored_;
};

class NumaSpec final : public TierSpec {
 public:
  explicit NumaSpec(std::uint32_t node) : node_(node) {}
  std::string name() const override { return fmt::format("numa:{}", node_); }
  TierTraits traits() const override { return {.loads = true, .own_memory = true}; }
  std::unique_ptr<Tier> open(const TierContext& context) const override {
    FARVEC_CHECK(context.memory != nullptr);
    return std::make_unique<MemoryTier>(
        [memory = context.memory, node = node_] { return memory->on_node(node); },
        fmt::format("memory of NUMA node {}", node_), context);
  }

 private:
  const std::uint32_t node_;
};

template <typename Spec>
TierSpecPointer read_bare(std::string_view rest) {
  return rest.empty() ? std::make_shared<const Spec>() : nullptr;
}

TierSpecPointer read_mapped(std::string_view word, std::string_view rest, bool stored) {
  const std::string_view path = after_colon(rest);
  if (path.empty()) return nullptr;
  return std::make_shared<const MappedSpec>(std::string(word), std::string(path), stored);
}

}  // namespace

TierSpecPointer read_dram(std::string_view rest) {
  return read_bare<DramSpec>(rest);
}

TierSpecPointer read_shm(std::string_view rest) {
  return read_bare<SharedMemorySpec>(rest);
}

TierSpecPointer read_numa(std::string_view rest) {
  const std::string_view text = after_colon(rest);
  std::uint32_t node = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), node);
  const bool whole = error == std::errc{} && end == text.data() + text.size();
  return whole && !text.empty() ? std::make_shared<const NumaSpec>(node) : nullptr;
}

TierSpecPointer read_file(std::string_view rest) {
  return read_mapped("file", rest, false);
}

TierSpecPointer read_devdax(std::string_view rest) {
  return read_mapped("devdax", rest, true);
}

TierSpecPointer read_pmem(std::string_view rest) {
  return read_mapped("pmem", rest, true);
}

MemoryTier::MemoryTier(std::function<RegionSetPointer()> regions, std::string description,
                       const TierContext& context)
    : make_regions_(std::move(regions)),
      description_(std::move(description)),
      by_reference_(context.index != nullptr || context.second != nullptr) {}

void MemoryTier::load() const {
  std::call_once(loaded_, [this] { regions_ = make_regions_(); });
}

std::unique_ptr<transport::Endpoint> MemoryTier::make_endpoint() const {
  load();
  return std::make_unique<transport::MappedEndpoint>(
      regions_, transport::MappedOptions{.name = description_, .by_reference = by_reference_});
}

}  // namespace farvec::tiers
