#include "collection/search/collection_part.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <span>
#include <utility>

#include "attributes/condition.h"
#include "attributes/tenant.h"
#include "base/check.h"
#include "collection/search/found_attributes.h"
#include "collection/search/search_legs.h"
#include "search/core/core_loop.h"
#include "search/core/search_within.h"

namespace farvec::collection {

using search::SearchAnswer;
using search::SearchRequest;

namespace {

/// A list that is at most this many times shorter than the one that a segment turns out to deserve
/// is good enough: the search is not repeated.
constexpr double kSlack = 1.3;

/// Adds the counts that only grow.
void add_counts(const search::CoreStatistics& part, search::CoreStatistics& sum) {
  sum.stalls += part.stalls;
  sum.late_completions += part.late_completions;
  sum.device_reads += part.device_reads;
  sum.device_bytes += part.device_bytes;
}

constexpr Status kSegmentsAreGraphs{StatusCode::invalid_argument,
                                    "the segments are graphs: say a list, not clusters"};
constexpr Status kNoCandidates{
    StatusCode::invalid_argument,
    "candidates: those of segments and of fresh rows have distances of different kinds: leave it "
    "out"};
constexpr Status kSegmentsAreClusters{StatusCode::invalid_argument,
                                      "the segments are clusters: say how many, not a list"};

/// A core looks this often whether it has segments that were replaced.
constexpr double kLookUs = 50e3;

/// Returns the first list for a segment with this share of the live vectors. Where vectors are in
/// segments at random, the merged results then have the recall of one index searched with `list`:
/// on sift1m in segments of a half, a quarter and two eighths 0.904, 0.936, 0.964, 0.987 and 0.997
/// at lists of 20 to 150 where one index has 0.883, 0.929, 0.960, 0.987 and 0.996. A list in
/// proportion to the share has 0.879 to 0.988.
std::uint32_t first_list(std::uint32_t list, double share) {
  return static_cast<std::uint32_t>(std::ceil(list * std::sqrt(share)));
}

/// Returns the list for a segment that has `results` of k results.
std::uint32_t deserved_list(std::uint32_t list, std::uint32_t results, std::uint32_t k) {
  return static_cast<std::uint32_t>((std::uint64_t{list} * results + k - 1) / k);
}

}  // namespace

CollectionPart::CollectionPart(ViewSource views, std::uint32_t slots,
                               coroutines::Scheduler& scheduler)
    : views_(std::move(views)), scheduler_(scheduler) {
  for (std::uint32_t s = 0; s < slots; ++s) slots_.push_back(std::make_unique<Slot>(scheduler));
}

CollectionPart::~CollectionPart() = default;

/// Releases segments that neither the view nor a search has any more, and lost parts.
void CollectionPart::let_go(const View& view) {
  std::erase_if(bound_, [&](const auto& entry) {
    const auto is_it = [&](const View::Bulk& bulk) {
      return bulk.segment->number() == entry.first;
    };
    if (entry.second.users > 0) return false;
    if (!entry.second.lost && std::any_of(view.segments.begin(), view.segments.end(), is_it)) {
      return false;
    }
    add_counts(entry.second.part->statistics(), gone_);
    return true;
  });
}

/// Finds the part with which each segment of the view is searched, and makes it for new segments.
Status CollectionPart::bind(const View& view, Slot& slot) {
  let_go(view);
  slot.used = 0;
  slot.legs.resize(std::max(slot.legs.size(), view.segments.size() + view.memtables.size()));
  for (const View::Bulk& bulk : view.segments) {
    if (bulk.live() == 0) continue;
    Bound* const bound = bound_to(bulk.segment);
    if (bound == nullptr) return {StatusCode::unavailable, "a segment cannot be opened"};
    ++bound->users;
    Leg& leg = slot.next_leg();
    leg.segment = bulk.segment.get();
    leg.part = bound->part.get();
    leg.index = bound->index;
    leg.gone = bulk.out;
    leg.updates = bulk.updates;
    leg.out = bulk.out->empty() ? nullptr : bulk.out.get();
    leg.live = bulk.live();
  }
  for (const View::Fresh& fresh : view.memtables) {
    if (fresh.live() == 0) continue;
    Leg& leg = slot.next_leg();
    leg.fresh = &fresh;
    leg.memtable = &slot.memtable;
    leg.gone = fresh.out;
    leg.out = fresh.out.get();
    leg.live = fresh.live();
  }
  return {};
}

/// Returns null, and writes a line to the log, when the segment's tier cannot be opened.
CollectionPart::Bound* CollectionPart::bound_to(const std::shared_ptr<Segment>& segment) {
  const auto known = bound_.find(segment->number());
  if (known != bound_.end()) return &known->second;
  try {
    Bound bound{segment, segment->records().make_part(scheduler_), &segment->records().index()};
    FARVEC_CHECK(bound.part->slots() >= slots(), "segments have {} slots, this core {}",
                 bound.part->slots(), slots());
    return &bound_.emplace(segment->number(), std::move(bound)).first->second;
  } catch (const std::exception& error) {
    if (unopened_ != error.what()) {
      spdlog::error("segment {} cannot be searched: {}", segment->number(), error.what());
    }
    unopened_ = error.what();
    return nullptr;
  }
}

void CollectionPart::release(Slot& slot) {
  for (Leg& leg : slot.legs_used()) {
    leg.gone = nullptr;
    leg.updates = nullptr;
    leg.others = nullptr;
    if (leg.segment != nullptr) --bound_.at(leg.segment->number()).users;
  }
}

/// Plans what each leg is asked for at first.
Status CollectionPart::plan(const SearchRequest& request, Slot& slot) const {
  const layout::IndexKind kind = search::kind_of(request.parameters.choice());
  for (const Leg& leg : slot.legs_used()) {
    if (leg.segment == nullptr || leg.segment->manifest().kind() == kind) continue;
    return kind == layout::IndexKind::cluster ? kSegmentsAreGraphs : kSegmentsAreClusters;
  }
  switch (kind) {
    case layout::IndexKind::graph:
      break;
    case layout::IndexKind::cluster:
      return plan_probes(request, slot);
  }
  return plan_lists(request, slot);
}

/// Gives each leg a list as long as its share of the rows lets expect.
Status CollectionPart::plan_lists(const SearchRequest& request, Slot& slot) const {
  std::uint64_t live = 0;
  for (const Leg& leg : slot.legs_used()) live += leg.live;
  const auto all = static_cast<double>(live);
  search::GraphChoice choice = request.parameters.graph();
  for (Leg& leg : slot.legs_used()) {
    if (leg.live == 0) continue;
    const double share = static_cast<double>(leg.live) / all;
    choice.list = first_list(request.parameters.graph().list, share);
    if (Status status = leg.ask(request, choice); !status.ok()) return status;
  }
  return {};
}

/// Distances between vectors that were multiplied by a factor are larger by its square. Those for
/// inner_product stand for the product with a centroid, which is larger by the factor itself.
ProbedSegment CollectionPart::probed_segment(const Leg& leg) {
  ProbedSegment probed{.centroids = &leg.index->clusters()->centroids(), .live = leg.live};
  probed.second = leg.index->second();
  if (probed.second == nullptr) return probed;
  const float factor = probed.second->reduction().factor();
  const bool products = leg.segment->manifest().metric == Metric::inner_product;
  probed.scale = 1 / (products ? factor : factor * factor);
  return probed;
}

/// Gives each segment its share of the clusters. Memtables, whose graphs have no clusters, are
/// searched with a list that finds nearly all.
Status CollectionPart::plan_probes(const SearchRequest& request, Slot& slot) const {
  std::vector<ProbedSegment>& segments = slot.probes.segments;
  segments.clear();
  for (const Leg& leg : slot.legs_used()) {
    if (leg.segment == nullptr || leg.live == 0) continue;
    segments.push_back(probed_segment(leg));
  }
  search::ProbeChoice choice = request.parameters.probing();
  share_probes(request.query, choice.clusters, slot.probes);
  const search::GraphChoice fresh{.list = std::max(kMemtableList, 2 * request.parameters.k())};
  auto segment = segments.begin();
  for (Leg& leg : slot.legs_used()) {
    if (leg.live == 0) continue;
    const bool is_segment = leg.segment != nullptr;
    if (is_segment) choice.clusters = (segment++)->clusters;
    const Status status = is_segment ? leg.ask(request, choice) : leg.ask(request, fresh);
    if (!status.ok()) return status;
  }
  return {};
}

/// Runs all legs of a round. Those of segments except the first one run in fibers of their own, up
/// to kHelpers; this fiber runs the others while these wait for their records.
void CollectionPart::run_round(std::uint32_t number) {
  Slot& slot = *slots_[number];
  Leg* own = nullptr;
  std::uint32_t helpers = 0;
  for (Leg& leg : slot.legs_used()) {
    if (!leg.again || leg.segment == nullptr) continue;
    leg.slot = number;
    // More helpers would take the fibers of searches that are still to begin.
    if (own != nullptr && helpers == kHelpers) continue;
    leg.again = false;
    leg.group = nullptr;
    if (own == nullptr) {
      own = &leg;
      continue;
    }
    ++helpers;
    leg.group = &slot.group;
    slot.group.add();
    if (!scheduler_.spawn([leg = &leg] { leg->run(); }).ok()) leg.run();
  }
  for (Leg& leg : slot.legs_used()) {
    if (!leg.again) continue;
    leg.again = false;
    leg.group = nullptr;
    leg.run();
  }
  if (own != nullptr) own->run();
  // Each leg has the search's deadline itself.
  (void)slot.group.wait(coroutines::kNoDeadline);
}

/// Merges the nearest k of what has been found so far, and notes from which leg each is.
Status CollectionPart::merge(const SearchRequest& request, Slot& slot) const {
  slot.found.clear();
  for (Leg& leg : slot.legs_used()) {
    if (!leg.answer.status.ok()) return leg.answer.status;
    leg.results = 0;
    for (std::uint32_t r = 0; r < leg.answer.found; ++r) {
      const auto row = static_cast<NodeId>(leg.ids[r]);
      slot.found.push_back({leg.distances[r], row, leg.id(row), &leg});
    }
  }
  slot.kept = std::min<std::size_t>(request.parameters.k(), slot.found.size());
  std::partial_sort(slot.found.begin(), slot.found.begin() + static_cast<std::ptrdiff_t>(slot.kept),
                    slot.found.end());
  for (std::size_t i = 0; i < slot.kept; ++i) ++slot.found[i].leg->results;
  return {};
}

/// Gives legs that have found more of the results than their list was meant for a longer one.
/// Returns whether there are any.
Result<bool> CollectionPart::plan_again(const SearchRequest& request, Slot& slot) const {
  bool any = false;
  // An exact search has read all. Which clusters are near was known before any was read.
  if (request.exact) return any;
  if (!std::holds_alternative<search::GraphChoice>(request.parameters.choice())) return any;
  search::GraphChoice choice = request.parameters.graph();
  const std::uint32_t list = choice.list;
  for (Leg& leg : slot.legs_used()) {
    choice.list = deserved_list(list, leg.results, request.parameters.k());
    if (static_cast<double>(choice.list) <= kSlack * leg.list()) continue;
    if (Status status = leg.ask(request, choice); !status.ok()) return status;
    any = true;
  }
  return any;
}

void CollectionPart::fill(const SearchRequest& request, const Slot& slot, SearchAnswer& answer) {
  answer.counts = {};
  double all = 0;
  double lost = 0;
  for (const Leg& leg : slot.legs_used()) {
    answer.counts += leg.counts;
    all += static_cast<double>(leg.live);
    lost += static_cast<double>(leg.live) * (1 - leg.coverage);
  }
  answer.coverage = all > 0 ? 1 - lost / all : 1;
  if (request.condition != nullptr) answer.counts.matches = static_cast<std::uint64_t>(all);
  for (std::size_t i = 0; i < slot.kept; ++i) {
    answer.ids[i] = slot.found[i].id;
    answer.distances[i] = slot.found[i].distance;
  }
  answer.found = static_cast<std::uint32_t>(slot.kept);
  keep_within(request, answer);
}

/// Says where the attributes of the results are.
void CollectionPart::attach_attributes(const ViewPointer& view, const Slot& slot,
                                       SearchAnswer& answer) {
  std::vector<RowPlace> rows;
  for (std::size_t i = 0; i < answer.found; ++i) {
    const Slot::Found& found = slot.found[i];
    rows.push_back(found.leg->place(found.row));
    if (rows.back().reads_file()) ++answer.counts.attribute_reads;
  }
  answer.attributes = std::make_shared<const FoundAttributes>(view, std::move(rows));
}

/// Leaves the legs the rows that meet the condition. Those that have none are not searched.
void CollectionPart::filter(const SearchRequest& request, Slot& slot) {
  const auto* const graph = std::get_if<search::GraphChoice>(&request.parameters.choice());
  const std::uint32_t list = graph == nullptr ? 0 : graph->list;
  const std::string text = to_string(*request.condition);
  const search::FilterPlan plan = request.exact ? search::FilterPlan::scan : request.plan;
  for (Leg& leg : slot.legs_used()) {
    leg.filter({*request.condition, text, list, plan, request.further});
  }
}

Status CollectionPart::search_legs(std::uint32_t number, const SearchRequest& request) {
  Slot& slot = *slots_[number];
  if (request.condition != nullptr) filter(request, slot);
  if (Status status = plan(request, slot); !status.ok()) return status;
  run_round(number);
  if (Status status = merge(request, slot); !status.ok()) return status;
  const Result<bool> again = plan_again(request, slot);
  if (!again.ok()) return again.status();
  if (!again.value()) return {};
  run_round(number);
  return merge(request, slot);
}

Status CollectionPart::search(std::uint32_t number, const SearchRequest& request,
                              SearchAnswer& answer) {
  Slot& slot = *slots_[number];
  answer.found = 0;
  answer.counts = {};
  answer.coverage = 1;
  answer.attributes = nullptr;
  slot.used = 0;
  ViewPointer view;
  Status status;
  try {
    view = views_();
    status = attributes::require_tenants(*view->schema, request.condition);
    if (status.ok() && request.candidates) status = kNoCandidates;
    if (status.ok()) status = bind(*view, slot);
    if (status.ok()) status = search_legs(number, request);
    if (status.ok()) fill(request, slot, answer);
    if (status.ok() && request.attributes) attach_attributes(view, slot, answer);
  } catch (const std::exception& error) {
    status = failed_search(error);
  }
  release(slot);
  return status;
}

/// A core without searches releases segments too; otherwise it would keep their memory and files.
bool CollectionPart::poll() {
  bool any = false;
  if (const Ticks now = now_ticks(); now >= look_at_) {
    look_at_ = now + us_to_ticks(kLookUs);
    if (!bound_.empty()) {
      let_go(*views_());
      // One budget is for all segments.
      if (!bound_.empty()) bound_.begin()->second.segment->records().settle_pools();
    }
  }
  for (auto& [number, bound] : bound_) any = poll(number, bound) || any;
  return any;
}

/// A part's lasting loss is logged once; the part is made anew when its searches have ended.
bool CollectionPart::poll(std::uint64_t number, Bound& bound) {
  try {
    return bound.part->poll();
  } catch (const std::exception& error) {
    spdlog::error("segment {}: {}", number, error.what());
    bound.lost = true;
    return false;
  }
}

search::CoreStatistics CollectionPart::statistics() const {
  search::CoreStatistics sum = gone_;
  for (const auto& [number, bound] : bound_) {
    const search::CoreStatistics part = bound.part->statistics();
    add_counts(part, sum);
    sum.in_flight_reads += part.in_flight_reads;
    sum.dram_bytes += part.dram_bytes;
  }
  return sum;
}

std::unique_ptr<search::SearchCore> make_collection_core(ViewSource views, std::uint32_t slots) {
  return std::make_unique<search::CoreLoop>(
      search::CoreFibers{slots, slots * CollectionPart::kHelpers},
      [&](coroutines::Scheduler& scheduler) {
        return std::make_unique<CollectionPart>(std::move(views), slots, scheduler);
      });
}

}  // namespace farvec::collection
