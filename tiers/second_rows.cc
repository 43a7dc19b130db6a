#include "tiers/second_rows.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "base/error.h"

namespace farvec::tiers {
namespace {

/// Adds the second copy to the parts of other cores.
class RefinedCores final : public CoreSet {
 public:
  RefinedCores(std::unique_ptr<const CoreSet> inner, const search::SearchIndex& index,
               const Tier& tier, const search::RefineOptions& options)
      : inner_(std::move(inner)), index_(index), tier_(tier), options_(options) {}

  std::uint32_t slots() const override { return inner_->slots(); }
  search::CoreFibers fibers() const override { return inner_->fibers(); }
  std::unique_ptr<search::CorePart> make_part(coroutines::Scheduler& scheduler) const override {
    return search::make_refined_part(inner_->make_part(scheduler), index_, tier_.make_endpoint(),
                                     options_, scheduler);
  }

 private:
  const std::unique_ptr<const CoreSet> inner_;
  const search::SearchIndex& index_;
  const Tier& tier_;
  const search::RefineOptions options_;
};

TierContext of_second(const search::SearchIndex& index, SecondMemory& memory,
                      const TierContext& context) {
  TierContext second = context;
  second.memory = &memory;
  second.index = nullptr;
  second.second = index.second();
  return second;
}

}  // namespace

RegionSetPointer SecondMemory::map(const std::string& path) const {
  if (std::filesystem::is_regular_file(path) && std::filesystem::file_size(path) < bytes()) {
    throw Error(
        "'{}' has {} bytes, but the second copy '{}' has {}: name the tier from which it is "
        "read (--second-tier)",
        path, std::filesystem::file_size(path), second_.file().path(), bytes());
  }
  auto mapped =
      region_set(transport::MappedRegion::map_file(path, transport::Access::read_only, bytes()));
  second_.form().require_same(mapped->front().bytes(), path);
  return mapped;
}

RegionSetPointer SecondMemory::map_stored(const std::string& path) const {
  throw Error(
      "{} does not hold the second copy '{}': name the tier from which it is read "
      "(--second-tier ssd)",
      path, second_.file().path());
}

SecondRows::SecondRows(const TierSpec& spec, const search::SearchIndex& index,
                       const TierContext& context)
    : index_(index),
      memory_(std::in_place, *index.second(),
              context.memory == nullptr ? 0 : context.memory->load_options().threads),
      in_own_memory_(spec.traits().own_memory && context.nodes == nullptr),
      in_dram_(spec.traits().dram),
      own_(spec.open(of_second(index, *memory_, context))),
      tier_(*own_) {}

SecondRows::SecondRows(const Tier& records, const search::SearchIndex& index)
    : index_(index), in_own_memory_(false), in_dram_(false), tier_(records) {}

search::RefineOptions SecondRows::options(const search::SearchShape& shape) const {
  return {.candidates = std::max(shape.list, shape.k),
          .region = tier_.second_region().value_or(0),
          .checked = in_own_memory_};
}

std::size_t SecondRows::memory_bytes(const search::SearchShape& shape) const {
  const search::SecondCopy& second = *index_.second();
  const std::size_t core =
      search::refined_bytes(second, shape.slots, shape.k, options(shape)) + tier_.endpoint_bytes();
  return shape.cores * core + (in_dram_ ? second.geometry().file_bytes() : 0);
}

std::unique_ptr<const CoreSet> SecondRows::refined(std::unique_ptr<const CoreSet> inner,
                                                   const search::SearchShape& shape) const {
  tier_.load();  // here, not in the threads of the cores
  return std::make_unique<const RefinedCores>(std::move(inner), index_, tier_, options(shape));
}

}  // namespace farvec::tiers
