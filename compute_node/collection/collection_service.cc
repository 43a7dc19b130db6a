#include "compute_node/collection/collection_service.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/status_error.h"
#include "changes/changing.h"
#include "compute_node/collection/change_answer.h"
#include "compute_node/collection/change_request.h"
#include "compute_node/service/call.h"
#include "rpc/entitled.h"
#include "rpc/status.h"

namespace farvec::compute_node {
namespace {

namespace wire = collection::v1;
using changes::Receipt;

/// An answer goes out a fifth of the time before its deadline, but not earlier by more than this.
constexpr double kMostMarginUs = 200e3;
/// A change waits no longer than this, so that it does not keep its thread from others.
constexpr double kMostChangeUs = 10e6;

/// Is twice the largest request that the node receives.
constexpr std::uint64_t kReadBytes = std::uint64_t{128} << 20;
constexpr CallPoolLimits kReads{.threads = 2, .calls = 256, .bytes = kReadBytes};
/// Calls that wait for the background do not wait for each other.
constexpr CallPoolLimits kWaits{.threads = 4, .calls = 4};

Ticks answer_by(const grpc::CallbackServerContext& context, std::chrono::milliseconds otherwise) {
  const Ticks now = now_ticks();
  const Ticks left = std::max(deadline_of(context, otherwise), now) - now;
  return now + left - std::min<Ticks>(left / 5, us_to_ticks(kMostMarginUs));
}

Ticks change_by(const CollectionCall& call) {
  return std::min(call.answer_by(), now_ticks() + us_to_ticks(kMostChangeUs));
}

Outcome failed(StatusCode code, const std::string& message) {
  return {rpc::to_grpc(code, message)};
}

Outcome refused(ChangeRefusal why, const std::string& message) {
  return {rpc::to_grpc(StatusCode::resource_exhausted, message), why};
}

/// Refuses a call for which others leave no place or no time. Says why, where they wait for what
/// fails.
Outcome refused_for_others(ChangeRefusal why, const std::string& message,
                           const ServedChanges& changes) {
  const std::string failure = changes.blocked_by();
  return refused(why, failure.empty()
                          ? message
                          : fmt::format("{}; changes wait for a segment, which cannot be built "
                                        "and is tried again: {}",
                                        message, failure));
}

Outcome outcome_of(const changes::Refusal& refusal) {
  const bool full = refusal.code == StatusCode::resource_exhausted;
  return {rpc::to_grpc(refusal.code, refusal.reason),
          full ? ChangeRefusal::no_room : ChangeRefusal::none};
}

/// Makes a change and returns how it ended. `tell` answers with what the change has done, also
/// where it was refused.
template <typename Change, typename Tell>
Outcome outcome_of_change(const Change& change, const Tell& tell) {
  Receipt receipt;
  Outcome outcome;
  try {
    change(receipt);
  } catch (const changes::Refusal& refusal) {
    outcome = outcome_of(refusal);
  }
  tell(receipt);
  return outcome;
}

void add(std::atomic<std::uint64_t>& counter, std::uint64_t more) {
  counter.fetch_add(more, std::memory_order_relaxed);
}

}  // namespace

CollectionService::CollectionService(ChangesSource source, const ChangeOptions& options,
                                     std::chrono::milliseconds default_deadline)
    : source_(std::move(source)),
      default_deadline_(default_deadline),
      changers_(options.changers),
      changes_({options.threads, options.calls, options.bytes}),
      reads_(kReads),
      waits_(kWaits) {}

void CollectionService::drain() {
  draining_.store(true, std::memory_order_relaxed);
  if (const std::shared_ptr<ServedChanges> changes = source_()) changes->drain();
}

std::uint32_t CollectionService::unanswered() const {
  return unanswered_.load(std::memory_order_relaxed);
}

grpc::ServerUnaryReactor* CollectionService::run(grpc::CallbackServerContext& context,
                                                 CallPool& pool, std::uint64_t bytes, Work work) {
  auto* const call = new CollectionCall(context, answer_by(context, default_deadline_));
  unanswered_.fetch_add(1, std::memory_order_relaxed);
  const std::shared_ptr<ServedChanges> served = source_();
  const bool changes = &pool != &reads_;
  if (changes && !rpc::is_entitled(context, changers_)) {
    end(*call, {rpc::not_entitled(context, "change the index", "--changer")}, pool);
  } else if (draining_.load(std::memory_order_relaxed)) {
    end(*call, failed(StatusCode::unavailable, "the compute node is shutting down"), pool);
  } else if (served == nullptr) {
    end(*call, failed(StatusCode::unavailable, "the index is being opened: try again"), pool);
  } else if (!pool.submit(bytes, [this, call, served, &pool, work = std::move(work)] {
               const Outcome outcome = perform(*call, *served, pool, work);
               return [this, call, outcome, &pool] { end(*call, outcome, pool); };
             })) {
    end(*call,
        refused_for_others(
            ChangeRefusal::queue_full,
            "the compute node has as many calls under way as it takes: try again later", *served),
        pool);
  }
  return call;
}

Outcome CollectionService::perform(const CollectionCall& call, ServedChanges& changes,
                                   const CallPool& pool, const Work& work) const {
  if (call.cancelled()) return failed(StatusCode::cancelled, "the caller waits for it no more");
  // A call that waits for the background has no turn to wait for: await() says when it is late.
  if (&pool != &waits_ && now_ticks() >= call.answer_by()) {
    return refused_for_others(
        ChangeRefusal::too_late,
        "its turn did not come before the deadline: try again later, or allow more time", changes);
  }
  try {
    return work(changes, call);
  } catch (const StatusError& error) {
    return failed(error.code, error.what());
  } catch (const Error& error) {
    return failed(StatusCode::unavailable, error.what());
  } catch (const std::exception& error) {
    return failed(StatusCode::internal, error.what());
  }
}

void CollectionService::end(CollectionCall& call, const Outcome& outcome, const CallPool& pool) {
  count(outcome);
  call.end(outcome, pool.expected_wait());
  unanswered_.fetch_sub(1, std::memory_order_relaxed);
}

void CollectionService::count(const Outcome& outcome) {
  switch (outcome.refusal) {
    case ChangeRefusal::none:
      if (!outcome.status.ok()) add(counters_.failed, 1);
      return;
    case ChangeRefusal::queue_full:
      return add(counters_.queue_full, 1);
    case ChangeRefusal::no_room:
      return add(counters_.no_room, 1);
    case ChangeRefusal::too_late:
      return add(counters_.too_late, 1);
  }
}

grpc::ServerUnaryReactor* CollectionService::Insert(grpc::CallbackServerContext* context,
                                                    const wire::InsertRequest* request,
                                                    wire::InsertResponse* response) {
  return run(*context, changes_, request->ByteSizeLong(),
             [this, request, response](ServedChanges& changes, const CollectionCall& call) {
               const changes::RowShape shape = changes.index().row_shape();
               const std::string wrong = check_insert(*request, shape, changes.most_rows());
               if (!wrong.empty()) return failed(StatusCode::invalid_argument, wrong);
               return outcome_of_change(
                   [&](Receipt& receipt) {
                     changes.index().insert(batch_of(*request, shape), {.until = change_by(call)},
                                            receipt);
                   },
                   [&](const Receipt& receipt) {
                     add(counters_.inserted, receipt.done);
                     add(counters_.replaced, receipt.replaced);
                     response->set_done(receipt.done);
                     response->set_replaced(receipt.replaced);
                     response->set_version(receipt.version);
                   });
             });
}

grpc::ServerUnaryReactor* CollectionService::Delete(grpc::CallbackServerContext* context,
                                                    const wire::DeleteRequest* request,
                                                    wire::DeleteResponse* response) {
  return run(*context, changes_, request->ByteSizeLong(),
             [this, request, response](ServedChanges& changes, const CollectionCall& call) {
               const std::string wrong = check_delete(*request, changes.most_ids());
               if (!wrong.empty()) return failed(StatusCode::invalid_argument, wrong);
               return outcome_of_change(
                   [&](Receipt& receipt) {
                     const changes::Patience patience{.until = change_by(call)};
                     if (request->filter().empty()) {
                       changes.index().erase(ids_of(*request), patience, receipt);
                     } else {
                       changes.index().erase_matching(request->filter(), patience, receipt);
                     }
                   },
                   [&](const Receipt& receipt) {
                     add(counters_.deleted, receipt.done);
                     tell_receipt(receipt, *response);
                   });
             });
}

grpc::ServerUnaryReactor* CollectionService::Update(grpc::CallbackServerContext* context,
                                                    const wire::UpdateRequest* request,
                                                    wire::UpdateResponse* response) {
  return run(*context, changes_, request->ByteSizeLong(),
             [this, request, response](ServedChanges& changes, const CollectionCall& call) {
               const changes::RowShape shape = changes.index().row_shape();
               const std::string wrong = check_update(*request, shape, changes.most_ids());
               if (!wrong.empty()) return failed(StatusCode::invalid_argument, wrong);
               return outcome_of_change(
                   [&](Receipt& receipt) {
                     const changes::ColumnValues values = values_of(*request);
                     const changes::Patience patience{.until = change_by(call)};
                     if (request->filter().empty()) {
                       changes.index().update(ids_of(*request), values, patience, receipt);
                     } else {
                       changes.index().update_matching(request->filter(), values, patience,
                                                       receipt);
                     }
                   },
                   [&](const Receipt& receipt) {
                     add(counters_.updated, receipt.done);
                     tell_receipt(receipt, *response);
                   });
             });
}

grpc::ServerUnaryReactor* CollectionService::Get(grpc::CallbackServerContext* context,
                                                 const wire::GetRequest* request,
                                                 wire::GetResponse* response) {
  return run(*context, reads_, request->ByteSizeLong(),
             [request, response](ServedChanges& changes, const CollectionCall& call) {
               const std::string wrong = check_ids(ids_of(*request), changes.most_rows());
               if (!wrong.empty()) return failed(StatusCode::invalid_argument, wrong);
               try {
                 tell_rows(changes.index().get(ids_of(*request), {.until = call.answer_by()}),
                           *response);
               } catch (const changes::Refusal& refusal) {
                 return outcome_of(refusal);
               } catch (const Error& error) {
                 return failed(StatusCode::data_loss, error.what());
               }
               // It is asked for after the rows, which may be older than its last columns.
               const changes::RowShape shape = changes.index().row_shape();
               response->set_schema(layout::to_string(shape.schema));
               response->set_type(to_wire(shape.stored_type));
               response->set_dimension(shape.dimension);
               return Outcome{};
             });
}

grpc::ServerUnaryReactor* CollectionService::List(grpc::CallbackServerContext* context,
                                                  const wire::ListRequest* request,
                                                  wire::ListResponse* response) {
  return run(*context, reads_, request->ByteSizeLong(),
             [request, response](ServedChanges& changes, const CollectionCall& call) {
               const std::size_t most = changes.most_ids();
               if (request->most() > most) {
                 return failed(StatusCode::invalid_argument,
                               fmt::format("most: {} came, 0 to {} is allowed: ask again from the "
                                           "last id + 1",
                                           request->most(), most));
               }
               const changes::Listing asked{.filter = request->filter(),
                                            .from = request->from(),
                                            .most = request->most(),
                                            .attributes = request->attributes()};
               const auto late = [&call] {
                 return call.cancelled() || now_ticks() >= call.answer_by();
               };
               try {
                 tell_list(changes.index().list(asked, {.interrupted = late}), *response);
                 response->set_schema(layout::to_string(changes.index().row_shape().schema));
               } catch (const WorkInterrupted&) {
                 return failed(StatusCode::deadline_exceeded,
                               "the rows were not listed before the deadline: allow more time, or "
                               "ask for fewer");
               }
               return Outcome{};
             });
}

grpc::ServerUnaryReactor* CollectionService::AddColumns(grpc::CallbackServerContext* context,
                                                        const wire::AddColumnsRequest* request,
                                                        wire::AddColumnsResponse* response) {
  return run(*context, changes_, request->ByteSizeLong(),
             [request, response](ServedChanges& changes, const CollectionCall&) {
               const std::string wrong = check_columns(*request);
               if (!wrong.empty()) return failed(StatusCode::invalid_argument, wrong);
               changes.index().add_columns(layout::parse_schema(request->columns()));
               response->set_schema(layout::to_string(changes.index().row_shape().schema));
               return Outcome{};
             });
}

/// Serves a call that only waits for what the background does.
Outcome CollectionService::await(const CollectionCall& call,
                                 const std::function<bool(const Interruption&)>& done) const {
  const auto give_up = [&] {
    return call.cancelled() || draining_.load(std::memory_order_relaxed) ||
           now_ticks() >= call.answer_by();
  };
  if (done(give_up)) return {};
  if (draining_.load(std::memory_order_relaxed)) {
    return failed(StatusCode::unavailable, "the compute node is shutting down");
  }
  return failed(StatusCode::deadline_exceeded,
                "it is not done before the deadline, and goes on: ask again, or allow more time");
}

grpc::ServerUnaryReactor* CollectionService::Flush(grpc::CallbackServerContext* context,
                                                   const wire::FlushRequest*,
                                                   wire::FlushResponse*) {
  return run(*context, waits_, 0, [this](ServedChanges& changes, const CollectionCall& call) {
    return await(call, [&](const auto& give_up) { return changes.index().flush(give_up); });
  });
}

grpc::ServerUnaryReactor* CollectionService::Compact(grpc::CallbackServerContext* context,
                                                     const wire::CompactRequest*,
                                                     wire::CompactResponse*) {
  return run(*context, waits_, 0, [this](ServedChanges& changes, const CollectionCall& call) {
    return await(call, [&](const auto& give_up) { return changes.index().compact(give_up); });
  });
}

grpc::ServerUnaryReactor* CollectionService::Stats(grpc::CallbackServerContext* context,
                                                   const wire::StatsRequest*,
                                                   wire::StatsResponse* response) {
  return run(*context, reads_, 0, [this, response](ServedChanges&, const CollectionCall&) {
    *response = stats();
    return Outcome{};
  });
}

}  // namespace farvec::compute_node
