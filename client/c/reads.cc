#include <algorithm>
#include <limits>
#include <memory>
#include <utility>

#include "changes/batches.h"
#include "client/c/guard.h"
#include "client/c/handles.h"
#include "client/c/session.h"

namespace farvec::c {
namespace {

struct GetCall {
  std::vector<std::uint64_t> ids;
  std::unique_ptr<farvec_rows> rows;
};

struct ListCall {
  changes::Listing asked;
  std::unique_ptr<farvec_rows> rows;
};

const ReadRows* row_in(const farvec_rows* rows, std::size_t row) {
  if (rows == nullptr || row >= rows->read.ids.size()) return nullptr;
  return &rows->read;
}

/// One answer may have fewer rows than were asked for, and no more than the node's most.
changes::ListedRows list_all(const client::RemoteCollection& changes, changes::Listing asked,
                             const Turn& turn) {
  changes::ListedRows all = changes.list(asked, patience_of(turn));
  const std::size_t most = asked.most;
  while (all.more && all.ids.size() < most) {
    asked.from = all.ids.back() + 1;
    asked.most = most - all.ids.size();
    const changes::ListedRows next = changes.list(asked, patience_of(turn));
    all.ids.insert(all.ids.end(), next.ids.begin(), next.ids.end());
    all.attributes.append(next.attributes.view());
    all.more = next.more;
  }
  return all;
}

}  // namespace
}  // namespace farvec::c

namespace c = farvec::c;

farvec_status farvec_get(farvec_connection* connection, const uint64_t* ids, size_t count,
                         const farvec_wait* wait, farvec_rows** rows, farvec_error* error) {
  return c::guarded(error, [&] {
    farvec_rows*& out = c::emptied(rows, "rows");
    const auto worker = c::worker_of(connection);
    const auto call = std::make_shared<c::GetCall>();
    call->ids = c::given_ids(ids, count);
    worker->run(c::given_wait(wait), {[call](auto& session, const c::Turn& turn) {
                  const auto& changes = session->changes(turn);
                  auto found = farvec::changes::get_all(changes, call->ids,
                                                        {.patience = c::patience_of(turn)});
                  call->rows = std::make_unique<farvec_rows>(farvec_rows{c::rows_in(
                      std::move(call->ids), std::move(found), changes.row_shape().schema)});
                }});
    out = call->rows.release();
  });
}

farvec_status farvec_list(farvec_connection* connection, const char* filter, uint64_t from,
                          size_t most, const farvec_wait* wait, farvec_rows** rows,
                          farvec_error* error) {
  return c::guarded(error, [&] {
    farvec_rows*& out = c::emptied(rows, "rows");
    const auto worker = c::worker_of(connection);
    const auto call = std::make_shared<c::ListCall>();
    call->asked = {.filter = c::given_utf8(filter, "filter"),
                   .from = from,
                   .most = most,
                   .attributes = most > 0};
    worker->run(c::given_wait(wait), {[call](auto& session, const c::Turn& turn) {
                  const auto& changes = session->changes(turn);
                  auto listed = c::list_all(changes, call->asked, turn);
                  call->rows = std::make_unique<farvec_rows>(
                      farvec_rows{c::rows_in(std::move(listed), changes.row_shape().schema)});
                }});
    out = call->rows.release();
  });
}

size_t farvec_rows_count(const farvec_rows* rows) {
  return rows == nullptr ? 0 : rows->read.ids.size();
}

int farvec_rows_found(const farvec_rows* rows, size_t row) {
  const c::ReadRows* const read = c::row_in(rows, row);
  return read != nullptr && read->found[row] ? 1 : 0;
}

uint64_t farvec_rows_id(const farvec_rows* rows, size_t row) {
  const c::ReadRows* const read = c::row_in(rows, row);
  return read == nullptr ? FARVEC_NO_ID : read->ids[row];
}

const void* farvec_rows_vector(const farvec_rows* rows, size_t row) {
  const c::ReadRows* const read = c::row_in(rows, row);
  if (read == nullptr || read->places.empty() || !read->found[row]) return nullptr;
  return read->vectors.data() + read->places[row] * read->row_bytes;
}

const char* farvec_rows_attributes(const farvec_rows* rows, size_t row) {
  const c::ReadRows* const read = c::row_in(rows, row);
  return read == nullptr ? nullptr : read->attributes[row];
}

uint64_t farvec_rows_matches(const farvec_rows* rows) {
  return rows == nullptr ? 0 : rows->read.matches;
}

int farvec_rows_more(const farvec_rows* rows) {
  return rows != nullptr && rows->read.more ? 1 : 0;
}

void farvec_rows_free(farvec_rows* rows) {
  delete rows;
}
