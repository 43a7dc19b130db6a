#include "tiers/attach/log_bytes.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/check.h"
#include "base/clock.h"
#include "base/unreachable_error.h"
#include "transport/wait_pace.h"

namespace farvec::tiers {
namespace {

/// A node that owes a read for this long is taken for dead.
constexpr double kReadUs = 2e6;
constexpr std::size_t kRoomBytes = std::size_t{256} << 10;

}  // namespace

LogBytes::LogBytes(std::string name, std::shared_ptr<LogAttachment> reads,
                   std::shared_ptr<LogAttachment> writes)
    : name_(std::move(name)),
      writes_(std::move(writes)),
      reads_(std::move(reads)),
      room_(kRoomBytes),
      endpoint_(reads_->make_endpoint()) {
  endpoint_->register_memory(room_);
  if (writes_ != nullptr) writer_ = writes_->make_writer();
}

LogBytes::~LogBytes() {
  endpoint_->close();
}

void LogBytes::require(const Status& status, const char* what) const {
  if (!status.ok()) throw UnreachableError("{} {}: {}", what, name_, status.message());
}

void LogBytes::read(std::uint64_t offset, std::span<std::byte> to) {
  const std::size_t most = std::min<std::size_t>(room_.size(), endpoint_->limits().max_read_bytes);
  while (!to.empty()) {
    const std::size_t part = std::min(most, to.size());
    read_part(offset, to.first(part));
    offset += part;
    to = to.subspan(part);
  }
}

void LogBytes::read_part(std::uint64_t offset, std::span<std::byte> to) {
  const transport::ReadRequest request{0, 0, static_cast<std::uint32_t>(to.size()), offset,
                                       room_.data()};
  require(endpoint_->post({&request, 1}), "reading");
  transport::Completion done;
  const Ticks end = now_ticks() + us_to_ticks(kReadUs);
  transport::WaitPace pace;
  while (endpoint_->poll({&done, 1}) == 0) {
    if (now_ticks() >= end) {
      endpoint_->close();  // the room is ours again
      throw UnreachableError("reading {}: no answer in {} s", name_, kReadUs / 1e6);
    }
    pace.rest();
  }
  if (done.status != StatusCode::ok || done.bytes != to.size()) {
    throw UnreachableError("reading {}: {}, {} of {} bytes", name_, farvec::to_string(done.status),
                           done.bytes, to.size());
  }
  std::memcpy(to.data(), done.region != nullptr ? done.region + offset : room_.data(), to.size());
}

void LogBytes::write(std::uint64_t offset, std::span<const std::byte> bytes) {
  FARVEC_CHECK(writer_ != nullptr, "the log was attached for reading");
  require(writer_->write(0, offset, bytes), "writing");
}

void LogBytes::flush() {
  FARVEC_CHECK(writer_ != nullptr, "the log was attached for reading");
  require(writer_->flush(), "writing");
}

}  // namespace farvec::tiers
