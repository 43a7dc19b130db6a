#include "memory_node/publisher.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "base/error.h"
#include "memory_node/index_files.h"

namespace farvec::memory_node {
namespace {

/// The bound is there because each has listeners, and a thread for some of them.
constexpr std::uint64_t kMostSegments = 1024;

/// Returns the port for a table, because two tables cannot listen on one port.
std::uint16_t rdma_port(const PublisherOptions& options, std::uint32_t slot) {
  if (options.paths.rdma_port == 0) return 0;
  const std::uint64_t port = std::uint64_t{options.paths.rdma_port} + options.taken_ports + slot;
  if (port > std::numeric_limits<std::uint16_t>::max()) {
    throw Error("--rdma-port {}: there is no port for {} tables at a time", options.paths.rdma_port,
                slot + 1);
  }
  return static_cast<std::uint16_t>(port);
}

/// A sixteenth of --segment-bytes is for catalogues alone, which have some thousandths of their
/// segments' bytes.
constexpr std::uint64_t kCatalogueShare = 16;

/// Throws errors of `action`, which are due to the index, as RefusedIndex.
template <typename Action>
auto refusing_index(const Action& action) {
  try {
    return action();
  } catch (const Error& error) {
    throw RefusedIndex("{}", error.what());
  }
}

layout::IndexDirectory open_index(const std::string& index) {
  return refusing_index([&] { return layout::IndexDirectory::open(index); });
}

/// Says whether the table has these files and no others.
bool has_files(const RegionTable& table, const std::vector<HeldFile>& files) {
  return table.file_checksums.size() == files.size() &&
         std::all_of(files.begin(), files.end(), [&table](const HeldFile& file) {
           return table.file_checksums.contains(file.kind) &&
                  table.file_checksum(file.kind) == file.checksum;
         });
}

std::vector<std::shared_ptr<const OpenedFile>> open_files(const Publisher::Part& part) {
  std::vector<std::shared_ptr<const OpenedFile>> files;
  for (const HeldFile& file : part.files) {
    files.push_back(std::make_shared<const OpenedFile>(file, part.key));
  }
  return files;
}

/// False: it is still read. A failure to write is not retried: the device keeps the index until it
/// is removed by hand.
bool remove_stored(device::DeviceStore& store, std::uint64_t generation) {
  const layout::DeviceDirectory directory = store.directory();
  for (std::uint32_t slot = 0; slot < layout::kDeviceSlots; ++slot) {
    const auto& index = directory.slots[slot];
    if (!index || index->generation != generation) continue;
    try {
      if (!store.remove(slot)) return false;
      spdlog::info("'{}' was replaced and has no reader any more: {} bytes of {} are free",
                   index->name, index->taken_bytes(), store.memory().path());
    } catch (const std::exception& error) {
      spdlog::error("'{}' stays on {}: {}", index->name, store.memory().path(), error.what());
    }
  }
  return true;
}

}  // namespace

std::uint64_t Publisher::Part::file_bytes() const {
  std::uint64_t sum = 0;
  for (const HeldFile& file : files) sum += file.bytes;
  return sum;
}

std::shared_ptr<const RegionTable> Publisher::publish(const std::string& index,
                                                      const std::function<bool()>& cancelled) {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock()) throw PublisherBusy();
  const std::uint64_t loaded_before = state_.loaded_bytes.load(kRelaxed);
  const std::uint64_t total_before = state_.total_bytes.load(kRelaxed);
  try {
    const auto before = state_.publications.current();
    const auto publication = load(index, cancelled);
    state_.publications.publish(publication);
    const auto& table = publication->table;
    spdlog::info("published {}, generation {}{}",
                 index.empty() ? "'" + table->stored->entry().name + "'" : index, table->generation,
                 table->attached ? fmt::format(", attached in {:.3f} s", table->load_seconds) : "");
    if (table->stored != nullptr) replace_stored(*table, before ? before->table.get() : nullptr);
    verify(table);
    return table;
  } catch (...) {
    state_.loaded_bytes.store(loaded_before, kRelaxed);
    state_.total_bytes.store(total_before, kRelaxed);
    throw;
  }
}

/// `cancelled` must outlive it.
LoadRequest Publisher::request_for(std::uint32_t slot,
                                   const std::function<bool()>& cancelled) const {
  LoadRequest request = options_.load;
  request.slot = slot;
  request.stop = [this, &cancelled] {
    return (options_.stop != nullptr && options_.stop->load(kRelaxed)) ||
           (cancelled && cancelled());
  };
  return request;
}

std::shared_ptr<const RegionTable> Publisher::publish_part(const Part& part,
                                                           const std::function<bool()>& cancelled) {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock()) throw PublisherBusy();
  return part.index.empty() ? publish_catalogue(part, cancelled) : publish_segment(part, cancelled);
}

std::shared_ptr<const RegionTable> Publisher::publish_segment(
    const Part& part, const std::function<bool()>& cancelled) {
  const auto directory = open_index(part.index);
  layout::require_memory_layout(directory.manifest(), part.index);
  const auto held = state_.publications.segment(part.key);
  if (held != nullptr && has_files(*held->table, part.files) &&
      held->table->manifest_json == layout::manifest_to_json(directory.manifest())) {
    return held->table;
  }
  auto files = open_files(part);
  require_room(directory.manifest().node_bytes(options_.load.node) + part.file_bytes(), false,
               fmt::format("segment {}", part.key.number));
  return hold(part, std::move(files), cancelled,
              [&](const LoadRequest& request) { return load_index(directory, request); });
}

std::shared_ptr<const RegionTable> Publisher::publish_catalogue(
    const Part& part, const std::function<bool()>& cancelled) {
  auto files = open_files(part);
  require_room(part.file_bytes(), true, "the catalogue");
  return hold(part, std::move(files), cancelled, load_file_alone);
}

/// Must be called under the lock of loads.
std::shared_ptr<const RegionTable> Publisher::hold(
    const Part& part, OpenedFiles files, const std::function<bool()>& cancelled,
    const std::function<std::shared_ptr<const RegionTable>(const LoadRequest&)>& load_part) {
  auto publication = std::make_shared<Publication>();
  publication->slot = state_.publications.free_slot();
  publication->segment = true;
  publication->catalogue = part.index.empty();
  publication->name = part.name;
  publication->revision = part.revision;
  LoadRequest request = request_for(publication->slot, cancelled);
  request.beside = std::move(files);
  publication->table = load_part(request);
  open_paths(*publication);
  state_.publications.put_segment(part.key, publication);
  spdlog::info("{} of collection {:016x} is held: {} bytes",
               part.index.empty() ? fmt::format("revision {}", part.revision)
                                  : fmt::format("segment {}", part.key.number),
               part.key.collection, publication->table->total_bytes());
  return publication->table;
}

void Publisher::require_place(const std::string& part) {
  state_.publications.collect();
  if (state_.publications.usage().segments < kMostSegments) return;
  throw NoRoom("{} has no place: {} segments are in memory, of which some may be read still", part,
               kMostSegments);
}

void Publisher::require_room(std::uint64_t bytes, bool catalogue, const std::string& part) {
  require_place(part);
  const Publications::Usage usage = state_.publications.usage();
  const std::uint64_t share = options_.segment_bytes / kCatalogueShare;
  const std::uint64_t kept = catalogue ? 0 : share - std::min(share, usage.catalogue_bytes);
  const std::uint64_t most = options_.segment_bytes - kept;
  if (bytes <= most && usage.segment_bytes <= most - bytes) return;
  throw NoRoom(
      "{} of {} bytes has no room: segments and catalogues have {} of {} bytes (--segment-bytes, "
      "of which {} are kept for catalogues), which also those have that were dropped and are still "
      "read",
      part, bytes, usage.segment_bytes, options_.segment_bytes, kept);
}

std::shared_ptr<const Publication> Publisher::load(const std::string& index,
                                                   const std::function<bool()>& cancelled) {
  auto publication = std::make_shared<Publication>();
  publication->slot = state_.publications.free_slot();
  LoadRequest request = request_for(publication->slot, cancelled);
  request.loaded_bytes = &state_.loaded_bytes;
  publication->table = load_table(index, request);
  if (publication->table->attached) {
    state_.total_bytes.store(publication->table->total_bytes(), kRelaxed);
    state_.loaded_bytes.store(publication->table->total_bytes(), kRelaxed);
  }
  open_paths(*publication);
  return publication;
}

std::shared_ptr<const RegionTable> Publisher::load_table(const std::string& index,
                                                         const LoadRequest& request) {
  state_.loaded_bytes.store(0, kRelaxed);
  if (index.empty()) return attach_newest(request);
  const auto directory = open_index(index);
  layout::require_memory_layout(directory.manifest(), index);
  LoadRequest with_attributes = request;
  refusing_index([&] { with_attributes.beside = open_attributes(directory, request); });
  state_.total_bytes.store(
      bytes_to_load(directory.manifest(), request.node) + bytes_of(with_attributes.beside),
      kRelaxed);
  auto table = load_index(directory, with_attributes);
  refusing_index([&] { require_attributes(*table, directory); });
  return table;
}

void Publisher::replace_stored(const RegionTable& table, const RegionTable* before) {
  const layout::DeviceIndex& now = table.stored->entry();
  const layout::DeviceDirectory directory = options_.load.device->directory();
  const std::lock_guard lock(replaced_mutex_);
  if (before != nullptr) replaced_.push_back(before->stored->entry().generation);
  for (const auto& index : directory.slots) {
    if (index && index->node == now.node && index->name == now.name &&
        index->sequence < now.sequence) {
      replaced_.push_back(index->generation);
    }
  }
  // A generation that was replaced once and is published again stays.
  std::erase(replaced_, now.generation);
}

void Publisher::verify(std::shared_ptr<const RegionTable> table) {
  verifier_ = {};  // the index before this one is not needed any more
  state_.verified_bytes.store(table->attached ? 0 : table->total_bytes(), kRelaxed);
  if (!table->attached) return;
  verifier_ = std::jthread([this, table = std::move(table)](const std::stop_token& ended) {
    try {
      // It uses one thread, because searches have the rest of the machine.
      table->stored->verify(1, [this, &ended](std::uint64_t bytes) {
        if (ended.stop_requested()) throw LoadStopped();
        state_.verified_bytes.fetch_add(bytes, kRelaxed);
      });
      spdlog::info("verified: generation {} is what was stored", table->generation);
    } catch (const LoadStopped&) {
      spdlog::info("generation {} was not verified to its end", table->generation);
    } catch (const std::exception& error) {
      state_.damaged.fetch_add(1, kRelaxed);
      spdlog::error("serving damaged bytes: {}", error.what());
    }
  });
}

void Publisher::collect() {
  state_.publications.collect();
  const std::lock_guard lock(replaced_mutex_);
  std::erase_if(replaced_, [this](std::uint64_t generation) {
    return remove_stored(*options_.load.device, generation);
  });
}

void Publisher::open_paths(Publication& publication) const {
  const ReadPathInputs inputs{*publication.table, state_.leases, options_.paths.max_leases,
                              options_.paths.connections_per_lease};
  publication.paths =
      open_read_paths(options_.paths, inputs, rdma_port(options_, publication.slot));
}

}  // namespace farvec::memory_node
