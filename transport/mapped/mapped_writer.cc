#include "transport/mapped/mapped_writer.h"

#include <poll.h>

#include <atomic>
#include <cstring>
#include <utility>

namespace farvec::transport {

MappedWriter::MappedWriter(RegionSet regions, Descriptor node)
    : regions_(std::move(regions)), node_(std::move(node)) {}

Status MappedWriter::write(RegionId region, std::uint64_t offset,
                           std::span<const std::byte> bytes) {
  if (!look().ok()) return status_;
  if (Status status = check_write(offset, bytes.size(), region_bytes(region)); !status.ok()) {
    return status;
  }
  if (bytes.empty()) return {};
  std::memcpy(regions_[region].writable_bytes().data() + offset, bytes.data(), bytes.size());
  // Release: a reader that sees a later write sees this one.
  std::atomic_thread_fence(std::memory_order_release);
  return {};
}

Status MappedWriter::flush() {
  std::atomic_thread_fence(std::memory_order_release);  // see write()
  return look();
}

std::uint64_t MappedWriter::region_bytes(RegionId region) const {
  return region < regions_.size() ? regions_[region].size() : 0;
}

/// The node never sends anything, so any event of the connection is its end.
const Status& MappedWriter::look() {
  if (!status_.ok() || !node_.valid()) return status_;
  pollfd polled{node_.get(), POLLRDHUP, 0};
  if (::poll(&polled, 1, 0) != 0 && polled.revents != 0) {
    status_ = {StatusCode::unavailable,
               "the memory node has hung up: it is gone, or has taken the lease back"};
  }
  return status_;
}

}  // namespace farvec::transport
