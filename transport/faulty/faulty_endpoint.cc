#include "transport/faulty/faulty_endpoint.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace farvec::transport {

FaultyEndpoint::FaultyEndpoint(std::unique_ptr<Endpoint> below, FaultOptions options)
    : ForwardingEndpoint(std::move(below)), options_(options), random_(options.seed) {
  slots_.resize(this->below().limits().max_outstanding);
  forwarded_.reserve(slots_.size());
  order_.reserve(slots_.size());
}

Status FaultyEndpoint::check(std::span<const ReadRequest> reads) {
  if (closed_) return {StatusCode::unavailable, "the endpoint is closed"};
  if (dead_) return {StatusCode::unavailable, "the peer is gone"};
  if (reads.size() > slots_.size() - order_.size()) {
    return {StatusCode::resource_exhausted, "too many reads outstanding"};
  }
  for (const ReadRequest& read : reads) {
    const Status status = check_read(read, below().region_bytes(read.region), limits());
    if (!status.ok()) return status;
  }
  const bool fails = posts_++ == options_.failing_post;
  if (fails || random_.uniform() < options_.post_rate) {
    return {StatusCode::resource_exhausted, "an injected failure of post"};
  }
  return {};
}

Status FaultyEndpoint::post(std::span<const ReadRequest> reads) {
  const Status status = check(reads);
  if (!status.ok()) return status;
  forwarded_.clear();
  std::uint32_t free = 0;
  for (const ReadRequest& read : reads) {
    while (slots_[free].used) ++free;
    slots_[free] = draw(read);
    order_.push_back(free);
    if (slots_[free].fault == Fault::drop) continue;
    forwarded_.push_back(read);
    forwarded_.back().token = kTokensApart * free;
  }
  const Status posted = below().post(forwarded_);
  if (!posted.ok()) {
    for (std::size_t i = 0; i < reads.size(); ++i) {
      slots_[order_.back()].used = false;
      order_.pop_back();
    }
    return posted;
  }
  if (reads_ > options_.dead_from_read) kill();
  return {};
}

FaultyEndpoint::Slot FaultyEndpoint::draw(const ReadRequest& read) {
  Slot slot;
  slot.read = read;
  slot.used = true;
  slot.fault = draw_fault();
  if (random_.uniform() < options_.delay_rate) slot.not_before = polls_ + options_.delay_polls;
  slot.noise = random_.next();
  if (reads_++ == options_.failing_read) slot.fault = Fault::error;
  return slot;
}

FaultyEndpoint::Fault FaultyEndpoint::draw_fault() {
  const std::pair<double, Fault> faults[] = {{options_.drop_rate, Fault::drop},
                                             {options_.short_rate, Fault::shorten},
                                             {options_.flip_rate, Fault::flip},
                                             {options_.error_rate, Fault::error}};
  Fault drawn = Fault::none;
  for (const auto& [rate, fault] : faults) {
    if (random_.uniform() < rate && drawn == Fault::none) drawn = fault;
  }
  return drawn;
}

void FaultyEndpoint::fetch_from_below() {
  Completion some[32];
  std::size_t count = 0;
  // Bounded, because the endpoint below delivers each of at most max_outstanding reads once.
  while ((count = below().poll(some)) > 0) {
    for (std::size_t i = 0; i < count; ++i) {
      Slot& slot = slots_[some[i].token / kTokensApart];
      slot.arrived = some[i];
      slot.has_arrived = true;
    }
  }
}

Completion FaultyEndpoint::finish(Slot& slot) {
  slot.used = false;
  const ReadRequest& read = slot.read;
  Completion completion{read.token, slot.arrived.status, slot.arrived.bytes};
  if (dead_) return {read.token, StatusCode::unavailable, 0};
  // Faults go into the destination, so bytes that are elsewhere are brought there first.
  if (slot.arrived.region != nullptr && completion.status == StatusCode::ok) {
    std::copy_n(slot.arrived.region + read.offset, completion.bytes, read.destination);
  }
  if (completion.status != StatusCode::ok || slot.fault == Fault::none) return completion;
  if (slot.fault == Fault::error) return {read.token, options_.error, 0};
  if (read.bytes == 0) return completion;
  if (slot.fault == Fault::shorten) {
    completion.bytes = static_cast<std::uint32_t>(slot.noise % read.bytes);
    std::fill(read.destination + completion.bytes, read.destination + read.bytes, std::byte{0xee});
  } else if (slot.fault == Fault::flip) {
    read.destination[slot.noise % read.bytes] ^= std::byte{1} << ((slot.noise >> 61) & 7);
  }
  return completion;
}

std::size_t FaultyEndpoint::poll(std::span<Completion> completions) {
  ++polls_;
  if (!dead_) fetch_from_below();
  std::size_t done = 0;
  std::size_t kept = 0;
  for (const std::uint32_t index : order_) {
    Slot& slot = slots_[index];
    const bool ready = dead_ || (slot.has_arrived && polls_ > slot.not_before);
    if (ready && done < completions.size()) {
      completions[done++] = finish(slot);
    } else {
      order_[kept++] = index;
    }
  }
  order_.resize(kept);
  return done;
}

void FaultyEndpoint::kill() {
  dead_ = true;
  below().close();
}

void FaultyEndpoint::close() {
  closed_ = true;
  order_.clear();
  for (Slot& slot : slots_) slot.used = false;
  below().close();
}

}  // namespace farvec::transport
