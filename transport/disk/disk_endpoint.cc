#include "transport/disk/disk_endpoint.h"

#include <algorithm>
#include <cstring>

#include "base/clock.h"

namespace farvec::transport {
namespace {

constexpr double kReadLimitUs = 10e6;

/// Bytes that a read of `bytes` bytes takes together with the blocks around it.
std::size_t covering_bytes(const disk::DiskFile& file, std::uint32_t bytes) {
  const std::size_t block = std::max(file.block_bytes(), file.memory_alignment());
  return bytes == 0 ? 0 : round_up(bytes, block) + block;
}

}  // namespace

DiskEndpoint::DiskEndpoint(std::unique_ptr<disk::DiskEngine> engine,
                           const DiskEndpointOptions& options)
    : options_(options),
      stretch_(covering_bytes(*engine->files().front(), options.max_staged_bytes)),
      staging_(engine->max_outstanding() * stretch_),
      engine_(std::move(engine)),
      slots_(engine_->max_outstanding()) {
  for (auto number = engine_->max_outstanding(); number > 0; --number) free_.push_back(number - 1);
  if (stretch_ > 0) engine_->register_memory(staging_.span());
}

EndpointUse DiskEndpoint::use() const {
  return {
      .dram_bytes = staging_.size(), .device_reads = device_reads_, .device_bytes = device_bytes_};
}

std::size_t DiskEndpoint::staging_bytes(const disk::DiskFile& file, std::uint32_t reads,
                                        const DiskEndpointOptions& options) {
  return reads * covering_bytes(file, options.max_staged_bytes);
}

void DiskEndpoint::close() {
  engine_->close();
  empty_.clear();
}

bool DiskEndpoint::goes_straight(const ReadRequest& read) const {
  const auto address = reinterpret_cast<std::uintptr_t>(read.destination);
  return read.offset % file().block_bytes() == 0 && read.bytes % file().block_bytes() == 0 &&
         address % file().memory_alignment() == 0;
}

Status DiskEndpoint::check(const ReadRequest& read) const {
  if (Status status = check_read(read, region_bytes(read.region), limits()); !status.ok()) {
    return status;
  }
  if (read.bytes > options_.max_staged_bytes && !goes_straight(read)) {
    return {StatusCode::invalid_argument, "the read is longer than what the endpoint copies"};
  }
  return {};
}

disk::DiskRequest DiskEndpoint::plan(const ReadRequest& read, std::uint32_t number) {
  const disk::BlockRange range = file().cover(read.offset, read.bytes);
  const bool straight = goes_straight(read);
  std::byte* const arrival = straight ? read.destination : staging_.data() + number * stretch_;
  slots_[number] = {read.token, read.destination, read.bytes,
                    straight ? nullptr : arrival + range.skip};
  return {.token = number,
          .offset = range.offset,
          .memory = arrival,
          .deadline = now_ticks() + us_to_ticks(kReadLimitUs),
          .bytes = range.bytes};
}

Status DiskEndpoint::post(std::span<const ReadRequest> reads) {
  if (reads.size() > free_.size()) {
    return {StatusCode::resource_exhausted, "more reads than the disk has room for"};
  }
  for (const ReadRequest& read : reads) {
    if (Status status = check(read); !status.ok()) return status;
  }
  reads_.clear();
  for (const ReadRequest& read : reads) {
    if (read.bytes == 0) continue;
    reads_.push_back(plan(read, free_[free_.size() - 1 - reads_.size()]));
  }
  if (Status status = engine_->post(reads_); !status.ok()) return status;
  free_.resize(free_.size() - reads_.size());
  device_reads_ += reads_.size();
  for (const disk::DiskRequest& read : reads_) device_bytes_ += read.bytes;
  for (const ReadRequest& read : reads) {
    if (read.bytes == 0) empty_.push_back(read.token);
  }
  return {};
}

/// Returns false while the disk keeps the destination.
bool DiskEndpoint::finish(const disk::DiskCompletion& from, Completion& to) {
  if (!from.returned) return false;
  const auto number = static_cast<std::uint32_t>(from.token);
  const Slot& slot = slots_[number];
  const bool arrived = from.status == StatusCode::ok;
  to = {.token = slot.token, .status = from.status, .bytes = arrived ? slot.bytes : 0};
  if (arrived && slot.staged != nullptr) {
    std::memcpy(slot.destination, slot.staged, slot.bytes);
  }
  free_.push_back(number);
  return true;
}

std::size_t DiskEndpoint::poll(std::span<Completion> completions) {
  std::size_t count = 0;
  for (; count < completions.size() && !empty_.empty(); ++count) {
    completions[count] = {.token = empty_.back()};
    empty_.pop_back();
  }
  completions_.resize(completions.size() - count);
  const std::size_t ended = engine_->poll(completions_);
  for (std::size_t i = 0; i < ended; ++i) {
    if (finish(completions_[i], completions[count])) ++count;
  }
  return count;
}

}  // namespace farvec::transport
