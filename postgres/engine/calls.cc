#include "postgres/engine/calls.h"

#include "base/error.h"
#include "base/status_error.h"
#include "base/types.h"
#include "postgres/channel/requests.h"
#include <array>
#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

namespace farvec::postgres {
namespace {

/// How many names one answer has.
constexpr std::size_t kMostListed = (CHANNEL_ANSWER_BYTES - sizeof(ToldList)) / sizeof(AskedIndex);

std::vector<std::uint64_t> read_vids(RequestReader& reader, std::uint32_t count) {
  const std::span<const std::byte> bytes = reader.take(std::size_t{count} * sizeof(std::uint64_t));
  std::vector<std::uint64_t> vids(count);
  if (count > 0) std::memcpy(vids.data(), bytes.data(), bytes.size());
  return vids;
}

/// Returns the tuples that follow, which are not checked yet.
layout::Tuples read_tuples(RequestReader& reader, const AskRows& asked) {
  layout::Tuples tuples;
  if (asked.tuple_bytes == 0) return tuples;
  for (std::uint32_t row = 0; row < asked.count; ++row) {
    tuples.ends.push_back(reader.read<std::uint32_t>());
  }
  const std::span<const std::byte> bytes = reader.take(asked.tuple_bytes);
  tuples.bytes.assign(bytes.begin(), bytes.end());
  return tuples;
}

void open(Indexes& indexes, const Request& request) {
  RequestReader reader = request.reader();
  const auto asked = reader.read<AskOpen>();
  reader.end();
  if (asked.begins != kAskKeeps) indexes.drop(name_of(asked.index));
  request.answer_with(indexes.open(name_of(asked.index), asked)->state());
}

void build(Indexes& indexes, const Request& request) {
  RequestReader reader = request.reader();
  const auto asked = reader.read<AskRows>();
  reader.end();
  const Ticks until = end_of(asked.deadline_ms);
  const std::shared_ptr<OpenIndex> index = indexes.open(name_of(asked.index));
  const bool is_last = request.operation() == kAskBuild;
  request.answer_with(is_last ? index->build(until) : index->wait_for_room(until));
}

void tell_state(Indexes& indexes, const Request& request) {
  RequestReader reader = request.reader();
  const auto asked = reader.read<AskedIndex>();
  reader.end();
  request.answer_with(indexes.open(name_of(asked))->state());
}

void tell_place(Indexes& indexes, const Request& request) {
  RequestReader reader = request.reader();
  const auto asked = reader.read<AskedIndex>();
  reader.end();
  request.answer_with(indexes.open(name_of(asked))->told_place());
}

void insert(Indexes& indexes, const Request& request) {
  RequestReader reader = request.reader();
  const auto asked = reader.read<AskRows>();
  const std::vector<std::uint64_t> vids = read_vids(reader, asked.count);
  const std::span<const std::byte> vectors =
      reader.take(std::size_t{asked.count} * asked.row_bytes);
  const layout::Tuples tuples = read_tuples(reader, asked);
  reader.end();
  const std::shared_ptr<OpenIndex> index = indexes.open(name_of(asked.index));
  indexes.require_memory(*index);
  const std::uint32_t asked_for = request.operation();
  const Sharing sharing{asked_for == kAskInsertAgain, indexes.memory_left()};
  const bool is_in =
      index->insert(vids, vectors, tuples.view(), end_of(asked.deadline_ms),
                    {asked_for == kAskTell ? Coming::many_that_lack : Coming::new_rows, sharing});
  constexpr std::array<std::byte, 1> kLater{};
  request.answer(is_in ? std::span<const std::byte>() : kLater);
}

void erase(Indexes& indexes, const Request& request) {
  RequestReader reader = request.reader();
  const auto asked = reader.read<AskRows>();
  const std::vector<std::uint64_t> vids = read_vids(reader, asked.count);
  reader.end();
  indexes.open(name_of(asked.index))->erase(vids, end_of(asked.deadline_ms));
  request.answer();
}

void cover(Indexes& indexes, const Request& request) {
  RequestReader reader = request.reader();
  const auto asked = reader.read<AskVid>();
  reader.end();
  const std::shared_ptr<OpenIndex> index = indexes.open(name_of(asked.index));
  if (asked.opening == 0 || asked.opening == index->opening()) {
    index->covers(asked.vid, asked.ready != 0);
  }
  request.answer();
}

/// Returns the pages that follow. Their numbers are small enough to be of VIDs.
std::vector<AskPage> read_pages(RequestReader& reader, std::uint32_t count) {
  if (count > ASK_MOST_PAGES) {
    throw StatusError(StatusCode::invalid_argument, "{} pages come together: {} are allowed", count,
                      ASK_MOST_PAGES);
  }
  std::vector<AskPage> pages;
  for (std::uint32_t i = 0; i < count; ++i) {
    pages.push_back(reader.read<AskPage>());
    if (pages.back().number <= page_of(~std::uint64_t{0}) / 2) continue;
    throw StatusError(StatusCode::invalid_argument, "{} is the number of no page",
                      pages.back().number);
  }
  return pages;
}

void find_lacking(Indexes& indexes, const Request& request) {
  RequestReader reader = request.reader();
  const auto asked = reader.read<AskLacks>();
  const std::vector<AskPage> pages = read_pages(reader, asked.count);
  reader.end();
  const std::vector<AskBits> lacks =
      indexes.open(name_of(asked.index))->lacks(asked, pages, end_of(0));
  request.answer(std::as_bytes(std::span(lacks)));
}

void get(Indexes& indexes, const Request& request) {
  RequestReader reader = request.reader();
  const auto asked = reader.read<AskRows>();
  const std::vector<std::uint64_t> vids = read_vids(reader, asked.count);
  reader.end();
  const changes::FoundRows rows =
      indexes.open(name_of(asked.index))->get(vids, end_of(asked.deadline_ms));
  std::vector<std::byte> bytes;
  for (const bool found : rows.found) bytes.push_back(std::byte{found});
  bytes.insert(bytes.end(), rows.rows.begin(), rows.rows.end());
  if (bytes.size() > CHANNEL_ANSWER_BYTES) {
    throw StatusError(StatusCode::invalid_argument, "{} vectors do not fit an answer", vids.size());
  }
  request.answer(bytes);
}

void check_tuples(const layout::Tuples& tuples, const layout::Schema& schema) {
  try {
    layout::check_tuples(tuples.view(), schema, "the values to compare");
  } catch (const Error& error) {
    throw StatusError(StatusCode::invalid_argument, "{}", error.what());
  }
}

/// Says of each row whether it has these values. One that is not there has no others.
void compare(Indexes& indexes, const Request& request) {
  RequestReader reader = request.reader();
  const auto asked = reader.read<AskRows>();
  const std::vector<std::uint64_t> vids = read_vids(reader, asked.count);
  const layout::Tuples tuples = read_tuples(reader, asked);
  reader.end();
  const std::shared_ptr<OpenIndex> index = indexes.open(name_of(asked.index));
  check_tuples(tuples, *index->view()->schema);
  const changes::FoundRows rows = index->get(vids, end_of(asked.deadline_ms));
  std::vector<std::byte> same;
  std::size_t at = 0;  // among those that were found
  for (std::size_t row = 0; row < vids.size(); ++row) {
    const bool is_same =
        !rows.found[row] ||
        (tuples.count() == vids.size() && at < rows.attributes.count() &&
         std::ranges::equal(rows.attributes.view().row(at), tuples.view().row(row)));
    at += rows.found[row] ? 1 : 0;
    same.push_back(std::byte{is_same});
  }
  request.answer(same);
}

void drop(Indexes& indexes, const Request& request) {
  RequestReader reader = request.reader();
  const auto asked = reader.read<AskedIndex>();
  reader.end();
  indexes.drop(name_of(asked));
  request.answer();
}

void list(Indexes& indexes, const Request& request) {
  RequestReader reader = request.reader();
  const auto asked = reader.read<AskList>();
  reader.end();
  std::vector<IndexName> names = indexes.list(name_of(asked.after), kMostListed + 1);
  const bool more = names.size() > kMostListed;
  if (more) names.pop_back();
  const ToldList told{static_cast<std::uint32_t>(names.size()), more ? 1u : 0u};
  std::vector<std::byte> bytes(sizeof(told) + names.size() * sizeof(AskedIndex));
  std::memcpy(bytes.data(), &told, sizeof(told));
  for (std::size_t i = 0; i < names.size(); ++i) {
    const AskedIndex name = asked_of(names[i]);
    std::memcpy(bytes.data() + sizeof(told) + i * sizeof(name), &name, sizeof(name));
  }
  request.answer(bytes);
}

void call(Indexes& indexes, const Request& request) {
  switch (request.operation()) {
    case kAskOpen:
      return open(indexes, request);
    case kAskState:
      return tell_state(indexes, request);
    case kAskPlace:
      return tell_place(indexes, request);
    case kAskInsert:
    case kAskInsertAgain:
    case kAskTell:
      return insert(indexes, request);
    case kAskErase:
      return erase(indexes, request);
    case kAskCovers:
      return cover(indexes, request);
    case kAskLacks:
      return find_lacking(indexes, request);
    case kAskBuild:
    case kAskRoom:
      return build(indexes, request);
    case kAskDrop:
      return drop(indexes, request);
    case kAskList:
      return list(indexes, request);
    case kAskGet:
      return get(indexes, request);
    case kAskSame:
      return compare(indexes, request);
    case kAskSummary:
      return request.answer_with(indexes.summary());
    default:
      throw StatusError(StatusCode::invalid_argument, "{} is the number of no request",
                        request.operation());
  }
}

}  // namespace

void answer_call(Indexes& indexes, const Request& request) {
  if (request.is_given_up()) return request.fail(StatusCode::cancelled, "it was given up");
  try {
    call(indexes, request);
  } catch (...) {
    request.fail_with_current();
  }
}

struct Calls::Threads {
  explicit Threads(unsigned count) : pool(count) {}
  ~Threads() { pool.join(); }

  boost::asio::thread_pool pool;
};

Calls::Calls(Indexes& indexes, unsigned threads)
    : indexes_(indexes),
      inserts_(std::make_unique<Threads>(threads)),
      threads_(std::make_unique<Threads>(threads)) {}

Calls::~Calls() = default;

void Calls::submit(Request request) {
  const std::uint32_t asked = request.operation();
  const bool inserts = asked == kAskInsert || asked == kAskInsertAgain || asked == kAskTell;
  Threads& threads = inserts ? *inserts_ : *threads_;
  boost::asio::post(threads.pool,
                    [this, request = std::move(request)] { answer_call(indexes_, request); });
}

void Calls::run(std::function<void()> work) {
  boost::asio::post(threads_->pool, std::move(work));
}

}  // namespace farvec::postgres
