#include <algorithm>
#include <cstdint>
#include <deque>
#include <limits>
#include <memory>
#include <optional>
#include <unordered_set>
#include <utility>

#include "client/c/guard.h"
#include "client/c/handles.h"
#include "client/c/session.h"
#include "client/growing_search.h"
#include "client/node_answers.h"

namespace farvec::c {
namespace {

/// No search has more rows: their number has 32 bits.
constexpr std::size_t kMostRows = std::numeric_limits<std::uint32_t>::max();

struct FoundRow {
  std::uint64_t id;
  float distance;
  std::optional<std::string> attributes;
};

Found found_of_rows(const std::vector<FoundRow>& rows) {
  Found found;
  found.k = rows.size();
  found.counts = {rows.size()};
  for (const FoundRow& row : rows) {
    found.ids.push_back(row.id);
    found.distances.push_back(row.distance);
    row.attributes ? found.attributes.append(*row.attributes) : found.attributes.append_none();
  }
  return found;
}

/// What a cursor has given, and what it has found. Only the worker's thread touches it.
class CursorState {
 public:
  CursorState(GivenVectors query, search::AskedSearch asked)
      : query_(std::move(query)), asked_(std::move(asked)) {}

  /// Throws what a search throws; then nothing has been taken.
  std::vector<FoundRow> take(Session& session, const Turn& turn, std::size_t count) {
    if (!searches_) begin(session, turn);
    while (fresh_.size() < count && !searches_->is_last()) search(session, turn, count);
    // Throws where there may be more.
    if (fresh_.empty() && !searches_->complete()) (void)searches_->next(1);
    std::vector<FoundRow> rows;
    for (; rows.size() < count && !fresh_.empty(); fresh_.pop_front()) {
      given_.insert(fresh_.front().id);
      rows.push_back(std::move(fresh_.front()));
    }
    return rows;
  }

  /// Takes rows back that no caller got.
  void restore(const std::vector<FoundRow>& rows) {
    for (const FoundRow& row : rows) given_.erase(row.id);
    fresh_.insert(fresh_.begin(), rows.begin(), rows.end());
  }

  void add_counts(Found& found) const {
    found.totals = totals_;
    found.coverage = coverage_;
  }

 private:
  /// A cursor is bounded by what the node says at its beginning.
  void begin(Session& session, const Turn& turn) {
    (void)session.describe(turn);
    complete(asked_, session.bounds());
    searches_.emplace(asked_, session.bounds(), session.served().clusters());
  }

  /// Rows that were found and not given are found again, in their places among the others.
  void search(Session& session, const Turn& turn, std::size_t count) {
    const Found found = session.search(query_.view(), searches_->next(given_.size() + count), turn);
    searches_->came(found.counts[0], found.totals.clusters);
    totals_ += found.totals;
    coverage_ = std::min(coverage_, found.coverage);
    fresh_.clear();
    for (std::size_t i = 0; i < found.counts[0]; ++i) {
      if (given_.contains(found.ids[i])) continue;
      const char* const text = found.attributes[i];
      fresh_.push_back({found.ids[i], found.distances[i],
                        text == nullptr ? std::nullopt : std::optional<std::string>(text)});
    }
  }

  const GivenVectors query_;
  search::AskedSearch asked_;
  std::optional<client::GrowingSearch> searches_;
  std::unordered_set<std::uint64_t> given_;
  std::deque<FoundRow> fresh_;  ///< in the order of the last search
  search::QueryCounts totals_;
  double coverage_ = 1;
};

struct NextCall {
  std::vector<FoundRow> rows;
  std::unique_ptr<farvec_results> results;
};

}  // namespace
}  // namespace farvec::c

namespace c = farvec::c;

struct farvec_cursor {
  std::shared_ptr<c::Worker> worker;
  std::shared_ptr<c::CursorState> state;
};

farvec_status farvec_cursor_open(farvec_connection* connection, const farvec_vectors* query,
                                 const farvec_search_options* options, farvec_cursor** cursor,
                                 farvec_error* error) {
  return c::guarded(error, [&] {
    farvec_cursor*& out = c::emptied(cursor, "cursor");
    auto worker = c::worker_of(connection);
    worker->require_this_process();
    c::GivenVectors given(query, "query");
    farvec::search::AskedSearch asked = c::given_search(options);
    if (given.count() != 1) {
      throw farvec::StatusError(farvec::StatusCode::invalid_argument,
                                "query: there are {}, where a cursor has one", given.count());
    }
    if (asked.k != 0) {
      throw farvec::StatusError(farvec::StatusCode::invalid_argument,
                                "options.k: it is {}, and a cursor's rows come until they are not "
                                "asked for: leave it at 0",
                                asked.k);
    }
    out = new farvec_cursor{std::move(worker),
                            std::make_shared<c::CursorState>(std::move(given), std::move(asked))};
  });
}

farvec_status farvec_cursor_next(farvec_cursor* cursor, size_t count, const farvec_wait* wait,
                                 farvec_results** rows, farvec_error* error) {
  return c::guarded(error, [&] {
    farvec_results*& out = c::emptied(rows, "rows");
    const auto state = c::required(cursor, "cursor").state;
    if (count == 0) {
      throw farvec::StatusError(farvec::StatusCode::invalid_argument,
                                "count: it is 0: ask for at least one row");
    }
    count = std::min(count, c::kMostRows);
    const auto call = std::make_shared<c::NextCall>();
    const auto next = [call, state, count](auto& session, const c::Turn& turn) {
      call->rows = state->take(*session, turn, count);
      try {
        call->results =
            std::make_unique<farvec_results>(farvec_results{c::found_of_rows(call->rows)});
        state->add_counts(call->results->found);
      } catch (...) {
        state->restore(call->rows);
        throw;
      }
    };
    cursor->worker->run(c::given_wait(wait), {next, [call, state] { state->restore(call->rows); }});
    out = call->results.release();
  });
}

void farvec_cursor_free(farvec_cursor* cursor) {
  delete cursor;
}
