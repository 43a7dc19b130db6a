#include "search/sources/record_runs.h"

#include <algorithm>

#include "base/check.h"
#include "base/memory.h"

namespace farvec::search {
namespace {

std::size_t in_lines(std::uint64_t bytes) {
  return round_up(static_cast<std::size_t>(bytes), kCacheLineBytes);
}

}  // namespace

/// Makes the last run longer, by the record and what is before it. Returns false where the record
/// needs a read of its own.
bool RecordRuns::extend(const layout::Extent& record, const RunLimits& limits) {
  if (count_ == 0) return false;
  Run& run = runs_[count_ - 1];
  const std::uint64_t end = run.offset + run.bytes;
  if (record.offset < end) return false;
  const std::uint64_t gap = record.offset - end;
  if (gap > limits.gap_bytes || in_lines(gap) > between_) return false;
  if (run.bytes + gap + record.bytes > limits.read_bytes) return false;
  between_ -= in_lines(gap);
  run.bytes += static_cast<std::uint32_t>(gap) + record.bytes;
  return true;
}

void RecordRuns::plan(std::span<const layout::Extent> records, const RunLimits& limits) {
  FARVEC_CHECK(records.size() <= graph::kMaxWidth);
  std::size_t needed = 0;
  for (const layout::Extent& record : records) needed += in_lines(record.bytes);
  between_ = limits.room - std::min(limits.room, needed);
  count_ = 0;
  for (std::size_t i = 0; i < records.size(); ++i) {
    if (!extend(records[i], limits)) runs_[count_++] = {records[i].offset, records[i].bytes, 0};
    const Run& run = runs_[count_ - 1];
    parts_[i] = {static_cast<std::uint32_t>(count_ - 1),
                 static_cast<std::uint32_t>(records[i].offset - run.offset)};
  }
  std::size_t at = 0;
  for (std::size_t r = 0; r < count_; ++r) {
    runs_[r].at = static_cast<std::uint32_t>(at);
    at += in_lines(runs_[r].bytes);
  }
}

}  // namespace farvec::search
