#include "transport/mapped/mapped_endpoint.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/memory.h"

namespace farvec::transport {
namespace {

/// The processor's own prefetcher follows a longer read.
constexpr std::uint32_t kPrefetchedBytes = 1024;

}  // namespace

MappedEndpoint::MappedEndpoint(std::shared_ptr<const RegionSet> regions, MappedOptions options)
    : regions_(std::move(regions)),
      limits_{options.max_outstanding, options.max_read_bytes},
      name_(std::move(options.name)),
      by_reference_(options.by_reference),
      outstanding_(options.max_outstanding) {}

Status MappedEndpoint::post(std::span<const ReadRequest> reads) {
  if (closed_) return {StatusCode::unavailable, "the endpoint is closed"};
  if (reads.size() > limits_.max_outstanding - outstanding_.size()) {
    return {StatusCode::resource_exhausted, "too many reads outstanding"};
  }
  for (const ReadRequest& read : reads) {
    const Status status = check_read(read, bytes_of(read.region), limits_);
    if (!status.ok()) return status;
  }
  for (const ReadRequest& read : reads) {
    const std::byte* const data = (*regions_)[read.region].bytes().data() + read.offset;
    prefetch_range(data, std::min(read.bytes, kPrefetchedBytes));
    outstanding_.push({read.token, data, by_reference_ ? nullptr : read.destination, read.bytes});
  }
  return {};
}

std::size_t MappedEndpoint::poll(std::span<Completion> completions) {
  const std::size_t count = std::min(completions.size(), outstanding_.size());
  for (std::size_t i = 0; i < count; ++i) {
    const Outstanding& read = outstanding_.front();
    completions[i] = {read.token, StatusCode::ok, read.bytes, by_reference_ ? read.data : nullptr};
    if (!by_reference_ && read.bytes > 0) std::memcpy(read.destination, read.data, read.bytes);
    outstanding_.pop();
  }
  return count;
}

void MappedEndpoint::close() {
  closed_ = true;
  outstanding_.clear();
}

}  // namespace farvec::transport
