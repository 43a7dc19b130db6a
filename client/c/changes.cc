#include <algorithm>
#include <memory>
#include <utility>

#include "changes/batches.h"
#include "changes/distinct_update.h"
#include "client/c/changes_given.h"
#include "client/c/guard.h"
#include "client/c/handles.h"
#include "client/c/session.h"

namespace farvec::c {
namespace {

using changes::Receipt;

struct InsertCall {
  GivenVectors rows;
  std::vector<std::uint64_t> ids;
  GivenAttributes attributes;
};

struct IdsCall {
  std::vector<std::uint64_t> ids;
  GivenAttributes attributes = {};
};

struct FilterCall {
  std::string filter;
  GivenAttributes attributes = {};
};

std::string given_filter(const char* filter) {
  std::string text = given_utf8(filter, "filter");
  if (!text.empty()) return text;
  throw StatusError(StatusCode::invalid_argument, "filter: it is empty: \"true\" means every row");
}

farvec_receipt shown_receipt(const Receipt& receipt) {
  return {.size = sizeof(farvec_receipt),
          .version = receipt.version,
          .done = receipt.done,
          .replaced = receipt.replaced,
          .missing = receipt.missing};
}

void give_receipt(const Receipt& receipt, farvec_receipt* out) {
  if (out != nullptr) give_sized(shown_receipt(receipt), *out, "receipt");
}

/// A receipt that the worker fills in, and what it says when the work has ended.
struct Counted {
  Receipt receipt;
  std::exception_ptr thrown;
};

/// Makes a change, and tells what of it is in, also when it has failed. What a caller who gave up
/// is told is nothing: the change may still go on.
template <typename Change>
void make_change(Worker& worker, const farvec_wait* wait, farvec_receipt* out,
                 const Change& change) {
  give_receipt({}, out);
  const auto counted = std::make_shared<Counted>();
  worker.run(given_wait(wait), {[counted, change](auto& session, const Turn& turn) {
               try {
                 change(session->changes(turn), patience_of(turn), counted->receipt);
               } catch (...) {
                 counted->thrown = std::current_exception();
               }
             }});
  give_receipt(counted->receipt, out);
  if (counted->thrown) std::rethrow_exception(counted->thrown);
}

void insert_rows(const InsertCall& call, client::RemoteCollection& changes,
                 const changes::Patience& patience, Receipt& receipt) {
  const layout::Tuples tuples = tuples_of(changes, call.attributes);
  const changes::RowBatch batch{call.rows.view(), call.ids, tuples.view()};
  changes.check(batch);
  changes::insert_all(changes, batch, {.patience = patience}, receipt);
}

/// Waits for work that goes on when the caller gives up.
template <typename Do>
farvec_status wait_for_work(farvec_connection* connection, const farvec_wait* wait,
                            farvec_error* error, const Do& work) {
  return guarded(error, [&] {
    worker_of(connection)->run(given_wait(wait), {[work](auto& session, const Turn& turn) {
                                 if (!work(session->changes(turn), turn.interruption()))
                                   throw WorkInterrupted();
                               }});
  });
}

}  // namespace
}  // namespace farvec::c

namespace c = farvec::c;
using farvec::changes::Patience;
using farvec::changes::Receipt;
using farvec::client::RemoteCollection;

farvec_status farvec_insert(farvec_connection* connection, const farvec_vectors* rows,
                            const uint64_t* ids, const char* const* attributes,
                            const farvec_wait* wait, farvec_receipt* receipt, farvec_error* error) {
  return c::guarded(error, [&] {
    const auto worker = c::worker_of(connection);
    c::GivenVectors given(rows, "rows");
    const std::size_t count = given.count();
    const auto call = std::shared_ptr<const c::InsertCall>(new c::InsertCall{
        std::move(given), c::given_ids(ids, count), c::given_attributes(attributes, count)});
    c::make_change(*worker, wait, receipt,
                   [call](RemoteCollection& changes, const Patience& patience, Receipt& counted) {
                     c::insert_rows(*call, changes, patience, counted);
                   });
  });
}

farvec_status farvec_erase(farvec_connection* connection, const uint64_t* ids, size_t count,
                           const farvec_wait* wait, farvec_receipt* receipt, farvec_error* error) {
  return c::guarded(error, [&] {
    const auto worker = c::worker_of(connection);
    const auto call = std::make_shared<const c::IdsCall>(c::IdsCall{c::given_ids(ids, count)});
    c::make_change(*worker, wait, receipt,
                   [call](RemoteCollection& changes, const Patience& patience, Receipt& counted) {
                     farvec::changes::erase_all(changes, call->ids, {.patience = patience},
                                                counted);
                   });
  });
}

farvec_status farvec_erase_matching(farvec_connection* connection, const char* filter,
                                    const farvec_wait* wait, farvec_receipt* receipt,
                                    farvec_error* error) {
  return c::guarded(error, [&] {
    const auto worker = c::worker_of(connection);
    const auto call = std::make_shared<const c::FilterCall>(c::FilterCall{c::given_filter(filter)});
    c::make_change(*worker, wait, receipt,
                   [call](RemoteCollection& changes, const Patience& patience, Receipt& counted) {
                     changes.erase_matching(call->filter, patience, counted);
                   });
  });
}

farvec_status farvec_update(farvec_connection* connection, const uint64_t* ids, size_t count,
                            const char* const* attributes, const farvec_wait* wait,
                            farvec_receipt* receipt, farvec_error* error) {
  return c::guarded(error, [&] {
    const auto worker = c::worker_of(connection);
    if (count > 0) (void)c::required(attributes, "attributes");
    const auto call = std::make_shared<const c::IdsCall>(
        c::IdsCall{c::given_ids(ids, count), c::given_attributes(attributes, count)});
    c::make_change(*worker, wait, receipt,
                   [call](RemoteCollection& changes, const Patience& patience, Receipt& counted) {
                     if (call->ids.empty()) return;
                     const auto made = c::new_values_of(changes, call->attributes);
                     farvec::changes::update_all(changes, call->ids,
                                                 {made.names, made.values.view()},
                                                 {.patience = patience}, counted);
                   });
  });
}

farvec_status farvec_update_matching(farvec_connection* connection, const char* filter,
                                     const char* attributes, const farvec_wait* wait,
                                     farvec_receipt* receipt, farvec_error* error) {
  return c::guarded(error, [&] {
    const auto worker = c::worker_of(connection);
    const auto call = std::make_shared<const c::FilterCall>(c::FilterCall{
        c::given_filter(filter), {std::string(&c::required(attributes, "attributes"))}});
    c::make_change(*worker, wait, receipt,
                   [call](RemoteCollection& changes, const Patience& patience, Receipt& counted) {
                     const auto made = c::new_values_of(changes, call->attributes);
                     changes.update_matching(call->filter, {made.names, made.values.view()},
                                             patience, counted);
                   });
  });
}

farvec_status farvec_flush(farvec_connection* connection, const farvec_wait* wait,
                           farvec_error* error) {
  return c::wait_for_work(connection, wait, error, [](RemoteCollection& changes, const auto& stop) {
    return changes.flush(stop);
  });
}

farvec_status farvec_compact(farvec_connection* connection, const farvec_wait* wait,
                             farvec_error* error) {
  return c::wait_for_work(connection, wait, error, [](RemoteCollection& changes, const auto& stop) {
    return changes.compact(stop);
  });
}
