// Pages that a test can make up, and a disk that brings them when the test likes.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <map>
#include <set>
#include <span>
#include <vector>

#include "base/memory.h"
#include "base/random.h"
#include "ssd_baseline/slotted/pool/page_loader.h"
#include "ssd_baseline/slotted/pool/pool_concept.h"

namespace farvec::slotted::testing {

inline constexpr std::uint32_t kPageBytes = 512;
inline constexpr std::uint32_t kPerPage = 4;
inline constexpr std::uint32_t kRecordBytes = 48;

/// Page p holds the records 4p to 4p + 3, of which the first two are affine when p is odd. Record v
/// has 1 + v % 48 bytes, all v % 251.
struct FakeCodec {
  struct Page {
    const std::byte* data = nullptr;
    std::uint32_t number = 0;
    const std::byte* bytes() const { return data; }
  };

  static std::uint32_t length(NodeId id) { return 1 + id % kRecordBytes; }
  static std::byte value(NodeId id) { return static_cast<std::byte>(id % 251); }

  Result<Page> parse(std::uint32_t number, std::span<const std::byte> bytes) const {
    if (load_unaligned<std::uint32_t>(bytes.data()) != ~number) {
      return Status(StatusCode::data_loss, "the page is damaged");
    }
    return Page{bytes.data(), number};
  }
  Result<std::span<const std::byte>> find(const Page& page, NodeId id) const {
    if (id / kPerPage != page.number) {
      return Status(StatusCode::data_loss, "the page does not have the record");
    }
    return std::span(page.data + 16 + id % kPerPage * kRecordBytes, length(id));
  }
  Page moved(const Page& page, std::span<const std::byte> bytes) const {
    return {bytes.data(), page.number};
  }
  template <typename Visit>
  void for_each(const Page& page, Visit&& visit) const {
    for (std::uint32_t i = 0; i < kPerPage; ++i) {
      const NodeId id = page.number * kPerPage + i;
      visit(id, find(page, id).value());
    }
  }
  template <typename Visit>
  void for_each_affine(const Page& page, NodeId id, Visit&& visit) const {
    if (page.number % 2 == 0 || id % kPerPage > 1) return;
    const NodeId other = id ^ 1;
    visit(other, find(page, other).value());
  }

  static void write(std::uint32_t number, std::byte* out) {
    std::memset(out, 0, kPageBytes);
    store_unaligned(out, ~number);
    for (std::uint32_t i = 0; i < kPerPage; ++i) {
      const NodeId id = number * kPerPage + i;
      std::memset(out + 16 + i * kRecordBytes, std::to_integer<int>(value(id)), length(id));
    }
  }
};

inline std::vector<std::uint32_t> map_of(std::size_t records) {
  std::vector<std::uint32_t> map(records);
  for (std::size_t v = 0; v < records; ++v) map[v] = static_cast<std::uint32_t>(v / kPerPage);
  return map;
}

/// Whether these are the bytes of record `id`.
inline bool is_record(NodeId id, std::span<const std::byte> record) {
  return record.size() == FakeCodec::length(id) &&
         std::all_of(record.begin(), record.end(),
                     [&](std::byte b) { return b == FakeCodec::value(id); });
}

/// For a read of single records.
inline constexpr auto wants_none = [](NodeId) { return false; };

/// Brings pages in poll(), in a random order, each after some calls of it.
class FakeDisk final : public PageLoader {
 public:
  explicit FakeDisk(std::uint64_t seed = 1) : random_(seed) {}
  ~FakeDisk() override { close(); }
  void set_sink(PageSink* sink) { sink_ = sink; }

  Status start(std::span<const PageRequest> requests) override {
    ++starts;
    if (!refusal.ok()) return refusal;
    for (const PageRequest& request : requests) {
      reads.push_back(request.page);
      out_.push_back({request, random_.below(max_delay + 1)});
    }
    return {};
  }

  void poll() override { (void)progress(); }

  /// True while reads are out.
  bool progress() {
    if (paused) return !out_.empty();
    std::vector<PageRequest> ready;
    for (std::size_t i = 0; i < out_.size();) {
      if (out_[i].delay-- > 0) {
        ++i;
        continue;
      }
      ready.push_back(out_[i].request);
      out_[i] = out_.back();
      out_.pop_back();
    }
    for (const PageRequest& request : ready) end(request);
    return !ready.empty() || !out_.empty();
  }

  /// Everything that is out comes back unread.
  void close() {
    for (const Out& out : std::exchange(out_, {})) {
      sink_->page_ended(out.request.ticket, {StatusCode::unavailable, "closed"}, false);
    }
    for (std::uint32_t ticket : std::exchange(late_, {})) sink_->page_returned(ticket);
  }

  std::uint64_t max_delay = 3;
  bool paused = false;
  Status refusal;                          ///< of start()
  std::map<std::uint32_t, Status> faults;  ///< by page
  std::set<std::uint32_t> damaged;         ///< pages
  std::set<std::uint32_t> late;            ///< pages that miss their deadline
  std::vector<std::uint32_t> reads;        ///< pages that were asked for
  std::size_t starts = 0;

 private:
  struct Out {
    PageRequest request;
    std::uint64_t delay;
  };

  void end(const PageRequest& request) {
    if (late.contains(request.page)) {
      late_.push_back(request.ticket);
      return sink_->page_ended(request.ticket, {StatusCode::deadline_exceeded, "late"}, true);
    }
    if (const auto fault = faults.find(request.page); fault != faults.end()) {
      return sink_->page_ended(request.ticket, fault->second, false);
    }
    FakeCodec::write(request.page, request.destination);
    if (damaged.contains(request.page)) store_unaligned(request.destination, 7u);
    sink_->page_ended(request.ticket, {}, false);
  }

  Random random_;
  PageSink* sink_ = nullptr;
  std::vector<Out> out_;
  std::vector<std::uint32_t> late_;
};

}  // namespace farvec::slotted::testing
