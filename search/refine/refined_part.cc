#include "search/refine/refined_part.h"

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/error.h"
#include "search/core/endpoint_part.h"
#include "search/index/second_copy.h"
#include "search/searchers/graph_searcher.h"
#include "search/searchers/row_scan.h"

namespace farvec::search {
namespace {

constexpr Status kDamaged{StatusCode::data_loss,
                          "a row of the second copy is damaged: its checksum does not match"};

/// Returns how many results of the index a search ranks again.
std::uint32_t candidates_of(const SearchRequest& request, std::uint64_t rows) {
  const SearchParameters& search = request.parameters;
  const std::uint64_t most = search.candidates();
  const std::uint64_t asked = std::uint64_t{request.refine} * search.k();
  return static_cast<std::uint32_t>(std::min({request.refine == 0 ? most : asked, most, rows}));
}

/// Runs one slot's searches.
class RefinedSearcher {
 public:
  RefinedSearcher(CorePart& inner, std::uint32_t slot, const SearchIndex& index,
                  ReadDispatcher& dispatcher, bool checked)
      : inner_(inner),
        slot_(slot),
        checked_(checked),
        second_(*index.second()),
        rows_(index.count()),
        dispatcher_(dispatcher),
        lane_(dispatcher.lane(slot)),
        reduced_(second_.reduction().bytes()) {}

  Status search(const SearchRequest& request, SearchAnswer& answer) {
    second_.reduction().reduce(request.query, reduced_.data());
    if (request.candidates) return inner_search(request, request.parameters, answer);
    const std::uint32_t candidates = candidates_of(request, rows_);
    results_.reset(request.parameters.k());
    const bool few = request.is_among_rows() && request.only.size() <= candidates;
    Status status =
        few || request.exact ? scan(request, answer) : find_and_rank(request, candidates, answer);
    if (answer.counts.lost > 0) {  // records, rows of the second copy, or both
      answer.coverage = std::min(answer.coverage, dispatcher_.endpoint().coverage());
    }
    if (status.ok()) copy_results(results_, answer);
    return status;
  }

  std::size_t dram_bytes() const {
    return reduced_.capacity() + ids_.capacity() * sizeof(std::uint64_t) +
           distances_.capacity() * sizeof(float) + batch_.capacity() * sizeof(NodeId);
  }

 private:
  /// Searches the index itself, with the reduced query.
  Status inner_search(const SearchRequest& request, const SearchParameters& parameters,
                      SearchAnswer& answer) {
    SearchRequest inner = request;
    inner.query = reduced_.data();
    inner.parameters = parameters;
    return inner_.search(slot_, inner, answer);
  }

  Status find_and_rank(const SearchRequest& request, std::uint32_t candidates,
                       SearchAnswer& answer) {
    ids_.resize(candidates);
    distances_.resize(candidates);
    SearchAnswer found;
    found.ids = ids_.data();
    found.distances = distances_.data();
    const auto parameters = SearchParameters::make(candidates, request.parameters.choice());
    if (!parameters.ok()) return parameters.status();
    const Status status = inner_search(request, parameters.value(), found);
    answer.counts = found.counts;
    answer.coverage = found.coverage;
    if (!status.ok()) return status;
    batch_.assign(ids_.begin(), ids_.begin() + found.found);
    std::sort(batch_.begin(), batch_.end());
    return rank(batch_, request, answer.counts);
  }

  /// Compares the given rows, or all of an exact search, without asking the index.
  Status scan(const SearchRequest& request, SearchAnswer& answer) {
    ++answer.counts.scans;
    if (const Status rows = check_rows(request.only, rows_); !rows.ok()) return rows;
    const std::size_t end = request.is_among_rows() ? request.only.size() : rows_;
    const std::size_t round = dispatcher_.options().max_reads;
    for (std::size_t first = 0; first < end; first += round) {
      const Status in_time = check_time(request.deadline, request.caller);
      if (!in_time.ok()) return in_time;
      take(request, first, std::min(first + round, end));
      const Status status = rank(batch_, request, answer.counts);
      if (!status.ok()) return status;
      dispatcher_.scheduler().yield();
    }
    return {};
  }

  void take(const SearchRequest& request, std::size_t first, std::size_t end) {
    batch_.clear();
    for (std::size_t i = first; i < end; ++i) {
      const NodeId row = request.is_among_rows() ? request.only[i] : static_cast<NodeId>(i);
      if (request.out == nullptr || !request.out->contains(row)) batch_.push_back(row);
    }
  }

  /// Reads ascending rows, a round after the other, and keeps the nearest.
  Status rank(std::span<const NodeId> rows, const SearchRequest& request, QueryCounts& counts) {
    const std::size_t round = dispatcher_.options().max_reads;
    for (std::size_t first = 0; first < rows.size(); first += round) {
      const auto part = rows.subspan(first, std::min(round, rows.size() - first));
      if (const Status status = read(part, request, counts); !status.ok()) return status;
      if (const Status status = compare(part, request, counts); !status.ok()) return status;
    }
    return {};
  }

  Status read(std::span<const NodeId> rows, const SearchRequest& request, QueryCounts& counts) {
    const layout::SecondCopyGeometry& geometry = second_.geometry();
    if (const Status status = lane_.begin(request.deadline); !status.ok()) return status;
    {
      ReadLane::Appender appender(lane_);
      for (const NodeId row : rows) appender.add(geometry.offset_of(row), geometry.row_bytes());
    }
    counts.reads += rows.size();
    counts.rerank_reads += rows.size();
    counts.bytes += rows.size() * geometry.row_bytes();
    if (const Status status = lane_.hold(request.deadline); !status.ok()) return status;
    return lane_.wait(request.deadline, request.partial);
  }

  Status compare(std::span<const NodeId> rows, const SearchRequest& request, QueryCounts& counts) {
    for (std::uint32_t i = 0; i < rows.size(); ++i) {
      const std::span<const std::byte> row = lane_.bytes(i);
      if (row.empty()) {
        ++counts.lost;
        continue;
      }
      if (!checked_ && !second_.geometry().is_sound(rows[i], row.data())) return kDamaged;
      results_.keep(second_.distance(request.query, row.data()), rows[i]);
      ++counts.distances;
    }
    return {};
  }

  CorePart& inner_;
  const std::uint32_t slot_;
  const bool checked_;
  const SecondCopy& second_;
  const std::uint64_t rows_;
  ReadDispatcher& dispatcher_;
  ReadLane& lane_;
  std::vector<std::byte> reduced_;  ///< the query as the index has its vectors
  std::vector<std::uint64_t> ids_;  ///< candidates, as the index answers
  std::vector<float> distances_;
  std::vector<NodeId> batch_;  ///< rows that are read
  graph::CandidateList results_;
};

DispatcherOptions lanes_of(const SecondCopy& second, std::uint32_t slots,
                           const RefineOptions& options) {
  const std::uint32_t row = second.geometry().row_bytes();
  const auto most = static_cast<std::uint32_t>(std::min<std::uint64_t>(
      {options.candidates, second.geometry().rows(), ReadDispatcher::kMostReads}));
  const auto reads = std::clamp(static_cast<std::uint32_t>(kRoundBytes / row), 1u, most);
  return {.lanes = slots,
          .lane_bytes = std::size_t{reads} * row,
          .max_reads = reads,
          .place_bytes = row,
          .region = options.region};
}

std::unique_ptr<transport::Endpoint> able_to_read(std::unique_ptr<transport::Endpoint> endpoint,
                                                  const SecondCopy& second) {
  const std::uint32_t row = second.geometry().row_bytes();
  if (endpoint->limits().max_read_bytes >= row) return endpoint;
  throw Error("{} reads at most {} bytes at a time, but a row of the second copy has {}",
              endpoint->description(), endpoint->limits().max_read_bytes, row);
}

class RefinedPart final : public EndpointPart<RefinedSearcher> {
  using Base = EndpointPart<RefinedSearcher>;

 public:
  RefinedPart(std::unique_ptr<CorePart> inner, const SearchIndex& index,
              std::unique_ptr<transport::Endpoint> endpoint, const RefineOptions& options,
              coroutines::Scheduler& scheduler)
      : Base(able_to_read(std::move(endpoint), *index.second()),
             lanes_of(*index.second(), inner->slots(), options), scheduler, inner->request_bytes()),
        inner_(std::move(inner)) {
    for (std::uint32_t s = 0; s < inner_->slots(); ++s) {
      this->add_slot(std::make_unique<RefinedSearcher>(*inner_, s, index, this->dispatcher(),
                                                       options.checked));
    }
  }

  bool poll() override {
    const bool came = inner_->poll();
    return Base::poll() || came;
  }
  bool busy() const override { return inner_->busy(); }

  CoreStatistics statistics() const override {
    CoreStatistics sum = Base::statistics();
    sum += inner_->statistics();
    return sum;
  }

 private:
  const std::unique_ptr<CorePart> inner_;
};

}  // namespace

std::size_t refined_bytes(const SecondCopy& second, std::uint32_t slots, std::uint32_t k,
                          const RefineOptions& options) {
  const DispatcherOptions lanes = lanes_of(second, slots, options);
  const std::size_t candidates = std::max(options.candidates, lanes.max_reads);
  const std::size_t each = second.reduction().bytes() +
                           (std::size_t{k} + 1) * sizeof(std::uint64_t) +
                           candidates * (sizeof(std::uint64_t) + sizeof(float) + sizeof(NodeId));
  return ReadDispatcher::memory_bytes(lanes) + slots * each;
}

std::unique_ptr<CorePart> make_refined_part(std::unique_ptr<CorePart> inner,
                                            const SearchIndex& index,
                                            std::unique_ptr<transport::Endpoint> endpoint,
                                            const RefineOptions& options,
                                            coroutines::Scheduler& scheduler) {
  FARVEC_CHECK(index.second() != nullptr);
  return std::make_unique<RefinedPart>(std::move(inner), index, std::move(endpoint), options,
                                       scheduler);
}

}  // namespace farvec::search
