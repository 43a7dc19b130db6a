#include "cli/local_tier.h"

#include "base/check.h"
#include "base/error.h"
#include "search/disk_records.h"
#include "search/index_loader.h"
#include "transport/emulated/emulated_endpoint.h"

namespace farvec::cli {

using transport::TierKind;

namespace {
/// For memory nodes that are just coming up.
constexpr std::chrono::milliseconds kPatience{10'000};

ssd_baseline::SlottedSearchOptions slotted_options(const CoreRequest& request) {
  auto options = search::slotted_options(request.disk);
  options.cores = request.cores;
  options.slots = request.options.slots;
  options.list = request.list;
  options.width = request.width;
  options.k = request.k;
  return options;
}
}  // namespace

std::span<const std::byte> LocalMemory::dram() {
  if (!dram_) dram_ = directory_.load_region(layout::kRecordsRegion, {.quiet = true});
  return dram_->span();
}

std::shared_ptr<const transport::RegionSet> LocalMemory::shared() {
  if (shared_) return shared_;
  const std::uint64_t bytes = directory_.manifest().region(layout::kRecordsRegion).file_bytes();
  shared_ = make_shared_memory(bytes, [this](std::span<std::byte> memory) {
    directory_.load_region(layout::kRecordsRegion, memory, {.quiet = true});
  });
  return shared_;
}

LocalTier::LocalTier(const transport::TierSpec& spec, const search::SearchIndex& index,
                     LocalMemory& memory, const RemoteAccess& access)
    : spec_(spec), index_(index), memory_(memory), name_(transport::to_string(spec)) {
  const std::uint64_t bytes = index.region_bytes();
  if (spec.kind != TierKind::ssd) {
    layout::require_memory_layout(memory.directory().manifest(),
                                  memory.directory().path().string());
  }
  switch (spec.kind) {
    case TierKind::dram:
      model_ = "this process's DRAM";
      break;
    case TierKind::shm:
      model_ = "shared memory (memfd), read-only mapping";
      break;
    case TierKind::file:
    case TierKind::devdax:
      mapped_ = region_set(
          transport::MappedRegion::map_file(spec.path, transport::Access::read_only, bytes));
      memory.directory().check_header(layout::kRecordsRegion, mapped_->front().bytes(), spec.path);
      model_ = "mapped " + spec.path;
      break;
    case TierKind::emulated:
      device_ = std::make_shared<transport::Device>(spec.model);
      // Over private memory in huge pages, as local DRAM has it: only the model makes a difference.
      mapped_ = region_set(transport::MappedRegion::borrow(memory.dram()));
      model_ = "emulated(" + transport::to_string(spec.model) + ")";
      break;
    case TierKind::verbs:
    case TierKind::fabric:
      attach(access);
      break;
    case TierKind::ssd:
      open_disk();
      break;
  }
}

void LocalTier::open_disk() {
  if (index_.slotted() != nullptr) {
    slotted_.emplace(spec_.path, memory_.directory(), *index_.slotted());
    model_ = slotted_->model();
    return;
  }
  records_ = search::open_disk_records(memory_.directory(), spec_.path);
  model_ = disk_endpoint()->description();
}

/// Every batch of queries runs on threads of its own.
std::unique_ptr<transport::Endpoint> LocalTier::disk_endpoint() const {
  return search::make_disk_endpoint(records_, search::disk_reads(index_), disk::DiskThread::any);
}

std::optional<std::size_t> LocalTier::memory_bytes(const CoreRequest& request) const {
  if (slotted_) return slotted_->plan(slotted_options(request)).total();
  if (records_ == nullptr) return std::nullopt;
  const search::DiskSearches searches{.cores = request.cores,
                                      .slots = request.options.slots,
                                      .cache_bytes = request.options.cache_bytes,
                                      .list = request.list,
                                      .width = request.width,
                                      .probe = request.probe};
  return search::plan_disk_memory(index_, *records_, searches, request.disk.memory_budget).total();
}

std::uint32_t LocalTier::choose_slots(const CoreRequest& request, VectorView queries,
                                      const BatchParameters& parameters) const {
  constexpr std::uint32_t kMemorySlots = 16;
  if (!slotted_) return kMemorySlots;
  return slotted_->choose_slots(slotted_options(request), queries, parameters);
}

std::vector<std::unique_ptr<search::SearchCore>> LocalTier::make_cores(const CoreRequest& request) {
  if (slotted_) return slotted_->make_cores(slotted_options(request));
  (void)memory_bytes(request);  // before anything is allocated
  std::vector<std::unique_ptr<search::SearchCore>> cores;
  for (std::uint32_t c = 0; c < request.cores; ++c) cores.push_back(make_core(request.options));
  return cores;
}

void LocalTier::attach(const RemoteAccess& access) {
  nodes_ = std::make_shared<tiers::NodeSet>(node_set_options(spec_, access));
  nodes_->wait_ready(kPatience);
  const layout::Manifest& theirs = nodes_->manifest();
  const layout::Manifest& ours = memory_.directory().manifest();
  if (theirs.region(layout::kRecordsRegion).checksums !=
      ours.region(layout::kRecordsRegion).checksums) {
    throw Error("the memory node at {} serves another index ({}, {} vectors) than '{}'", spec_.path,
                theirs.dataset.name, theirs.count, memory_.directory().path().string());
  }
  if (theirs.placement) search::check_placement(*theirs.placement, index_);
  model_ = nodes_->make_endpoint()->description();
}

std::optional<std::uint32_t> LocalTier::merge_gap_bytes() const {
  if (nodes_ != nullptr && nodes_->manifest().placement) return std::nullopt;
  return transport::bytes_per_request(spec_);
}

std::unique_ptr<search::SearchCore> LocalTier::make_core(search::SearchCoreOptions options) {
  if (!options.merge_gap_bytes) options.merge_gap_bytes = merge_gap_bytes();
  switch (spec_.kind) {
    case TierKind::dram:
      return search::make_core(index_, memory_.dram(), options);
    case TierKind::shm:
      return search::make_core(index_, memory_.shared()->front().bytes(), options);
    case TierKind::file:
    case TierKind::devdax:
      return search::make_core(index_, mapped_->front().bytes(), options);
    case TierKind::verbs:
    case TierKind::fabric:
      return search::make_core(index_, nodes_->make_endpoint(), options);
    case TierKind::ssd:
      FARVEC_CHECK(!slotted_, "cores of slotted pages share a pool: make_cores()");
      return search::make_core(index_, disk_endpoint(), options);
    case TierKind::emulated:
      break;
  }
  if (spec_.model.reached_by_loads()) {
    options.device = device_;
    return search::make_core(index_, memory_.dram(), options);
  }
  auto below = std::make_unique<transport::MappedEndpoint>(
      mapped_, transport::MappedOptions{.by_reference = true});
  return search::make_core(
      index_, std::make_unique<transport::EmulatedEndpoint>(std::move(below), device_), options);
}

}  // namespace farvec::cli
