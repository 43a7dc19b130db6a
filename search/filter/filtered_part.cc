#include "search/filter/filtered_part.h"

#include <algorithm>
#include <cstdint>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "attributes/condition.h"
#include "attributes/row_words.h"
#include "attributes/tenant.h"
#include "base/check.h"
#include "search/core/search_within.h"
#include "search/filter/filter_plan.h"
#include "search/index/row_attributes.h"

namespace farvec::search {
namespace {

constexpr Status kNoMemory{StatusCode::resource_exhausted,
                           "there is no memory for the rows that meet the condition"};

using AttributesPointer = std::shared_ptr<const RowAttributes>;

/// Keeps the attributes, so that their file stays open.
class FoundAttributes final : public ResultAttributes {
 public:
  FoundAttributes(AttributesPointer attributes, const SearchAnswer& answer)
      : attributes_(std::move(attributes)), rows_(answer.ids, answer.ids + answer.found) {}

  layout::Tuples read() const override {
    layout::Tuples tuples;
    for (const std::uint64_t row : rows_) {
      tuples.append(attributes_->read(static_cast<NodeId>(row)));
    }
    return tuples;
  }

 private:
  const AttributesPointer attributes_;
  const std::vector<std::uint64_t> rows_;
};

class FilteredPart final : public CorePart {
 public:
  FilteredPart(std::unique_ptr<CorePart> inner, const SearchIndex& index)
      : inner_(std::move(inner)),
        index_(index),
        rows_(static_cast<std::uint32_t>(index.count())),
        wanted_(inner_->slots()) {}

  std::uint32_t slots() const override { return inner_->slots(); }
  bool takes_conditions() const override { return true; }
  std::uint32_t request_bytes() const override { return inner_->request_bytes(); }
  bool poll() override { return inner_->poll(); }
  bool busy() const override { return inner_->busy(); }
  CoreStatistics statistics() const override { return inner_->statistics(); }

  Status search(std::uint32_t slot, const SearchRequest& request, SearchAnswer& answer) override {
    answer.attributes = nullptr;
    const Status named =
        attributes::require_tenants(index_.attributes()->schema(), request.condition);
    if (!named.ok()) {
      answer.found = 0;
      return named;
    }
    try {
      const Status status = request.condition == nullptr ? inner_->search(slot, request, answer)
                                                         : search_matches(slot, request, answer);
      if (!status.ok() || !request.attributes) return status;
      keep_within(request, answer);
      answer.counts.attribute_reads = answer.found;
      answer.attributes = std::make_shared<const FoundAttributes>(index_.attributes(), answer);
      return status;
    } catch (const std::bad_alloc&) {
      answer.found = 0;
      return kNoMemory;
    }
  }

 private:
  Status search_matches(std::uint32_t slot, const SearchRequest& request, SearchAnswer& answer) {
    FARVEC_CHECK(request.out == nullptr && !request.is_among_rows(),
                 "a condition and a set of rows came together");
    const std::string text = to_string(*request.condition);
    const auto matches = index_.attributes()->matching(*request.condition, text, rows_, row_ids());
    const std::uint64_t count = matches->cardinality();
    answer.found = 0;
    answer.counts = {};
    answer.coverage = 1;
    if (count == 0) return {};
    SearchRequest among = request;
    among.condition = nullptr;
    const Status status = scans(request, count) ? scan(slot, *matches, among, answer)
                                                : walk(slot, matches, among, answer);
    answer.counts.matches = count;
    return status;
  }

  /// Says whether the rows that match are compared one by one.
  bool scans(const SearchRequest& request, std::uint64_t matches) const {
    if (!can_scan(index_)) return false;
    const FilterPlan plan = request.exact ? FilterPlan::scan : request.plan;
    if (plan != FilterPlan::chosen) return plan == FilterPlan::scan;
    return matches <= most_scanned(index_, request.parameters.graph().list, request_bytes());
  }

  Status scan(std::uint32_t slot, const attributes::RowBitmap& matches, SearchRequest& among,
              SearchAnswer& answer) {
    std::vector<NodeId>& rows = wanted_[slot];
    attributes::list_rows(matches, rows);
    among.only = rows;
    return inner_->search(slot, among, answer);
  }

  Status walk(std::uint32_t slot, const attributes::MatchCache::Rows& matches, SearchRequest& among,
              SearchAnswer& answer) {
    const WantedPointer rows = index_.attributes()->wanted(matches, no_rows_, index_);
    if (!rows->others.empty()) among.out = &rows->others;
    if (!rows->other_vertices.empty()) among.out_vertices = &rows->other_vertices;
    if (among.out != nullptr && rows->by_cluster) among.matches = &*rows->by_cluster;
    return inner_->search(slot, among, answer);
  }

  attributes::IdLookup row_ids() const {
    return {.row_of = [rows = rows_](std::uint64_t id) -> std::optional<NodeId> {
              if (id >= rows) return std::nullopt;
              return static_cast<NodeId>(id);
            },
            .id_of = [](NodeId row) -> std::uint64_t { return row; }};
  }

  const std::unique_ptr<CorePart> inner_;
  const SearchIndex& index_;
  const std::uint32_t rows_;
  const std::shared_ptr<const RowSet> no_rows_ = std::make_shared<const RowSet>();
  std::vector<std::vector<NodeId>> wanted_;  ///< rows of each slot's search
};

}  // namespace

std::unique_ptr<CorePart> make_filtered_part(std::unique_ptr<CorePart> inner,
                                             const SearchIndex& index) {
  FARVEC_CHECK(index.attributes() != nullptr);
  return std::make_unique<FilteredPart>(std::move(inner), index);
}

}  // namespace farvec::search
