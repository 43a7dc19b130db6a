#include "compute_node/service/directory_backend.h"

#include "compute_node/disk_records.h"
#include "compute_node/index_loader.h"
#include "transport/mapped/mapped_endpoint.h"

namespace farvec::compute_node {
namespace {

/// The records region in this process's own memory, and a view of it for endpoints.
struct Records {
  Records(const layout::IndexDirectory& directory, const layout::LoadOptions& options)
      : bytes(directory.load_region(layout::kRecordsRegion, options)),
        regions(std::make_shared<transport::RegionSet>()) {
    regions->push_back(transport::MappedRegion::borrow(bytes.span()));
  }
  HugeBuffer bytes;
  std::shared_ptr<transport::RegionSet> regions;
};

}  // namespace

DirectoryBackend::DirectoryBackend(const DaemonOptions& options)
    : options_(options),
      tier_(transport::parse_tier(options.tier.empty() ? "dram" : options.tier)) {
  using transport::TierKind;
  if (tier_.kind != TierKind::dram && tier_.kind != TierKind::emulated &&
      tier_.kind != TierKind::ssd) {
    throw Error("--tier {}: with --index the tier is dram, ssd[:PATH] or emulated:MODEL",
                options.tier);
  }
}

void DirectoryBackend::load_records(const layout::IndexDirectory& directory,
                                    const layout::LoadOptions& options,
                                    IndexSessionOptions& session) const {
  const auto records = std::make_shared<const Records>(directory, options);
  session.records = records->bytes.span();
  session.owner = records;
  if (tier_.kind != transport::TierKind::emulated) return;
  session.emulate(tier_.model, [records] {
    return std::make_unique<transport::MappedEndpoint>(
        records->regions, transport::MappedOptions{.by_reference = true});
  });
}

std::unique_ptr<SearchSession> DirectoryBackend::open(std::chrono::milliseconds,
                                                      const std::atomic<bool>& stop) {
  layout::LoadOptions options;
  options.on_chunk = [&stop](std::uint64_t) {
    // Relaxed: only the flag itself matters.
    if (stop.load(std::memory_order_relaxed)) throw UnreachableError("loading was stopped");
  };
  const auto directory = layout::IndexDirectory::open(options_.index);
  if (directory.manifest().is_slotted()) {
    throw Error(
        "'{}': layout slotted is searched with `farvec search --tier ssd`; a compute node "
        "reads csr, padded and clusters, also with --tier ssd",
        options_.index);
  }
  SearchIndex index = load_search_index(directory, options);
  IndexSessionOptions session;
  session.core = core_options(options_);
  session.core.merge_gap_bytes = transport::bytes_per_request(tier_);
  session.cores = options_.threads;
  session.tier = transport::to_string(tier_);
  session.generation = 1;
  if (tier_.kind == transport::TierKind::ssd) {
    session.make_endpoint = [records = open_disk_records(directory, tier_.path),
                             reads = disk_reads(index)] {
      return make_disk_endpoint(records, reads, ssd_baseline::DiskThread::owner);
    };
  } else {
    load_records(directory, options, session);
  }
  return std::make_unique<IndexSession>(std::move(index), directory.manifest(), std::move(session));
}

}  // namespace farvec::compute_node
