#include "transport/load/read_load.h"

#include <algorithm>

#include "base/error.h"
#include "base/memory.h"

namespace farvec::transport {
namespace {

constexpr std::size_t kPolledAtOnce = 64;

std::uint32_t longest_read(const LoadShape& shape) {
  return shape.small_share > 0 ? std::max(shape.payload_bytes, kSmallReadBytes)
                               : shape.payload_bytes;
}

std::size_t bytes_per_slot(const LoadShape& shape) {
  return round_up(longest_read(shape), shape.alignment);
}

}  // namespace

void check_load(const LoadShape& shape, const Endpoint& endpoint, RegionId region) {
  const EndpointLimits limits = endpoint.limits();
  const std::uint64_t region_bytes = endpoint.region_bytes(region);
  const std::uint32_t longest = longest_read(shape);
  if (shape.payload_bytes == 0) throw Error("a payload of 0 bytes: a read needs at least 1");
  if (longest > region_bytes) {
    throw Error("reads of {} bytes from a region of {}: {}", longest, region_bytes,
                endpoint.description());
  }
  if (longest > limits.max_read_bytes) {
    throw Error("reads of {} bytes: {} takes at most {}", longest, endpoint.description(),
                limits.max_read_bytes);
  }
  if (shape.inflight == 0 || shape.outstanding() > limits.max_outstanding) {
    throw Error("{} reads in flight: {} takes from 1 to {}", shape.outstanding(),
                endpoint.description(), limits.max_outstanding);
  }
  if (shape.batch == 0 || shape.batch > shape.inflight) {
    throw Error("{} reads per doorbell: with {} in flight use from 1 to {}", shape.batch,
                shape.inflight, shape.inflight);
  }
  if (shape.together && shape.inflight % shape.batch != 0) {
    throw Error("{} reads in flight, {} of them together: use a multiple", shape.inflight,
                shape.batch);
  }
  if (shape.alignment == 0 || shape.alignment % kLoadAlignment != 0) {
    throw Error("reads at multiples of {}: use multiples of {}", shape.alignment, kLoadAlignment);
  }
  if (!(shape.small_share >= 0 && shape.small_share <= 1)) {
    throw Error("a share of small reads of {}: use 0 to 1", shape.small_share);
  }
}

std::size_t destination_bytes(const LoadShape& shape) {
  return shape.inflight * bytes_per_slot(shape);
}

ReadLoad::ReadLoad(Endpoint& endpoint, const LoadOptions& options)
    : endpoint_(endpoint),
      options_(options),
      region_bytes_(endpoint.region_bytes(options.region)),
      slot_bytes_(bytes_per_slot(options.shape)),
      small_below_(static_cast<std::uint64_t>(options.shape.small_share * 0x1.0p32)),
      patience_(us_to_ticks(options.patience_us)),
      random_(options.seed),
      completions_(kPolledAtOnce) {
  check_load(options.shape, endpoint, options.region);
  if (options.destinations.size() < destination_bytes(options.shape)) {
    throw Error("destinations of {} bytes for a load that needs {}", options.destinations.size(),
                destination_bytes(options.shape));
  }
  slots_.resize(options.shape.inflight);
  free_all();
}

LoadCounts ReadLoad::run(double duration_us) {
  const std::uint32_t batch = options_.shape.batch;
  const std::size_t all = slots_.size();
  LoadCounts warm_up;
  post_batches(1);
  while (warm_up.reads < all) {
    await(warm_up);
    post_batches(batch);
  }
  LoadCounts counts;
  const Ticks start = now_ticks();
  const Ticks end = start + us_to_ticks(duration_us);
  Ticks now = 0;
  do {
    now = await(counts);
    post_batches(batch);
  } while (now < end);
  counts.elapsed = now - start;
  LoadCounts late;
  while (outstanding_ > 0) await(late);
  free_all();
  return counts;
}

void ReadLoad::free_all() {
  free_.clear();
  for (auto i = static_cast<std::uint32_t>(slots_.size()); i > 0; --i) free_.push_back(i - 1);
  if (!options_.shape.together) return;
  missing_.assign(slots_.size() / options_.shape.batch, options_.shape.batch);
}

/// How many of the free slots to post now; 0 when it is better to wait for more room.
std::size_t ReadLoad::postable() const {
  const std::size_t batch = options_.shape.batch;
  if (missing_.empty()) return std::min(free_.size(), batch);
  const std::size_t rest = free_.size() % batch;
  const std::size_t wanted = rest > 0 ? rest : std::min(free_.size(), batch);
  const std::size_t most = options_.shape.outstanding();
  const std::size_t room = most - outstanding_;
  if (wanted <= room) return wanted;
  return room > 0 && 4 * room >= most && 4 * wanted > most ? room : 0;
}

/// Posts chains of `batch` reads while at least `least` slots are free; the last chain may be
/// shorter.
void ReadLoad::post_batches(std::size_t least) {
  if (!missing_.empty()) least = 1;
  while (free_.size() >= least) {
    const std::size_t count = postable();
    if (count == 0) return;
    batch_.clear();
    for (std::size_t i = 0; i < count; ++i) {
      batch_.push_back(draw(free_.back()));
      free_.pop_back();
    }
    outstanding_ += static_cast<std::uint32_t>(count);
    const Ticks now = now_ticks();
    for (const ReadRequest& read : batch_) slots_[read.token / kTokensApart].posted = now;
    if (const Status status = endpoint_.post(batch_); !status.ok()) {
      throw Error("posting {} reads to {}: {} ({})", count, endpoint_.description(),
                  status.message(), to_string(status.code()));
    }
  }
}

ReadRequest ReadLoad::draw(std::uint32_t number) {
  Slot& slot = slots_[number];
  const bool small = (random_.next() >> 32) < small_below_;
  slot.bytes = small ? kSmallReadBytes : options_.shape.payload_bytes;
  const std::uint64_t places = (region_bytes_ - slot.bytes) / options_.shape.alignment + 1;
  slot.offset = random_.below(places) * options_.shape.alignment;
  slot.outstanding = true;
  return {.token = kTokensApart * number,
          .region = options_.region,
          .bytes = slot.bytes,
          .offset = slot.offset,
          .destination = options_.destinations.data() + number * slot_bytes_};
}

/// Polls until something has completed; returns the time of that.
Ticks ReadLoad::await(LoadCounts& counts) {
  const Ticks give_up = now_ticks() + patience_;
  for (;;) {
    const std::size_t count = endpoint_.poll(completions_);
    const Ticks now = now_ticks();
    for (std::size_t i = 0; i < count; ++i) take(completions_[i], now, counts);
    if (count > 0) return now;
    if (now > give_up) {
      throw Error("{}: none of {} reads completed within {} s", endpoint_.description(),
                  slots_.size() - free_.size(), options_.patience_us / 1e6);
    }
  }
}

void ReadLoad::take(const Completion& completion, Ticks now, LoadCounts& counts) {
  const std::uint64_t number = completion.token / kTokensApart;
  if (number >= slots_.size() || !slots_[number].outstanding) {
    throw Error("{}: a completion of a read that is not outstanding", endpoint_.description());
  }
  Slot& slot = slots_[number];
  if (completion.status != StatusCode::ok) {
    throw Error("{}: a read of {} bytes at offset {} failed: {}", endpoint_.description(),
                slot.bytes, slot.offset, to_string(completion.status));
  }
  if (completion.bytes != slot.bytes) {
    throw Error("{}: a read of {} bytes at offset {} brought {}", endpoint_.description(),
                slot.bytes, slot.offset, completion.bytes);
  }
  slot.outstanding = false;
  --outstanding_;
  release(static_cast<std::uint32_t>(number));
  ++counts.reads;
  counts.bytes += slot.bytes;
  counts.latency.add(now - slot.posted);
}

void ReadLoad::release(std::uint32_t number) {
  if (missing_.empty()) {
    free_.push_back(number);
    return;
  }
  const std::uint32_t batch = options_.shape.batch;
  const std::uint32_t group = number / batch;
  if (--missing_[group] > 0) return;
  missing_[group] = batch;
  // post() takes slots from the end: the batch that has waited longest comes first, in its order.
  std::vector<std::uint32_t> slots;
  for (std::uint32_t i = batch; i > 0; --i) slots.push_back(group * batch + i - 1);
  free_.insert(free_.begin(), slots.begin(), slots.end());
}

}  // namespace farvec::transport
