#include "memory_node/log_store.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/error.h"
#include "memory_node/backing/memory_info.h"
#include "memory_node/random_id.h"

namespace farvec::memory_node {
namespace {

void require_log_memory(const LogOptions& options) {
  if (is_stored(options.backing.kind)) {
    throw Error(
        "a log cannot lie on a memory device (--backing {}): start a node with dram, shm "
        "or file for it",
        to_string(options.backing.kind));
  }
  if (options.backing.kind == BackingKind::file) return;
  const std::uint64_t needed[] = {options.bytes};
  require_memory(options.bytes, available_bytes(memory_info(), options.backing.kind, needed));
}

std::shared_ptr<const Publication> open_log(const LogOptions& options, const LeaseTable& leases) {
  require_log_memory(options);
  auto table = std::make_shared<RegionTable>();
  Region region{0, "log", options.bytes, open_backing(options.backing, "log", options.bytes)};
  region.backing->seal_length();
  spdlog::info("log: {} bytes in {}", region.bytes, region.backing->description());
  table->regions.push_back(std::move(region));
  table->generation = random_u64();
  auto publication = std::make_shared<Publication>();
  publication->table = table;
  const ReadPathInputs inputs{*table, leases, options.paths.max_leases,
                              options.paths.connections_per_lease, true};
  publication->paths = open_read_paths(options.paths, inputs, options.paths.rdma_port);
  return publication;
}

}  // namespace

LogStore::LogStore(const LogOptions& options, LeaseTable& leases)
    : leases_(leases), publication_(open_log(options, leases)) {}

std::optional<LogStore::Holder> LogStore::grant_writer(const std::string& owner,
                                                       std::uint64_t epoch_above) {
  FARVEC_CHECK(epoch_above <= kMaxAskedEpoch);
  const std::lock_guard lock(mutex_);
  const auto lease = leases_.grant(owner, LeaseTable::Clock::now(), LeaseKind::write, publication_);
  if (!lease) return std::nullopt;
  // The listeners look for ended leases only from time to time: the former writer may still be
  // connected.
  if (newest_writer_) {
    for (const auto& path : publication_->paths) path->revoke(*newest_writer_);
  }
  newest_writer_ = lease;
  epoch_ = std::max(epoch_, epoch_above) + 1;
  return Holder{*lease, epoch_};
}

std::optional<LogStore::Holder> LogStore::grant_reader(const std::string& owner,
                                                       const std::optional<LeaseId>& writer) {
  const std::lock_guard lock(mutex_);
  const auto now = LeaseTable::Clock::now();
  std::optional<LeaseId> lease = writer ? leases_.grant_beside(*writer, owner, now) : std::nullopt;
  if (!lease) lease = leases_.grant(owner, now, LeaseKind::read, publication_);
  if (!lease) return std::nullopt;
  return Holder{*lease, epoch_};
}

std::uint64_t LogStore::epoch() const {
  const std::lock_guard lock(mutex_);
  return epoch_;
}

}  // namespace farvec::memory_node
