#include "compute_node/service/directory_backend.h"

#include <sys/mman.h>
#include <unistd.h>

#include "compute_node/index_loader.h"
#include "compute_node/service/graph_session.h"
#include "layout/index_directory.h"
#include "transport/emulated/emulated_endpoint.h"
#include "transport/mapped/mapped_endpoint.h"

namespace farvec::compute_node {
namespace {

/// The records region in anonymous memory that endpoints can map.
std::shared_ptr<transport::RegionSet> load_records(const layout::IndexDirectory& directory) {
  const std::uint64_t bytes = directory.manifest().region(0).file_bytes();
  const int fd = memfd_create("farvec-records", MFD_CLOEXEC);
  if (fd < 0) throw SystemError(errno, "cannot create {} bytes of memory for records", bytes);
  try {
    if (ftruncate(fd, static_cast<off_t>(bytes)) != 0) {
      throw SystemError(errno, "cannot reserve {} bytes of memory for records", bytes);
    }
    auto regions = std::make_shared<transport::RegionSet>();
    regions->push_back(transport::MappedRegion::map_fd(fd, bytes, transport::Access::read_write));
    directory.load_region(0, regions->front().writable_bytes().first(bytes));
    close(fd);
    return regions;
  } catch (...) {
    close(fd);
    throw;
  }
}

}  // namespace

DirectoryBackend::DirectoryBackend(const DaemonOptions& options)
    : options_(options),
      tier_(transport::parse_tier(options.tier.empty() ? "dram" : options.tier)) {
  if (tier_.kind != transport::TierKind::dram && tier_.kind != transport::TierKind::emulated) {
    throw Error("--tier {}: with --index the tier is dram or emulated:MODEL", options.tier);
  }
}

std::unique_ptr<SearchSession> DirectoryBackend::open(std::chrono::milliseconds) {
  const auto directory = layout::IndexDirectory::open(options_.index);
  GraphIndex index = load_graph_index(directory);
  auto regions = load_records(directory);
  GraphSessionOptions session;
  session.core = core_options(options_);
  session.cores = options_.threads;
  session.tier = transport::to_string(tier_);
  session.generation = 1;
  session.records = regions->front().bytes();
  session.owner = regions;
  if (tier_.kind == transport::TierKind::emulated) {
    auto device = std::make_shared<transport::Device>(tier_.model);
    session.make_endpoint = [regions, device] {
      return std::make_unique<transport::EmulatedEndpoint>(
          std::make_unique<transport::MappedEndpoint>(regions), device);
    };
  }
  return std::make_unique<GraphSession>(std::move(index), directory.manifest(), std::move(session));
}

}  // namespace farvec::compute_node
