#include "postgres/engine/index_search.h"

#include "base/status_error.h"
#include "search/core/queries.h"
#include "search/core/search_parameters.h"
#include "search/index/row_form.h"
#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>

namespace farvec::postgres {
namespace {

static_assert(sizeof(ToldFound) + ASK_MOST_FOUND * (sizeof(std::uint64_t) + sizeof(float)) <=
              CHANNEL_ANSWER_BYTES);

search::RowForm form_of(const layout::CollectionManifest& shape) {
  return {shape.metric, shape.source_type, shape.stored_type, shape.dimension};
}

search::SearchParameters parameters_of(const AskSearch& asked, std::uint32_t width) {
  if (asked.k == 0 || asked.k > ASK_MOST_ROWS || asked.list > ASK_MOST_ROWS) {
    throw StatusError(StatusCode::invalid_argument,
                      "a search for {} rows with a list of {}: 1 to {} are allowed", asked.k,
                      asked.list, ASK_MOST_ROWS);
  }
  const search::GraphChoice choice{.list = std::max(asked.k, asked.list), .width = width};
  const Result<search::SearchParameters> made = search::SearchParameters::make(asked.k, choice);
  if (!made.ok()) throw StatusError(made.status().code(), "{}", made.status().message());
  return made.value();
}

attributes::ConditionPointer parse(std::string_view text, const layout::Schema& schema) {
  try {
    return attributes::parse_condition(text, schema);
  } catch (const Error& error) {
    throw StatusError(StatusCode::invalid_argument, "the filter: {}", error.what());
  }
}

std::uint64_t nanoseconds(Ticks ticks) {
  return static_cast<std::uint64_t>(1e3 * ticks_to_us(ticks));
}

/// Returns how many rows meet a condition that these vertices meet, `found` of which were found.
/// Where others are left, or some rows had no room, it is more than there are in the answer.
std::uint64_t matching_rows(std::uint64_t vertices, std::uint64_t found,
                            const SharedVectors::Rows& rows) {
  return vertices < found ? vertices : vertices - found + rows.all;
}

void append(std::vector<std::byte>& to, const void* data, std::size_t bytes) {
  const auto* const from = static_cast<const std::byte*>(data);
  to.insert(to.end(), from, from + bytes);
}

}  // namespace

IndexSearch::IndexSearch() {
  answer.ids = ids_.data();
  answer.distances = distances_.data();
}

IndexName IndexSearch::index_name() const {
  return name_of(asked.reader().read<AskSearch>().index);
}

void IndexSearch::set_query(std::span<const std::byte> query,
                            const layout::CollectionManifest& shape) {
  const std::size_t expected = packed_bytes(shape.source_type, shape.dimension);
  if (query.size() != expected) {
    throw StatusError(StatusCode::invalid_argument, "a query of {} bytes came, and {} x {} have {}",
                      query.size(), shape.dimension, farvec::to_string(shape.source_type),
                      expected);
  }
  const search::RowForm form = form_of(shape);
  const std::string_view fault = search::fault_of_query(query.data(), form);
  if (!fault.empty()) {
    throw StatusError(StatusCode::invalid_argument, "the query {}", fault);
  }
  const std::size_t bytes = packed_bytes(shape.stored_type, shape.dimension);
  query_.resize((bytes + sizeof(Line) - 1) / sizeof(Line));
  search::compare_as(query.data(), form, query_.data()->bytes);
}

void IndexSearch::prepare(std::shared_ptr<OpenIndex> index) {
  RequestReader reader = asked.reader();
  const auto search = reader.read<AskSearch>();
  const std::span<const std::byte> query = reader.take(search.query_bytes);
  const std::span<const std::byte> filter = reader.take(search.filter_bytes);
  reader.end();
  if (!index->caught_up()) {
    throw StatusError(StatusCode::failed_precondition,
                      "the index has to catch up with its table first");
  }
  request = {};
  request.index = index.get();
  request.parameters = parameters_of(search, index->records_at_once());
  set_query(query, index->shape());
  request.query = query_.data()->bytes;
  request.deadline = end_of(search.deadline_ms);
  request.caller = this;
  condition_ = nullptr;
  if (!filter.empty()) {
    const std::string_view text(reinterpret_cast<const char*>(filter.data()), filter.size());
    condition_ = parse(text, *index->view()->schema);
  }
  request.condition = condition_.get();
  hosts_ = condition_ == nullptr ? nullptr : index->shared().hosts_for(condition_);
  if (hosts_ != nullptr) {
    further_ = {.ids = hosts_->ids, .number = hosts_->number};
    request.further = &further_;
  }
  index_ = std::move(index);  // a search that is refused holds no index, which could not be closed
}

void IndexSearch::finish() {
  const std::shared_ptr<OpenIndex> index = std::move(index_);
  if (!answer.status.ok()) {
    asked.fail(answer.status.code(), answer.status.message());
    return;
  }
  const search::QueryCounts& counts = answer.counts;
  const SharedVectors::Vertices vertices{.ids = std::span(ids_).first(answer.found),
                                         .distances = std::span(distances_).first(answer.found),
                                         .condition = condition_.get()};
  const SharedVectors::Rows rows = index->shared().rows_of(vertices, vids_, row_distances_);
  const bool has_all = answer.found < request.parameters.k() && rows.count == rows.all;
  const ToldFound found{.count = rows.count,
                        .complete = has_all ? 1u : 0u,
                        .hops = counts.hops,
                        .reads = counts.reads,
                        .bytes = counts.bytes,
                        .estimates = counts.estimates,
                        .distances = counts.distances,
                        .matches = matching_rows(counts.matches, answer.found, rows),
                        .walks = counts.walks,
                        .scans = counts.scans,
                        .took_ns = nanoseconds(clock.finished - clock.started)};
  told_.clear();
  append(told_, &found, sizeof(found));
  append(told_, vids_.data(), rows.count * sizeof(std::uint64_t));
  append(told_, row_distances_.data(), rows.count * sizeof(float));
  asked.answer(told_);
}

}  // namespace farvec::postgres
