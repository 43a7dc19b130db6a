#include "collection/segment_rows.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/error.h"
#include "base/input_file.h"
#include "base/memory.h"
#include "layout/graph/graph_layout.h"
#include "layout/graph/record_reader.h"
#include "layout/region/region_bytes.h"

namespace farvec::collection {
namespace {

/// Who waits for another one to open the file looks at its deadline so often.
constexpr auto kOpenLook = std::chrono::milliseconds(5);
/// Vertices between two looks at the deadline.
constexpr NodeId kLearnRun = 4096;

Status too_late() {
  return {StatusCode::deadline_exceeded,
          "rows of a segment were not read before the deadline: allow more time"};
}

}  // namespace

/// The file, and where its rows lie.
class SegmentRows::Opened {
 public:
  explicit Opened(const layout::IndexDirectory& directory)
      : entry_(directory.manifest().region(layout::kRecordsRegion)),
        locator_(directory.load_locator({.threads = 1, .quiet = true})),
        file_(directory.region_path(layout::kRecordsRegion).string()),
        checked_(entry_.checksums.size()) {}

  /// By one thread, before any read(). May be called again after deadline_exceeded.
  Status learn(Ticks deadline);
  Status read(NodeId row, std::span<std::byte> out, Ticks deadline) const;

 private:
  /// All records, as far as they have been read.
  struct Learning {
    HugeBuffer region;
    std::size_t chunks = 0;
    NodeId vertices = 0;
  };

  Status load(Learning& learning, Ticks deadline) const;
  Status number(Learning& learning, Ticks deadline);
  void check(std::uint64_t chunk, std::span<std::byte> bytes) const;
  Status check_chunks_of(const layout::Extent& extent, Ticks deadline) const;
  std::uint64_t bytes_of_chunk(std::uint64_t chunk) const {
    return std::min(entry_.chunk_bytes, entry_.payload_bytes - chunk * entry_.chunk_bytes);
  }

  const layout::RegionEntry& entry_;
  const layout::GraphLocator locator_;
  const InputFile file_;
  std::unique_ptr<Learning> learning_;
  std::vector<NodeId> vertex_of_;  ///< [row]; empty: each is its row's number
  /// Relaxed: a chunk that two threads check at once is checked twice.
  mutable std::vector<std::atomic<bool>> checked_;
};

Status SegmentRows::Opened::learn(Ticks deadline) {
  if (locator_.geometry().kind != layout::LayoutKind::packed) return {};
  if (learning_ == nullptr) {
    auto learning = std::make_unique<Learning>();
    learning->region = HugeBuffer(entry_.file_bytes());
    file_.read_at(0, learning->region.data(), layout::kRegionHeaderBytes);
    vertex_of_.assign(locator_.geometry().count, kInvalidNode);
    learning_ = std::move(learning);
  }
  if (Status status = load(*learning_, deadline); !status.ok()) return status;
  if (Status status = number(*learning_, deadline); !status.ok()) return status;
  learning_.reset();
  const auto missing = std::find(vertex_of_.begin(), vertex_of_.end(), kInvalidNode);
  if (missing == vertex_of_.end()) return {};
  throw Error("'{}' has no vertex of row {}: it is damaged", file_.path(),
              missing - vertex_of_.begin());
}

Status SegmentRows::Opened::load(Learning& learning, Ticks deadline) const {
  for (; learning.chunks < entry_.checksums.size(); ++learning.chunks) {
    if (now_ticks() >= deadline) return too_late();
    const std::uint64_t at = layout::kRegionHeaderBytes + learning.chunks * entry_.chunk_bytes;
    check(learning.chunks, learning.region.span().subspan(at, bytes_of_chunk(learning.chunks)));
  }
  return {};
}

Status SegmentRows::Opened::number(Learning& learning, Ticks deadline) {
  layout::RecordReader records(locator_, learning.region.span());
  for (NodeId& v = learning.vertices; v < locator_.geometry().count; ++v) {
    if (v % kLearnRun == 0 && now_ticks() >= deadline) return too_late();
    vertex_of_[records.read(v).row] = v;
  }
  return {};
}

/// Reads a chunk.
void SegmentRows::Opened::check(std::uint64_t chunk, std::span<std::byte> bytes) const {
  file_.read_at(layout::kRegionHeaderBytes + chunk * entry_.chunk_bytes, bytes.data(),
                bytes.size());
  layout::check_chunk(entry_, chunk, bytes, file_.path());
  checked_[chunk].store(true, std::memory_order_relaxed);
}

Status SegmentRows::Opened::check_chunks_of(const layout::Extent& extent, Ticks deadline) const {
  const std::uint64_t begin = extent.offset - layout::kRegionHeaderBytes;
  const std::uint64_t last = begin + extent.bytes - 1;
  for (std::uint64_t c = begin / entry_.chunk_bytes; c <= last / entry_.chunk_bytes; ++c) {
    if (checked_.at(c).load(std::memory_order_relaxed)) continue;
    if (now_ticks() >= deadline) return too_late();
    std::vector<std::byte> chunk(bytes_of_chunk(c));
    check(c, chunk);
  }
  return {};
}

Status SegmentRows::Opened::read(NodeId row, std::span<std::byte> out, Ticks deadline) const {
  const NodeId vertex = vertex_of_.empty() ? row : vertex_of_.at(row);
  const layout::Extent extent = locator_.locate(vertex);
  FARVEC_CHECK(row < locator_.geometry().count && out.size() == locator_.geometry().vector_bytes);
  if (Status status = check_chunks_of(extent, deadline); !status.ok()) return status;
  std::vector<std::byte> bytes(extent.bytes);
  file_.read_at(extent.offset, bytes.data(), bytes.size());
  std::vector<NodeId> scratch(locator_.geometry().scratch_ids());
  const Result<NodeRecord> record = locator_.parse(vertex, extent, bytes, scratch);
  if (!record.ok()) {
    throw Error("'{}', vertex {}: {}", file_.path(), vertex, record.status().message());
  }
  std::memcpy(out.data(), record.value().vector, out.size());
  return {};
}

SegmentRows::SegmentRows(const layout::IndexDirectory& directory) : directory_(directory) {}
SegmentRows::~SegmentRows() = default;

/// Opened by one, others wait for it.
Status SegmentRows::open(Ticks deadline) const {
  std::unique_lock lock(mutex_);
  while (!open_ && opening_) {
    if (now_ticks() >= deadline) return too_late();
    changed_.wait_for(lock, kOpenLook);
  }
  if (open_) return {};
  opening_ = true;
  lock.unlock();
  Status status;
  std::exception_ptr failure;
  try {
    if (opened_ == nullptr) opened_ = std::make_unique<Opened>(directory_);
    status = opened_->learn(deadline);
  } catch (...) {
    failure = std::current_exception();
    opened_.reset();
  }
  lock.lock();
  opening_ = false;
  open_ = status.ok() && failure == nullptr;
  changed_.notify_all();
  if (failure != nullptr) std::rethrow_exception(failure);
  return status;
}

Status SegmentRows::read(NodeId row, std::span<std::byte> out, Ticks deadline) const {
  if (Status status = open(deadline); !status.ok()) return status;
  return opened_->read(row, out, deadline);
}

}  // namespace farvec::collection
