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
  if (reads.size() > limits_.max_outstanding - outstanding_reads_) {
    return {StatusCode::resource_exhausted, "too many reads outstanding"};
  }
  for (const ReadRequest& read : reads) {
    const Status status = check_read(read, bytes_of(read.region), limits_);
    if (!status.ok()) return status;
  }
  Outstanding run;
  run.reads = 0;
  for (const ReadRequest& read : reads) {
    const std::byte* const region = (*regions_)[read.region].bytes().data();
    const std::byte* const data = region + read.offset;
    prefetch_range(data, std::min(read.bytes, kPrefetchedBytes));
    if (by_reference_ && read.token == run.token + run.reads && region == run.region) {
      run.bytes = Completion::kAsAsked;
      ++run.reads;
      continue;
    }
    if (run.reads > 0) outstanding_.push(run);
    run = {read.token, region, data, read.destination, read.bytes, 1};
  }
  if (run.reads > 0) outstanding_.push(run);
  outstanding_reads_ += reads.size();
  return {};
}

std::size_t MappedEndpoint::poll(std::span<Completion> completions) {
  std::size_t room = completions.size();  // of reads
  std::size_t count = 0;
  while (room > 0 && !outstanding_.empty()) {
    Outstanding& run = outstanding_.front();
    const auto reads = static_cast<std::uint32_t>(std::min<std::size_t>(run.reads, room));
    completions[count++] = {run.token, StatusCode::ok, run.bytes, reads,
                            by_reference_ ? run.region : nullptr};
    if (!by_reference_ && run.bytes > 0) std::memcpy(run.destination, run.data, run.bytes);
    room -= reads;
    outstanding_reads_ -= reads;
    run.token += reads;
    run.reads -= reads;
    if (run.reads == 0) outstanding_.pop();
  }
  return count;
}

void MappedEndpoint::close() {
  closed_ = true;
  outstanding_.clear();
  outstanding_reads_ = 0;
}

}  // namespace farvec::transport
