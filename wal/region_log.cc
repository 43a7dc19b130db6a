#include "wal/region_log.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/error.h"
#include "wal/log_segment_reader.h"
#include "wal/region_folder.h"
#include "wal/region_source.h"
#include "wal/segment_log.h"

namespace farvec::wal {
namespace {

constexpr std::size_t kCopyBytes = std::size_t{256} << 10;
constexpr std::size_t kWordBytes = sizeof(std::uint64_t);
/// The failure of a log without anything wrong.
const std::string kSound;

/// A segment of a copy, and where its records end.
struct CopiedSegment {
  layout::LogSegmentHeader header;
  std::uint32_t slot = 0;
  Position end = 0;
};

/// The contents of one memory.
struct Copy {
  std::string failure = "is not there";  ///< empty: the copy is sound
  layout::LogRegionHeader header;
  std::vector<CopiedSegment> segments;

  bool foreign = false;  ///< it holds something else

  bool sound() const { return failure.empty(); }
  auto age() const {
    const CopiedSegment& last = segments.back();
    return std::tuple(last.header.epoch, last.header.number, last.end);
  }
};

std::uint64_t magic_of(std::span<const std::byte> block) {
  std::uint64_t magic = 0;
  std::memcpy(&magic, block.data(), sizeof(magic));
  return magic;
}

void read_segments(LogMemory& memory, std::uint64_t log_id, Copy& copy) {
  // Not owned: the source ends before the memory.
  const std::shared_ptr<LogMemory> unowned(std::shared_ptr<void>(), &memory);
  const auto source = RegionSource::make({unowned}, log_id, RegionSource::Quorum::none);
  const std::vector<LogSegment> segments = source->segments();
  if (segments.empty()) throw Error("{} holds no segment of the log", memory.name());
  copy.header = source->header();
  for (std::size_t i = 0; i < segments.size(); ++i) {
    const bool last = i + 1 == segments.size();
    const auto end = last ? std::nullopt : std::optional(segments[i + 1].header.previous_end);
    LogSegmentReader reader(*source, segments[i], end, LogTail::final);
    while (reader.next()) {
    }
    copy.segments.push_back({segments[i].header, source->slots()[i], reader.position()});
  }
}

Copy read_copy(LogMemory* memory, std::uint64_t log_id) {
  Copy copy;
  if (memory == nullptr) return copy;
  try {
    const auto header = read_region_header(*memory);
    if (header && header->log_id != log_id) {
      copy.failure = fmt::format("{} holds the log of another collection", memory->name());
      copy.foreign = true;
    } else if (!header) {
      copy.failure = fmt::format("{} holds no log", memory->name());
    } else {
      read_segments(*memory, log_id, copy);
      copy.failure = kSound;
    }
  } catch (const Error& error) {
    copy.failure = error.what();
  }
  return copy;
}

/// Makes the bytes of `to` equal to those of `from`. Bytes that are already equal are not written.
void copy_bytes(LogMemory& from, LogMemory& to, std::uint64_t begin, std::uint64_t end) {
  std::vector<std::byte> right(kCopyBytes), there(kCopyBytes);
  for (std::uint64_t at = begin; at < end; at += kCopyBytes) {
    const std::size_t part = std::min<std::uint64_t>(kCopyBytes, end - at);
    from.read(at, std::span(right).first(part));
    to.read(at, std::span(there).first(part));
    if (std::memcmp(right.data(), there.data(), part) != 0) {
      to.write(at, std::span(right).first(part));
      to.flush();
    }
  }
}

void clear_slot(LogMemory& memory, std::uint64_t begin) {
  const std::array<std::byte, kWordBytes> zeros{};
  memory.write(begin, zeros);
  memory.flush();
}

void copy_segment(LogMemory& from, LogMemory& to, std::uint64_t begin, std::uint64_t bytes) {
  layout::LogHeaderBlock right, there;
  from.read(begin, right);
  to.read(begin, there);
  if (right != there) clear_slot(to, begin);
  copy_bytes(from, to, begin + layout::kLogHeaderBytes, begin + bytes);
  if (right == there) return;
  to.write(begin + kWordBytes, std::span(right).subspan(kWordBytes));
  to.flush();
  to.write(begin, std::span(right).first(kWordBytes));
  to.flush();
}

/// At every moment `to` holds at least what it held before of what was acknowledged.
void bring_up(const Copy& best, LogMemory& from, LogMemory& to) {
  for (std::uint32_t slot = 0; slot < best.header.slots; ++slot) {
    const std::uint64_t begin = layout::log_slot_offset(best.header, slot);
    const auto found = std::find_if(best.segments.begin(), best.segments.end(),
                                    [&](const auto& segment) { return segment.slot == slot; });
    if (found != best.segments.end()) {
      copy_segment(from, to, begin, best.header.slot_bytes);
    } else {
      std::array<std::byte, kWordBytes> magic;
      to.read(begin, magic);
      if (magic_of(magic) != 0) clear_slot(to, begin);
    }
  }
  to.write(0, layout::encode_log_region(best.header));
  to.flush();
}

/// Throws Error unless the caller knows the epochs that are in a memory.
void require_known(const RegionLogName& name, const layout::LogRegionHeader& header,
                   const std::string& memory) {
  if (!name.last_epoch || header.log_id != name.log_id || header.epoch <= *name.last_epoch) return;
  throw Error(
      "{} has the log as a later writer left it: a copy of the folder was opened with these memory "
      "nodes since (writer {}, here {}). Open that copy, or give this one other nodes",
      memory, header.epoch, *name.last_epoch);
}

std::string describe(const std::vector<Copy>& copies) {
  std::string text;
  for (const Copy& copy : copies) {
    if (!copy.sound()) text += "; " + copy.failure;
  }
  return text;
}

}  // namespace

LogOptions region_options(const LogOptions& options, const layout::LogRegionHeader& header) {
  LogOptions region = options;
  region.segment_bytes = header.slot_bytes;
  region.pending_bytes = std::min(options.pending_bytes, header.slot_bytes);
  return region;
}

std::uint32_t next_log_epoch(const RegionWriters& writers, const RegionLogName& name) {
  return name.last_epoch ? std::max(writers.epoch, *name.last_epoch + 1) : writers.epoch;
}

std::unique_ptr<Log> create_region_log(const RegionWriters& writers, const RegionLogName& name,
                                       const LogOptions& options) {
  std::uint64_t bytes = ~0ull;
  for (const auto& copy : writers.copies) {
    if (copy == nullptr) throw Error("a log begins when all of its memory nodes are there");
    bytes = std::min(bytes, copy->bytes());
  }
  layout::LogRegionHeader header = layout::divide_log_region(bytes);
  header.log_id = name.log_id;
  header.epoch = next_log_epoch(writers, name);
  header.copies = static_cast<std::uint16_t>(writers.copies.size());
  header.needed = writers.needed;
  for (const auto& copy : writers.copies) {
    require_memory_for(header, *copy);
    if (const auto there = read_region_header(*copy)) require_known(name, *there, copy->name());
  }
  for (const auto& copy : writers.copies) {
    for (std::uint32_t slot = 0; slot < header.slots; ++slot) {
      clear_slot(*copy, layout::log_slot_offset(header, slot));
    }
  }
  return create_log(region_options(options, header),
                    std::make_unique<RegionFolder>(writers.copies, header), name.log_id);
}

layout::LogRegionHeader recover_region_log(const RegionWriters& writers,
                                           const RegionLogName& name) {
  std::vector<Copy> copies;
  std::size_t best = writers.copies.size();
  std::size_t sound = 0;
  std::uint64_t changes = 0;
  for (std::size_t i = 0; i < writers.copies.size(); ++i) {
    copies.push_back(read_copy(writers.copies[i].get(), name.log_id));
    if (copies[i].foreign) throw Error("{}", copies[i].failure);
    if (!copies[i].sound()) continue;
    require_known(name, copies[i].header, writers.copies[i]->name());
    ++sound;
    changes = std::max(changes, copies[i].header.changes);
    if (best == writers.copies.size() || copies[i].age() > copies[best].age()) best = i;
  }
  const std::size_t must = fewest_answers(writers.copies.size(), writers.needed);
  if (sound < must) {
    throw Error(
        "{} of {} memory nodes hold the collection's log, {} must, so that nothing that "
        "was acknowledged is lost{}",
        sound, writers.copies.size(), must, describe(copies));
  }
  layout::LogRegionHeader header = copies[best].header;
  if (header.copies != writers.copies.size() || header.needed != writers.needed) {
    throw Error(
        "the log was made for {} memory nodes of which {} have what is acknowledged, not "
        "for {} and {}: name the same (--log-nodes, --log-copies)",
        header.copies, header.needed, writers.copies.size(), writers.needed);
  }
  for (std::size_t i = 0; i < copies.size(); ++i) {
    if (writers.copies[i] == nullptr || i == best) continue;
    if (!copies[i].sound()) spdlog::warn("a copy of the log is made anew: {}", copies[i].failure);
    require_memory_for(header, *writers.copies[i]);
    bring_up(copies[best], *writers.copies[best], *writers.copies[i]);
  }
  header.changes = changes + 1;
  header.epoch = std::max({next_log_epoch(writers, name),
                           copies[best].segments.back().header.epoch + 1, header.epoch + 1});
  return header;
}

std::unique_ptr<Log> open_region_log(const RegionWriters& writers,
                                     const layout::LogRegionHeader& header,
                                     const LogOptions& options) {
  return open_log(region_options(options, header),
                  std::make_unique<RegionFolder>(writers.copies, header, writers.reach));
}

}  // namespace farvec::wal
