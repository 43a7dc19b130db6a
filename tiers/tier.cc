#include "tiers/tier.h"

#include <algorithm>
#include <utility>

#include "layout/index/manifest.h"
#include "search/core/core_loop.h"
#include "search/filter/filtered_part.h"
#include "tiers/second_rows.h"

namespace farvec::tiers {
namespace {

/// Makes cores that share nothing but the tier.
class SeparateCores final : public CoreSet {
 public:
  SeparateCores(const Tier& tier, const search::SearchIndex& index,
                const search::SearchShape& shape)
      : tier_(tier), index_(index), options_(search::core_options(shape)) {
    if (!options_.merge_gap_bytes) options_.merge_gap_bytes = tier.merge_gap_bytes();
    options_.request_bytes = tier.merge_gap_bytes().value_or(0);
    tier.load();  // here, not in the threads of the cores
  }

  std::uint32_t slots() const override { return options_.slots; }
  std::unique_ptr<search::CorePart> make_part(coroutines::Scheduler& scheduler) const override {
    const std::span<const std::byte> loads = tier_.loads();
    if (loads.empty()) return search::make_part(index_, tier_.make_endpoint(), options_, scheduler);
    search::SearchCoreOptions options = options_;
    options.device = tier_.device();
    return search::make_part(index_, loads, options, scheduler);
  }

 private:
  const Tier& tier_;
  const search::SearchIndex& index_;
  search::SearchCoreOptions options_;
};

/// Adds conditions to the parts of other cores.
class FilteredCores final : public CoreSet {
 public:
  FilteredCores(std::unique_ptr<const CoreSet> inner, const search::SearchIndex& index)
      : inner_(std::move(inner)), index_(index) {}

  std::uint32_t slots() const override { return inner_->slots(); }
  search::CoreFibers fibers() const override { return inner_->fibers(); }
  std::unique_ptr<search::CorePart> make_part(coroutines::Scheduler& scheduler) const override {
    return search::make_filtered_part(inner_->make_part(scheduler), index_);
  }

 private:
  const std::unique_ptr<const CoreSet> inner_;
  const search::SearchIndex& index_;
};

}  // namespace

std::unique_ptr<search::SearchCore> CoreSet::make_core() const {
  return std::make_unique<search::CoreLoop>(
      fibers(), [this](coroutines::Scheduler& scheduler) { return make_part(scheduler); });
}

std::unique_ptr<Tier> Tier::open(const TierSpec& spec, const TierContext& context) {
  const layout::IndexDirectory* directory =
      context.memory == nullptr ? nullptr : context.memory->directory();
  if (directory != nullptr && !spec.traits().disk) {
    layout::require_memory_layout(directory->manifest(), directory->path().string());
  }
  std::unique_ptr<Tier> tier = spec.open(context);
  if (context.index == nullptr || context.index->second() == nullptr) return tier;
  if (context.second_tier == nullptr && tier->second_region()) {
    tier->second_ = std::make_unique<const SecondRows>(*tier, *context.index);
    return tier;
  }
  const TierSpec& second = context.second_tier != nullptr ? *context.second_tier : spec;
  TierContext shared = context;
  shared.device = context.second_tier == nullptr ? tier->device() : context.second_device;
  tier->second_ = std::make_unique<const SecondRows>(second, *context.index, shared);
  return tier;
}

Tier::Tier() = default;
Tier::~Tier() = default;

std::string Tier::second_description() const {
  return second_ == nullptr ? std::string() : second_->tier().description();
}

std::optional<search::DiskMemory> Tier::plan_records(const search::SearchIndex&,
                                                     const search::SearchShape&) const {
  return std::nullopt;
}

std::optional<search::DiskMemory> Tier::plan(const search::SearchIndex& index,
                                             const search::SearchShape& shape) const {
  return plan_records(index, shape_of_records(shape));
}

search::SearchShape Tier::shape_of_records(const search::SearchShape& shape) const {
  if (second_ == nullptr) return shape;
  search::SearchShape records = shape;
  records.k = std::max(shape.k, shape.list);
  records.second_bytes = second_->memory_bytes(shape);
  return records;
}

std::unique_ptr<const CoreSet> Tier::prepare(const search::SearchIndex& index,
                                             const search::SearchShape& shape) const {
  std::unique_ptr<const CoreSet> cores = prepare_cores(index, shape_of_records(shape));
  if (second_ != nullptr) cores = second_->refined(std::move(cores), shape);
  if (index.attributes() == nullptr) return cores;
  return std::make_unique<const FilteredCores>(std::move(cores), index);
}

std::unique_ptr<const CoreSet> Tier::prepare_cores(const search::SearchIndex& index,
                                                   const search::SearchShape& shape) const {
  (void)plan_records(index, shape);
  return std::make_unique<const SeparateCores>(*this, index, shape);
}

}  // namespace farvec::tiers
