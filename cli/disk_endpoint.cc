#include "cli/disk_endpoint.h"

#include <algorithm>

#include "base/clock.h"
#include "base/memory.h"

namespace farvec::cli {
namespace {

constexpr double kReadDeadlineUs = 10e6;

// The engine's token holds what was asked for as well: it knows only of blocks.
std::uint64_t pack(const transport::ReadRequest& read) {
  return (std::uint64_t{read.bytes} << 32) | read.token;
}

}  // namespace

Status DiskEndpoint::post(std::span<const transport::ReadRequest> reads) {
  const Ticks deadline = now_ticks() + us_to_ticks(kReadDeadlineUs);
  const std::uint32_t block_bytes = engine_->files().front()->block_bytes();
  reads_.clear();
  for (const transport::ReadRequest& read : reads) {
    const Status status = check_read(read, region_bytes(read.region), limits());
    if (!status.ok()) return status;
    reads_.push_back({.token = pack(read),
                      .offset = read.offset,
                      .destination = read.destination,
                      .deadline = deadline,
                      .bytes = static_cast<std::uint32_t>(round_up(read.bytes, block_bytes))});
  }
  return engine_->post(reads_);
}

std::size_t DiskEndpoint::poll(std::span<transport::Completion> completions) {
  completions_.resize(completions.size());
  const std::size_t count = engine_->poll(completions_);
  std::size_t delivered = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const ssd_baseline::DiskCompletion& from = completions_[i];
    const bool again = from.status == StatusCode::deadline_exceeded && from.returned;
    if (again) continue;  // the deadline itself was delivered before
    const auto asked = static_cast<std::uint32_t>(from.token >> 32);
    completions[delivered++] = {.token = from.token & 0xffffffffu,
                                .status = from.status,
                                .bytes = std::min(asked, from.bytes)};
  }
  return delivered;
}

}  // namespace farvec::cli
