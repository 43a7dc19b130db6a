#include "collection/segment/segment_rows.h"

#include <chrono>
#include <exception>
#include <utility>

#include "collection/segment/opened_rows.h"

namespace farvec::collection {
namespace {

/// A thread that waits for another one to open the file checks its deadline this often.
constexpr auto kOpenLook = std::chrono::milliseconds(5);

std::unique_ptr<OpenedRows> open_rows(const layout::IndexDirectory& directory,
                                      const layout::SecondCopyFile* second) {
  if (second != nullptr) return open_whole_rows(*second);
  switch (directory.manifest().kind()) {
    case layout::IndexKind::graph:
      if (directory.manifest().is_slotted()) return open_page_rows(directory);
      break;
    case layout::IndexKind::cluster:
      return open_cluster_rows(directory);
  }
  return open_graph_rows(directory);
}

}  // namespace

Status rows_are_too_late() {
  return {StatusCode::deadline_exceeded,
          "rows of a segment were not read before the deadline: allow more time"};
}

SegmentRows::SegmentRows(const layout::IndexDirectory& directory,
                         const layout::SecondCopyFile* second)
    : directory_(directory), second_(second) {}
SegmentRows::~SegmentRows() = default;

/// One thread opens the file, the others wait for it.
Status SegmentRows::open(Ticks deadline) const {
  std::unique_lock lock(mutex_);
  while (!open_ && opening_) {
    if (now_ticks() >= deadline) return rows_are_too_late();
    changed_.wait_for(lock, kOpenLook);
  }
  if (open_) return {};
  opening_ = true;
  lock.unlock();
  Status status;
  std::exception_ptr failure;
  try {
    if (opened_ == nullptr) opened_ = open_rows(directory_, second_);
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
  return read(row, out, {}, deadline);
}

Status SegmentRows::read(NodeId row, std::span<std::byte> out, std::span<const std::byte> records,
                         Ticks deadline) const {
  if (Status status = open(deadline); !status.ok()) return status;
  if (!records.empty() && opened_->copy(row, out, records)) return {};
  return opened_->read(row, out, deadline);
}

}  // namespace farvec::collection
