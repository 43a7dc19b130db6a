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
    : limits_{options.max_outstanding, options.max_read_bytes},
      by_reference_(options.by_reference),
      regions_(*regions),
      outstanding_(options.max_outstanding),
      owned_(std::move(regions)),
      name_(std::move(options.name)) {}

Status MappedEndpoint::post(std::span<const ReadRequest> reads) {
  if (closed_) return {StatusCode::unavailable, "the endpoint is closed"};
  if (reads.size() > limits_.max_outstanding - outstanding_reads_) {
    return {StatusCode::resource_exhausted, "too many reads outstanding"};
  }
  if (reads.empty()) return {};
  RegionId id = reads.front().region;
  std::span<const std::byte> region = region_of(id);
  std::uint64_t token = reads.front().token;
  bool together = by_reference_ && reads.size() > 1;
  for (const ReadRequest& read : reads) {
    if (read.region != id) [[unlikely]] {
      id = read.region;
      region = region_of(id);
      together = false;
    }
    together &= read.token == token++;
    if (Status status = check_read(read, region.size(), limits_); !status.ok()) return status;
    prefetch_range(region.data() + read.offset, std::min(read.bytes, kPrefetchedBytes));
  }
  const auto run = static_cast<std::uint32_t>(together ? reads.size() : 1);
  for (std::size_t i = 0; i < reads.size(); i += run) {
    const ReadRequest& first = reads[i];
    const std::byte* const begin = region_of(first.region).data();
    outstanding_.push({first.token, begin, begin + first.offset, first.destination,
                       together ? Completion::kAsAsked : first.bytes, run});
  }
  outstanding_reads_ += reads.size();
  return {};
}

std::size_t MappedEndpoint::poll(std::span<Completion> completions) {
  std::size_t room = completions.size();  // counted in reads
  std::size_t count = 0;
  while (room > 0 && !outstanding_.empty()) {
    Outstanding& run = outstanding_.front();
    const auto reads = static_cast<std::uint32_t>(std::min<std::size_t>(run.reads, room));
    completions[count++] = {run.token, StatusCode::ok, run.bytes, reads,
                            by_reference_ ? run.region : nullptr};
    if (!by_reference_ && run.bytes > 0) std::memcpy(run.destination, run.data, run.bytes);
    room -= reads;
    outstanding_reads_ -= reads;
    if (reads == run.reads) {
      outstanding_.pop();
    } else {
      run.token += reads;
      run.reads -= reads;
    }
  }
  return count;
}

void MappedEndpoint::close() {
  closed_ = true;
  outstanding_.clear();
  outstanding_reads_ = 0;
}

}  // namespace farvec::transport
