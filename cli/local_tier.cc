#include "cli/local_tier.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>

#include "base/error.h"
#include "rpc/address.h"
#include "transport/emulated/emulated_endpoint.h"

namespace farvec::cli {
namespace {

using transport::TierKind;

class MemoryFile {
 public:
  explicit MemoryFile(std::uint64_t bytes) : fd_(memfd_create("farvec-records", MFD_CLOEXEC)) {
    if (fd_ < 0) throw SystemError(errno, "creating shared memory of {} bytes", bytes);
    if (ftruncate(fd_, static_cast<off_t>(bytes)) != 0) {
      const int error = errno;
      close(fd_);
      throw SystemError(error, "sizing shared memory to {} bytes", bytes);
    }
  }
  ~MemoryFile() { close(fd_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  int fd() const { return fd_; }

 private:
  int fd_;
};

std::shared_ptr<const transport::RegionSet> region_set(transport::MappedRegion region) {
  transport::RegionSet set;
  set.push_back(std::move(region));
  return std::make_shared<const transport::RegionSet>(std::move(set));
}

}  // namespace

std::span<const std::byte> LocalMemory::dram() {
  if (!dram_) dram_ = directory_.load_region(layout::kRecordsRegion, {.quiet = true});
  return dram_->span();
}

std::shared_ptr<const transport::RegionSet> LocalMemory::shared() {
  if (shared_) return shared_;
  const std::uint64_t bytes = directory_.manifest().region(layout::kRecordsRegion).file_bytes();
  const MemoryFile file(bytes);
  {
    auto writable =
        transport::MappedRegion::map_fd(file.fd(), bytes, transport::Access::read_write);
    directory_.load_region(layout::kRecordsRegion, writable.writable_bytes(), {.quiet = true});
  }
  shared_ = region_set(transport::MappedRegion::map_fd(file.fd(), bytes));
  return shared_;
}

LocalTier::LocalTier(const transport::TierSpec& spec, const compute_node::GraphIndex& index,
                     LocalMemory& memory, const rpc::TlsFiles& tls)
    : spec_(spec), index_(index), memory_(memory), name_(transport::to_string(spec)) {
  const std::uint64_t bytes = index.locator().region_bytes();
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
      attach(tls);
      break;
  }
}

void LocalTier::attach(const rpc::TlsFiles& tls) {
  if (spec_.path.empty()) {
    throw Error("--tier {0}: name the memory node, {0}:HOST:PORT or {0}:unix:PATH", name_);
  }
  compute_node::AttachOptions options;
  options.memory_node = rpc::parse_address(spec_.path);
  options.client = "farvec";
  options.tier = spec_;
  options.tls = rpc::load_tls(tls);
  attachment_ = compute_node::Attachment::attach(options);
  const layout::Manifest& theirs = attachment_->manifest();
  const layout::Manifest& ours = memory_.directory().manifest();
  if (theirs.region(layout::kRecordsRegion).checksums !=
      ours.region(layout::kRecordsRegion).checksums) {
    throw Error("the memory node at {} serves another index ({}, {} vectors) than '{}'", spec_.path,
                theirs.dataset.name, theirs.count, memory_.directory().path().string());
  }
  model_ = attachment_->make_endpoint()->description();
}

std::unique_ptr<compute_node::SearchCore> LocalTier::make_core(
    compute_node::SearchCoreOptions options) {
  using compute_node::SearchCore;
  switch (spec_.kind) {
    case TierKind::dram:
      return std::make_unique<SearchCore>(index_, memory_.dram(), options);
    case TierKind::shm:
      return std::make_unique<SearchCore>(index_, memory_.shared()->front().bytes(), options);
    case TierKind::file:
    case TierKind::devdax:
      return std::make_unique<SearchCore>(index_, mapped_->front().bytes(), options);
    case TierKind::verbs:
    case TierKind::fabric:
      return std::make_unique<SearchCore>(index_, attachment_->make_endpoint(), options);
    case TierKind::emulated:
      break;
  }
  if (spec_.model.reached_by_loads()) {
    options.device = device_;
    return std::make_unique<SearchCore>(index_, memory_.dram(), options);
  }
  auto below = std::make_unique<transport::MappedEndpoint>(mapped_);
  return std::make_unique<SearchCore>(
      index_, std::make_unique<transport::EmulatedEndpoint>(std::move(below), device_), options);
}

}  // namespace farvec::cli
