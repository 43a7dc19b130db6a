// Any bytes are a request that the engine answers, or refuses for a reason that is the request's.
// It goes on afterwards.
#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "base/status.h"
#include "collection/segment/segment_access.h"
#include "postgres/channel/channel.h"
#include "postgres/engine/calls.h"
#include "postgres/engine/index_search.h"
#include "postgres/engine/indexes.h"
#include "tests/fuzz/engine/asked_requests.h"
#include "tests/unit/temporary_folder.h"

namespace {

using namespace farvec;

constexpr std::uint64_t kMemory = std::uint64_t{64} << 20;
constexpr std::uint64_t kLogSegmentBytes = std::uint64_t{1} << 20;
constexpr Status kNoCore{StatusCode::cancelled, "there is no core"};

collection::CollectionAccess access_of_a_core() {
  collection::CollectionAccess access;
  access.segments = collection::SegmentAccess::on("dram");
  access.segments.shape.k = ASK_MOST_ROWS;
  access.segments.shape.list = ASK_MOST_ROWS;
  access.durability = wal::Durability::none;
  access.log_segment_bytes = kLogSegmentBytes;
  access.link = true;
  access.build_threads = 1;
  return access;
}

/// Both sides of a channel with one slot. Requests are answered by the thread that asks, except for
/// searches, which are read and then given up: there is no core.
class AskedIndexes {
 public:
  AskedIndexes() : indexes_({{.own = folder_.path() / "all"}, kMemory, access_of_a_core()}) {
    spdlog::set_level(spdlog::level::off);
    std::array<char, CHANNEL_ERROR_BYTES> why{};
    channel_ = channel_create(folder_.file("farvec-fuzz").c_str(), 1, 1, why.data());
    FARVEC_CHECK(channel_ != nullptr, "{}", why.data());
    slot_ = channel_claim(channel_);
    answer_.resize(CHANNEL_ANSWER_BYTES);
  }
  ~AskedIndexes() { channel_close(channel_); }

  /// Returns the status; answer() has what came with it.
  StatusCode ask(std::uint32_t operation, std::span<const std::byte> request) {
    if (!request.empty()) {
      std::memcpy(channel_request(channel_, slot_), request.data(), request.size());
    }
    channel_ask(channel_, slot_, operation, static_cast<std::uint32_t>(request.size()));
    ChannelTaken taken;
    FARVEC_CHECK(channel_take(channel_, 0, &taken));
    answer(taken);
    FARVEC_CHECK(channel_is_ready(channel_, slot_));
    ChannelAnswer came;
    channel_read_answer(channel_, slot_, &came, answer_.data());
    bytes_ = came.bytes;
    return static_cast<StatusCode>(came.status);
  }
  std::span<const std::byte> answer() const { return std::span(answer_).first(bytes_); }
  std::string_view text() const { return {reinterpret_cast<const char*>(answer_.data()), bytes_}; }

  void begin() {
    const StatusCode status = ask(kAskOpen, std::as_bytes(std::span(&fuzz::kAskedShape, 1)));
    FARVEC_CHECK(status == StatusCode::ok, "no index can be made any more: {}", text());
    indexes_.clean();
  }

 private:
  void answer(const ChannelTaken& taken) {
    if (taken.operation == kAskSearch) return read_search(taken);
    postgres::Request request;
    request.copy(*channel_, taken);
    postgres::answer_call(indexes_, request);
  }
  void read_search(const ChannelTaken& taken) {
    search_.asked.copy(*channel_, taken);
    try {
      search_.prepare(indexes_.open(search_.index_name()));
    } catch (...) {
      return search_.asked.fail_with_current();
    }
    search_.answer.status = kNoCore;
    search_.finish();
  }

  const farvec::tests::TemporaryFolder folder_{"/dev/shm"};
  postgres::Indexes indexes_;
  postgres::IndexSearch search_;
  Channel* channel_ = nullptr;
  std::uint32_t slot_ = 0;
  std::vector<std::byte> answer_;
  std::uint32_t bytes_ = 0;
};

std::size_t count_of(std::span<const std::byte> answer) {
  std::uint32_t count = 0;
  FARVEC_CHECK(answer.size() >= sizeof(count));
  std::memcpy(&count, answer.data(), sizeof(count));
  return count;
}

/// Returns the size that readers expect of an answer; none: it depends on the request.
std::optional<std::size_t> expected_bytes(std::uint32_t operation,
                                          std::span<const std::byte> answer) {
  switch (operation) {
    case kAskOpen:
    case kAskState:
      return sizeof(ToldState);
    case kAskPlace:
      return sizeof(ToldPlace);
    case kAskBuild:
    case kAskRoom:
      return sizeof(ToldBuild);
    case kAskSummary:
      return sizeof(ToldSummary);
    case kAskList:
      return sizeof(ToldList) + sizeof(AskedIndex) * count_of(answer);
    case kAskGet:
    case kAskSame:
    case kAskInsert:  // a byte where a build has no room
    case kAskInsertAgain:
    case kAskTell:
      return std::nullopt;
    default:
      return 0;
  }
}

bool may_change(std::uint32_t operation) {
  constexpr std::array kReads{kAskState, kAskSearch, kAskList, kAskSummary,
                              kAskGet,   kAskSame,   kAskPlace};
  return std::ranges::find(kReads, operation) == kReads.end();
}

/// Each open index has threads, so that there is but one: others are asked for and not made.
void name_index(const fuzz::RequestHead& head, std::span<std::byte> request) {
  if (head.is_named % 2 == 0 && head.operation != kAskOpen) return;
  constexpr AskedIndex kIndex = fuzz::kAskedShape.index;
  std::memcpy(request.data(), &kIndex, std::min(request.size(), sizeof(kIndex)));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static AskedIndexes indexes;
  static bool changed = true;
  if (changed) indexes.begin();
  changed = false;
  auto left = std::as_bytes(std::span(data, size));
  fuzz::RequestHead head;
  while (left.size() >= sizeof(head)) {
    std::memcpy(&head, left.data(), sizeof(head));
    left = left.subspan(sizeof(head));
    const auto from = left.first(std::min<std::size_t>(left.size(), head.bytes));
    left = left.subspan(from.size());
    std::vector<std::byte> request(from.begin(), from.end());
    name_index(head, request);
    const StatusCode status = indexes.ask(head.operation, request);
    // The index is sound, so that every fault is the request's.
    FARVEC_CHECK(status != StatusCode::internal && status != StatusCode::data_loss,
                 "operation {}: {}", head.operation, indexes.text());
    if (status != StatusCode::ok) continue;
    changed = changed || may_change(head.operation);
    const auto expected = expected_bytes(head.operation, indexes.answer());
    FARVEC_CHECK(indexes.answer().size() == expected.value_or(indexes.answer().size()));
  }
  return 0;
}
