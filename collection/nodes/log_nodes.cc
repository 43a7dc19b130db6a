#include "collection/nodes/log_nodes.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/unreachable_error.h"
#include "tiers/attach/log_bytes.h"
#include "wal/region_source.h"

namespace farvec::collection {
namespace {

using tiers::LogAttachment;

/// A reader's times for a node that is away.
constexpr std::chrono::milliseconds kReaderWait{1'000};
constexpr std::chrono::milliseconds kReaderRetry{500};
/// A reader that opens anew does so beside the former one.
constexpr std::uint32_t kReadersAtOnce = 3;
/// The greatest epoch that fits the header of a segment.
constexpr std::uint64_t kMostEpoch = std::uint64_t{1} << 31;

/// The memory of one node.
class NodeMemory final : public wal::LogMemory {
 public:
  NodeMemory(std::string name, std::shared_ptr<LogAttachment> reads,
             std::shared_ptr<LogAttachment> writes)
      : name_(std::move(name)), bytes_(name_, std::move(reads), std::move(writes)) {}

  const std::string& name() const override { return name_; }
  std::uint64_t bytes() const override { return bytes_.bytes(); }
  void read(std::uint64_t offset, std::span<std::byte> to) override { bytes_.read(offset, to); }
  void write(std::uint64_t offset, std::span<const std::byte> bytes) override {
    bytes_.write(offset, bytes);
  }
  void flush() override { bytes_.flush(); }

 private:
  const std::string name_;
  tiers::LogBytes bytes_;
};

struct AttachedNode {
  std::shared_ptr<wal::LogMemory> memory;
  std::uint64_t epoch = 0;
};

AttachedNode attach_to_write(const tiers::AttachOptions& attach, const std::string& name,
                             const tiers::LogWriting& writing) {
  const std::shared_ptr<LogAttachment> writes = LogAttachment::for_writing(attach, writing);
  if (writes->epoch() >= kMostEpoch) {
    throw UnreachableError("{} gave epoch {} where less than {} can be", name, writes->epoch(),
                           kMostEpoch);
  }
  const std::shared_ptr<LogAttachment> reads = LogAttachment::beside(*writes, attach);
  return {std::make_shared<NodeMemory>(name, reads, writes), writes->epoch()};
}

/// Returns the smallest epoch that a node may give where others have `epoch` or less.
std::uint64_t below(std::uint64_t epoch) {
  return epoch == 0 ? 0 : epoch - 1;
}

std::uint16_t copies_of(const LogNodesOptions& options) {
  if (options.copies == 0) return static_cast<std::uint16_t>(options.nodes.size() / 2 + 1);
  if (options.copies <= options.nodes.size()) return options.copies;
  throw Error("{} copies of a log do not fit {} memory nodes: each has one", options.copies,
              options.nodes.size());
}

LogNodesOptions resolved(LogNodesOptions options) {
  options.copies = copies_of(options);
  options.attach.cores = kReadersAtOnce;
  return options;
}

}  // namespace

LogNodes::LogNodes(LogNodesOptions options)
    : options_(resolved(std::move(options))),
      readers_(options_.nodes.size()),
      next_try_(options_.nodes.size()),
      failures_(options_.nodes.size()) {}

std::string LogNodes::name_of(std::size_t node) const {
  return fmt::format("the memory node at {}", rpc::to_string(options_.nodes[node]));
}

wal::LogReach LogNodes::reach(std::uint64_t epoch) const {
  return [this, epoch](std::size_t node, const std::atomic<bool>& stop) {
    tiers::AttachOptions attach = attach_options(node);
    attach.wait = kReaderWait;
    attach.await_listener = false;
    attach.stop = &stop;
    return attach_to_write(attach, name_of(node), {.epoch_above = below(epoch)}).memory;
  };
}

tiers::AttachOptions LogNodes::attach_options(std::size_t node) const {
  tiers::AttachOptions attach = options_.attach;
  attach.memory_node = options_.nodes[node];
  return attach;
}

wal::RegionWriters LogNodes::attach_writer() const {
  wal::RegionWriters writers;
  writers.copies.resize(options_.nodes.size());
  writers.needed = options_.copies;
  const auto end = Clock::now() + options_.attach.wait;
  std::size_t there = 0;
  std::uint64_t epoch = 0;
  std::string failures;
  for (std::size_t i = 0; i < options_.nodes.size(); ++i) {
    tiers::AttachOptions attach = attach_options(i);
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now());
    attach.wait = std::max(left, kReaderWait);
    tiers::LogWriting writing;
    writing.epoch_above = below(epoch);
    writing.writer_wait = attach.wait;
    try {
      AttachedNode attached = attach_to_write(attach, name_of(i), writing);
      epoch = std::max(epoch, attached.epoch);
      writers.copies[i] = std::move(attached.memory);
      ++there;
    } catch (const UnreachableError& error) {
      spdlog::warn("a memory node of the log: {}", error.what());
      failures += fmt::format("; {}", error.what());
    }
  }
  const std::size_t must = std::max<std::size_t>(
      options_.copies, wal::fewest_answers(options_.nodes.size(), options_.copies));
  if (there < must) {
    throw UnreachableError("{} of {} memory nodes of the log can be written, {} must{}", there,
                           options_.nodes.size(), must, failures);
  }
  writers.epoch = static_cast<std::uint32_t>(epoch);
  writers.reach = reach(epoch);
  return writers;
}

bool LogNodes::refresh() {
  bool changed = false;
  for (std::size_t i = 0; i < options_.nodes.size(); ++i) {
    {
      const std::lock_guard lock(mutex_);
      if (readers_[i] != nullptr && readers_[i]->alive()) continue;
      if (Clock::now() < next_try_[i]) continue;
    }
    Attachment attached;
    std::string failure;
    try {
      tiers::AttachOptions attach = attach_options(i);
      attach.wait = kReaderWait;
      attach.await_listener = false;
      attached = LogAttachment::for_reading(attach);
    } catch (const Error& error) {
      failure = error.what();
    }
    const std::lock_guard lock(mutex_);
    failures_[i] = failure;
    next_try_[i] = Clock::now() + kReaderRetry;
    changed = changed || attached != nullptr || readers_[i] != nullptr;
    readers_[i] = std::move(attached);
  }
  return changed;
}

std::shared_ptr<wal::LogSource> LogNodes::source(std::uint64_t log_id) const {
  wal::LogMemories memories(options_.nodes.size());
  std::string failures;
  {
    const std::lock_guard lock(mutex_);
    for (std::size_t i = 0; i < memories.size(); ++i) {
      if (readers_[i] == nullptr) {
        failures += "; " + failures_[i];
        continue;
      }
      try {
        memories[i] = std::make_shared<NodeMemory>(name_of(i), readers_[i], nullptr);
      } catch (const Error& error) {
        failures += fmt::format("; {}", error.what());
      }
    }
  }
  if (std::all_of(memories.begin(), memories.end(), [](const auto& m) { return m == nullptr; })) {
    throw UnreachableError("none of {} memory nodes of the log can be read{}", memories.size(),
                           failures);
  }
  return wal::RegionSource::make(std::move(memories), log_id, wal::RegionSource::Quorum::asked);
}

}  // namespace farvec::collection
