#include "python/remote_collection.h"

#include <algorithm>
#include <unordered_set>

#include "base/row_fault.h"
#include "base/status_error.h"

namespace farvec::python {
namespace {

using collection::FoundRows;
using collection::Receipt;

/// The node looks at each batch; here at all of them before the first goes.
void require_once(std::span<const std::uint64_t> ids) {
  std::unordered_set<std::uint64_t> seen;
  for (const std::uint64_t id : ids) {
    if (!seen.insert(id).second) throw Error("id {} comes twice in one batch", id);
  }
}

Receipt to_receipt(const client::ChangeReceipt& receipt) {
  return {.version = receipt.version,
          .done = receipt.done,
          .replaced = receipt.replaced,
          .missing = receipt.missing};
}

}  // namespace

RemoteCollection::RemoteCollection(const client::NodeAccess& node, std::uint32_t retries)
    : attempts_{.retries = retries}, searches_(node, retries), changes_(node, attempts_) {}

/// What is left of the time is the deadline of each.
client::Attempts RemoteCollection::attempts_until(const Patience& patience) const {
  const Ticks now = now_ticks();
  const double us = patience.until > now ? ticks_to_us(patience.until - now) : 0;
  client::Attempts attempts = attempts_;
  attempts.deadline = std::chrono::milliseconds(static_cast<std::int64_t>(us / 1e3) + 1);
  attempts.interrupted = patience.interrupted;
  return attempts;
}

void RemoteCollection::insert(const VectorView& rows, std::span<const std::uint64_t> ids,
                              const Patience& patience, Receipt& receipt) {
  changes_.check(rows);
  if (const auto faulty = find_faulty_row(rows, metric())) {
    throw StatusError(StatusCode::invalid_argument, "row {} (id {}) {}", faulty->row,
                      ids[faulty->row], to_string(faulty->fault));
  }
  require_once(ids);
  in_batches(rows.count, changes_.batch_rows(), patience.interrupted,
             [&](std::size_t first, std::size_t count) {
               add(to_receipt(changes_.insert(rows.part(first, count), ids.subspan(first, count),
                                              attempts_until(patience))),
                   receipt);
             });
}

Receipt RemoteCollection::erase(std::span<const std::uint64_t> ids, const Patience& patience) {
  Receipt receipt;
  in_batches(ids.size(), changes_.batch_ids(), patience.interrupted,
             [&](std::size_t first, std::size_t count) {
               add(to_receipt(changes_.erase(ids.subspan(first, count), attempts_until(patience))),
                   receipt);
             });
  return receipt;
}

FoundRows RemoteCollection::get(std::span<const std::uint64_t> ids,
                                const Patience& patience) const {
  FoundRows all;
  in_batches(ids.size(), changes_.batch_rows(), patience.interrupted,
             [&](std::size_t first, std::size_t count) {
               const client::RemoteRows some =
                   changes_.get(ids.subspan(first, count), attempts_until(patience));
               all.found.insert(all.found.end(), some.found.begin(), some.found.end());
               all.rows.insert(all.rows.end(), some.rows.begin(), some.rows.end());
             });
  return all;
}

void RemoteCollection::flush(const Interruption& interrupted) {
  client::Attempts attempts = attempts_;
  attempts.interrupted = interrupted;
  changes_.flush(attempts);
}

void RemoteCollection::compact(const Interruption& interrupted) {
  client::Attempts attempts = attempts_;
  attempts.interrupted = interrupted;
  changes_.compact(attempts);
}

nlohmann::ordered_json RemoteCollection::describe() const {
  const collection::v1::StatsResponse now = changes_.stats(attempts_);
  nlohmann::ordered_json facts = searches_.describe();
  facts["collection"] = facts["index"];
  facts["node_version"] = facts["version"];
  facts.erase("index");
  facts.update(client::state_json(now));
  return facts;
}

}  // namespace farvec::python
