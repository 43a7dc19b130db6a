#include "search/index/region_fetch.h"

#include <algorithm>
#include <vector>

#include "base/error.h"
#include "base/unreachable_error.h"
#include "layout/index/index_directory.h"

namespace farvec::search {
namespace {

constexpr std::uint32_t kPieceBytes = 1u << 20;
constexpr std::size_t kWindow = 16;

/// Keeps a window of large reads in flight until the buffer is full.
class Fetch {
 public:
  /// Without a placement the region is in one piece.
  Fetch(std::uint32_t region, const layout::RegionPlacement* placement,
        transport::Endpoint& endpoint, HugeBuffer& buffer)
      : region_(region),
        placement_(placement),
        endpoint_(endpoint),
        buffer_(buffer),
        piece_bytes_(std::min(kPieceBytes, endpoint.limits().max_read_bytes)),
        window_(std::min<std::size_t>(kWindow, endpoint.limits().max_outstanding)) {
    if (piece_bytes_ == 0 || window_ == 0) throw Error("the endpoint allows no reads");
  }

  void run(const FetchBound& bound) {
    while (arrived_ < buffer_.size()) {
      while (outstanding_ < window_ && next_ < buffer_.size() && post_one()) {
      }
      collect(bound);
      require_time(bound);
    }
  }

 private:
  void require_time(const FetchBound& bound) const {
    // relaxed: only the flag itself matters.
    if (bound.stop != nullptr && bound.stop->load(std::memory_order_relaxed)) {
      throw Error("reading region {} from {} was stopped", region_, endpoint_.description());
    }
    if (now_ticks() > bound.deadline) {
      throw Error("region {}: {} of {} bytes had arrived from {} when the time was up", region_,
                  arrived_, buffer_.size(), endpoint_.description());
    }
  }

  /// A piece ends with its extent: the next one may lie on another node.
  std::uint32_t piece_at(std::uint64_t offset) const {
    const std::uint64_t end =
        placement_ != nullptr ? placement_->end_of(placement_->find(offset)) : buffer_.size();
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(piece_bytes_, end - offset));
  }

  /// False when the endpoint has no room now.
  bool post_one() {
    const transport::ReadRequest read{next_, region_, piece_at(next_), next_,
                                      buffer_.data() + next_};
    const Status status = endpoint_.post({&read, 1});
    if (status.code() == StatusCode::resource_exhausted) return false;
    if (!status.ok()) fail(status);
    ++outstanding_;
    next_ += read.bytes;
    return true;
  }

  void collect(const FetchBound& bound) {
    transport::Completion completions[kWindow];
    const std::size_t count = endpoint_.poll(completions);
    for (std::size_t i = 0; i < count; ++i) {
      const transport::Completion& done = completions[i];
      if (done.status != StatusCode::ok) fail({done.status, "a read failed"});
      if (done.bytes != piece_at(done.token)) fail({StatusCode::data_loss, "a read came short"});
      arrived_ += done.bytes;
      --outstanding_;
      if (bound.on_bytes) bound.on_bytes(done.bytes);
    }
  }

  [[noreturn]] void fail(const Status& status) const {
    if (status.code() == StatusCode::unavailable) {
      throw UnreachableError("reading region {} from {}: {}", region_, endpoint_.description(),
                             status.message());
    }
    throw Error("reading region {} from {}: {} ({})", region_, endpoint_.description(),
                status.message(), to_string(status.code()));
  }

  const std::uint32_t region_;
  const layout::RegionPlacement* const placement_;
  transport::Endpoint& endpoint_;
  HugeBuffer& buffer_;
  const std::uint32_t piece_bytes_;
  const std::size_t window_;
  std::uint64_t next_ = 0;
  std::uint64_t arrived_ = 0;
  std::size_t outstanding_ = 0;
};

void check_chunks(const layout::RegionEntry& entry, const HugeBuffer& buffer,
                  const std::string& source) {
  for (std::size_t chunk = 0; chunk < entry.checksums.size(); ++chunk) {
    const std::uint64_t begin = chunk * entry.chunk_bytes;
    const std::uint64_t bytes = std::min(entry.chunk_bytes, entry.payload_bytes - begin);
    layout::check_chunk(entry, chunk,
                        buffer.span().subspan(layout::kRegionHeaderBytes + begin, bytes), source);
  }
}

HugeBuffer fetch(HugeBuffer buffer, std::uint32_t region, const layout::RegionPlacement* placement,
                 transport::Endpoint& endpoint, const FetchBound& bound) {
  endpoint.register_memory(buffer.span());
  try {
    Fetch(region, placement, endpoint, buffer).run(bound);
  } catch (...) {
    endpoint.close();
    throw;
  }
  return buffer;
}

}  // namespace

HugeBuffer fetch_region(const layout::Manifest& manifest, std::uint32_t region,
                        transport::Endpoint& endpoint, const FetchBound& bound) {
  const layout::RegionEntry& entry = manifest.region(region);
  if (endpoint.region_bytes(region) < entry.file_bytes()) {
    throw Error("{} has {} bytes of region {}, but the manifest says {}", endpoint.description(),
                endpoint.region_bytes(region), region, entry.file_bytes());
  }
  const auto* const placement = manifest.placement ? &manifest.placement->regions[region] : nullptr;
  HugeBuffer buffer = fetch(HugeBuffer(entry.file_bytes()), region, placement, endpoint, bound);
  check_chunks(entry, buffer, endpoint.description());
  return buffer;
}

HugeBuffer fetch_bytes(std::uint32_t region, std::uint64_t bytes, transport::Endpoint& endpoint,
                       const FetchBound& bound) {
  if (endpoint.region_bytes(region) < bytes) {
    throw Error("{} has {} bytes of region {}, where {} are to be read", endpoint.description(),
                endpoint.region_bytes(region), region, bytes);
  }
  return fetch(HugeBuffer(bytes), region, nullptr, endpoint, bound);
}

}  // namespace farvec::search
