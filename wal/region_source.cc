#include "wal/region_source.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>
#include <thread>
#include <tuple>
#include <utility>

#include "base/error.h"

namespace farvec::wal {
namespace {

/// How often a header is read: it is written within microseconds, and segments come and go less
/// often than they are listed.
constexpr int kReadings = 8;
constexpr std::chrono::microseconds kPause{50};

bool is_newer(const layout::LogRegionHeader& a, const layout::LogRegionHeader& b) {
  return std::tie(a.epoch, a.changes) > std::tie(b.epoch, b.changes);
}

std::string names_of(const LogMemories& copies) {
  std::string names;
  for (const auto& copy : copies) {
    if (copy == nullptr) continue;
    names += (names.empty() ? "" : ", ") + copy->name();
  }
  return names.empty() ? "no memory node" : names;
}

}  // namespace

std::optional<layout::LogRegionHeader> read_region_header(LogMemory& memory) {
  std::array<std::byte, sizeof(layout::LogRegionHeader)> bytes;
  for (int reading = 0; reading < kReadings; ++reading) {
    memory.read(0, bytes);
    if (const auto header = layout::decode_log_region(bytes)) return header;
    std::this_thread::sleep_for(kPause);
  }
  return std::nullopt;
}

void require_memory_for(const layout::LogRegionHeader& header, LogMemory& memory) {
  const auto there = read_region_header(memory);
  if (there && there->log_id != header.log_id) {
    throw Error(
        "{} holds the log of another collection, perhaps of the folder that this one is a copy of: "
        "use another memory node (one that is started anew forgets the log that it has)",
        memory.name());
  }
  const std::uint64_t needed = layout::log_slot_offset(header, header.slots);
  if (header.slots > 0 && memory.bytes() >= needed) return;
  throw Error("{} has {} bytes for a log: use at least {} (--log-bytes)", memory.name(),
              memory.bytes(), std::max<std::uint64_t>(needed, (std::uint64_t{17} << 20)));
}

/// The bytes of the copy that the source reads at that time.
class RegionSource::Bytes final : public LogSegmentBytes {
 public:
  Bytes(std::shared_ptr<RegionSource> source, const LogSegment& segment)
      : source_(std::move(source)), path_(segment.path), header_(segment.header) {}

  const std::string& path() const override { return path_; }
  std::uint64_t size() override { return header_.segment_bytes; }
  void read_at(std::uint64_t offset, void* out, std::size_t bytes) override {
    const std::uint32_t slot = source_->slot_of(header_.number, header_.salt);
    source_->copies_[source_->current_]->read(
        layout::log_slot_offset(source_->header_, slot) + offset,
        {static_cast<std::byte*>(out), bytes});
  }

 private:
  const std::shared_ptr<RegionSource> source_;
  const std::string path_;
  const layout::LogSegmentHeader header_;
};

std::shared_ptr<RegionSource> RegionSource::make(LogMemories copies, std::uint64_t log_id,
                                                 Quorum quorum) {
  return std::shared_ptr<RegionSource>(new RegionSource(std::move(copies), log_id, quorum));
}

RegionSource::RegionSource(LogMemories copies, std::uint64_t log_id, Quorum quorum)
    : copies_(std::move(copies)),
      log_id_(log_id),
      quorum_(quorum),
      name_(fmt::format("the log on {}", names_of(copies_))),
      bad_(copies_.size()) {}

/// The headers of all copies that answer and hold this log.
std::vector<std::optional<layout::LogRegionHeader>> RegionSource::headers() {
  std::vector<std::optional<layout::LogRegionHeader>> headers(copies_.size());
  for (std::size_t i = 0; i < copies_.size(); ++i) {
    if (copies_[i] == nullptr || bad_[i]) continue;
    try {
      headers[i] = read_region_header(*copies_[i]);
    } catch (const Error& error) {
      spdlog::warn("{}", error.what());
      bad_[i] = true;
    }
    if (headers[i] && headers[i]->log_id != log_id_) headers[i].reset();
    if (headers[i] && layout::log_slot_offset(*headers[i], headers[i]->slots) > copies_[i]->bytes())
      headers[i].reset();
  }
  return headers;
}

void RegionSource::choose() {
  const auto found = headers();
  std::size_t best = copies_.size();
  std::size_t answers = 0;
  // The current copy stays when it is as good as the best.
  if (found.size() > current_ && found[current_]) best = current_;
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (!found[i]) continue;
    ++answers;
    if (best == copies_.size() || is_newer(*found[i], *found[best])) best = i;
  }
  if (best == copies_.size()) {
    throw Error("{} cannot be read: none of {} memory nodes answers with this log", name_,
                copies_.size());
  }
  const std::size_t least =
      copies_.size() - std::min<std::size_t>(copies_.size(), found[best]->needed) + 1;
  if (quorum_ == Quorum::asked && answers < least) {
    throw Error("{} of {} memory nodes answer with this log, {} must: {}", answers, copies_.size(),
                least, name_);
  }
  if (listed_ && best == current_ && *found[best] == header_) return;
  listed_ = false;
  current_ = best;
  header_ = *found[best];
}

std::vector<LogSegment> RegionSource::segments() {
  choose();
  if (!listed_) list();
  return segments_;
}

/// Lists again when the copy changes meanwhile.
void RegionSource::list() {
  for (int reading = 1;; ++reading) {
    std::string failure;
    try {
      list_once();
    } catch (const Error& error) {
      failure = error.what();
    }
    const auto after = read_region_header(*copies_[current_]);
    if (after && *after == header_ && failure.empty()) break;
    if (reading == kReadings) {
      throw Error("{}", failure.empty() ? name_ + " changes faster than it is read" : failure);
    }
    if (after) header_ = *after;
    std::this_thread::sleep_for(kPause);
  }
  listed_ = true;
}

void RegionSource::list_once() {
  std::vector<std::pair<LogSegment, std::uint32_t>> found;
  layout::LogHeaderBlock block;
  for (std::uint32_t slot = 0; slot < header_.slots; ++slot) {
    copies_[current_]->read(layout::log_slot_offset(header_, slot), block);
    std::uint64_t magic = 0;
    std::memcpy(&magic, block.data(), sizeof(magic));
    if (magic == 0) continue;
    const std::string path = fmt::format("{}, slot {}", copies_[current_]->name(), slot);
    LogSegment segment{path, header_.slot_bytes, layout::decode_log_header(block, path)};
    if (segment.header.log_id != log_id_ || segment.header.segment_bytes != header_.slot_bytes) {
      throw Error("{} holds a segment of another log", path);
    }
    found.emplace_back(std::move(segment), slot);
  }
  // When two segments have one number, the later writer's has replaced the other.
  const auto key = [](const auto& a) {
    return std::pair(a.first.header.number, ~a.first.header.epoch);
  };
  std::sort(found.begin(), found.end(),
            [&](const auto& a, const auto& b) { return key(a) < key(b); });
  segments_.clear();
  slots_.clear();
  for (auto& [segment, slot] : found) {
    if (!segments_.empty() && segments_.back().header.number == segment.header.number) continue;
    if (!segments_.empty()) check_neighbors(segments_.back(), segment);
    segments_.push_back(std::move(segment));
    slots_.push_back(slot);
  }
}

std::uint32_t RegionSource::slot_of(std::uint64_t number, std::uint64_t salt) const {
  for (std::size_t i = 0; i < segments_.size(); ++i) {
    const layout::LogSegmentHeader& header = segments_[i].header;
    if (header.number == number && header.salt == salt) return slots_[i];
  }
  throw Error("segment {} of {} has been cut away", number, name_);
}

std::unique_ptr<LogSegmentBytes> RegionSource::open(const LogSegment& segment) {
  return std::make_unique<Bytes>(shared_from_this(), segment);
}

bool RegionSource::distrust() {
  if (current_ >= copies_.size() || bad_[current_]) return false;
  const std::size_t before = current_;
  bad_[before] = true;
  listed_ = false;
  try {
    choose();
    spdlog::warn("{}: {} is not read any more, {} is", name_,
                 copies_[before] == nullptr ? "one copy" : copies_[before]->name(),
                 copies_[current_]->name());
    return true;
  } catch (const Error&) {
    bad_[before] = false;
    return false;
  }
}

/// Goes on to the next copy that is as new.
void RegionSource::look_elsewhere() {
  const auto found = headers();
  for (std::size_t step = 1; step < copies_.size(); ++step) {
    const std::size_t i = (current_ + step) % copies_.size();
    if (!found[i] || is_newer(header_, *found[i])) continue;
    current_ = i;
    header_ = *found[i];
    list();
    return;
  }
}

}  // namespace farvec::wal
