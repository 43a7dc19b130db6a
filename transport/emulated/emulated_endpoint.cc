#include "transport/emulated/emulated_endpoint.h"

#include <algorithm>
#include <utility>

#include "base/memory.h"

namespace farvec::transport {

EmulatedEndpoint::EmulatedEndpoint(std::unique_ptr<Endpoint> below, std::shared_ptr<Device> device)
    : below_(std::move(below)),
      device_(std::move(device)),
      limits_(below_->limits()),
      delayed_(limits_.max_outstanding),
      ready_(limits_.max_outstanding) {}

Status EmulatedEndpoint::check(std::span<const ReadRequest> reads) const {
  if (closed_) return {StatusCode::unavailable, "the endpoint is closed"};
  if (reads.size() > limits_.max_outstanding - delayed_.size() - below_outstanding_) {
    return {StatusCode::resource_exhausted, "too many reads outstanding"};
  }
  for (const ReadRequest& read : reads) {
    const Status status = check_read(read, below_->region_bytes(read.region), limits_);
    if (!status.ok()) return status;
  }
  return {};
}

Status EmulatedEndpoint::post(std::span<const ReadRequest> reads) {
  const Status status = check(reads);
  if (!status.ok() || reads.empty()) return status;
  device_->reserve(reads, {ready_.data(), reads.size()});
  for (std::size_t i = 0; i < reads.size(); ++i) {
    const ReadRequest& read = reads[i];
    const std::byte* region = below_->mapped(read.region);
    if (region != nullptr) prefetch_range(region + read.offset, read.bytes);
    delayed_.push({read, ready_[i]});
  }
  return {};
}

std::size_t EmulatedEndpoint::release(std::span<Completion> failed) {
  const Ticks now = now_ticks();
  std::size_t count = 0;
  const std::size_t most = std::min(failed.size(), batch_.size());
  while (count < most && !delayed_.empty() && delayed_.front().ready <= now) {
    batch_[count++] = delayed_.front().read;
    delayed_.pop();
  }
  if (count == 0) return 0;
  const Status status = below_->post({batch_.data(), count});
  if (status.ok()) {
    below_outstanding_ += count;
    return 0;
  }
  for (std::size_t i = 0; i < count; ++i) failed[i] = {batch_[i].token, status.code(), 0};
  return count;
}

std::size_t EmulatedEndpoint::poll(std::span<Completion> completions) {
  std::size_t done = delayed_.empty() ? 0 : release(completions);
  if (below_outstanding_ == 0) return done;
  const std::size_t arrived = below_->poll(completions.subspan(done));
  below_outstanding_ -= arrived;
  return done + arrived;
}

std::string EmulatedEndpoint::description() const {
  return "emulated(" + to_string(device_->model()) + ")";
}

void EmulatedEndpoint::close() {
  closed_ = true;
  delayed_.clear();
  below_outstanding_ = 0;
  below_->close();
}

}  // namespace farvec::transport
