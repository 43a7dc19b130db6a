#include "transport/emulated/emulated_endpoint.h"

#include <algorithm>
#include <utility>

namespace farvec::transport {

EmulatedEndpoint::EmulatedEndpoint(std::unique_ptr<Endpoint> below, std::shared_ptr<Device> device)
    : ForwardingEndpoint(std::move(below)),
      device_(std::move(device)),
      chains_(this->below().limits().max_outstanding) {}

Status EmulatedEndpoint::post(std::span<const ReadRequest> reads) {
  if (Status status = below().post(reads); !status.ok() || reads.empty()) return status;
  chains_.push({device_.reserve(reads, &ReadRequest::bytes), reads.size()});
  return {};
}

std::size_t EmulatedEndpoint::poll(std::span<Completion> completions) {
  if (!chains_.empty()) {
    const Ticks now = now_ticks();
    for (; !chains_.empty() && chains_.front().due <= now; chains_.pop()) {
      allowed_ += chains_.front().reads;
    }
  }
  if (allowed_ == 0) return 0;
  const std::size_t count = below().poll(completions.first(std::min(allowed_, completions.size())));
  for (const Completion& completion : completions.first(count)) allowed_ -= completion.reads;
  return count;
}

std::string EmulatedEndpoint::description() const {
  return "emulated(" + to_string(device_.model()) + ")";
}

void EmulatedEndpoint::close() {
  chains_.clear();
  allowed_ = 0;
  below().close();
}

}  // namespace farvec::transport
