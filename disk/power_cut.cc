#include "disk/power_cut.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <map>

#include "base/check.h"
#include "base/descriptor.h"

namespace farvec::disk {
namespace {

constexpr std::size_t kSectorBytes = 512;

}  // namespace

void PowerCut::cut_after(std::uint64_t requests) {
  const std::lock_guard lock(mutex_);
  left_ = requests;
}

void PowerCut::cut() {
  off_.store(true, std::memory_order_release);  // pairs with off()
}

/// Returns false when the power is off.
bool PowerCut::admit(const BlockRequest& request) {
  const std::lock_guard lock(mutex_);
  if (off()) return false;
  if (request.operation == DiskOperation::read || left_-- > 0) return true;
  cut();
  return false;
}

std::shared_ptr<PowerCut::Write> PowerCut::remember(const DiskFile& file,
                                                    const BlockRequest& request) {
  auto write = std::make_shared<Write>();
  write->path = file.path();
  write->offset = request.offset;
  write->after.assign(request.memory, request.memory + request.bytes);
  const std::size_t alignment = std::max<std::size_t>(file.memory_alignment(), kSectorBytes);
  const std::unique_ptr<void, decltype(&std::free)> block(
      std::aligned_alloc(alignment, request.bytes), &std::free);
  const auto count =
      pread(file.descriptor(), block.get(), request.bytes, static_cast<off_t>(request.offset));
  FARVEC_CHECK(count == static_cast<ssize_t>(request.bytes), "the simulated disk cannot be read");
  const auto* const bytes = static_cast<const std::byte*>(block.get());
  write->before.assign(bytes, bytes + request.bytes);
  const std::lock_guard lock(mutex_);
  writes_.push_back(write);
  return write;
}

std::vector<std::shared_ptr<PowerCut::Write>> PowerCut::ended_writes() {
  const std::lock_guard lock(mutex_);
  std::vector<std::shared_ptr<Write>> ended;
  std::ranges::copy_if(writes_, std::back_inserter(ended), [](const auto& w) { return w->ended; });
  return ended;
}

void PowerCut::forget(const std::vector<std::shared_ptr<Write>>& writes) {
  const std::lock_guard lock(mutex_);
  std::erase_if(
      writes_, [&](const auto& write) { return std::ranges::find(writes, write) != writes.end(); });
}

void PowerCut::lose_unsynced() {
  const std::lock_guard lock(mutex_);
  std::map<std::pair<std::string, std::uint64_t>, std::vector<const std::byte*>> versions;
  for (const auto& write : writes_) {
    for (std::size_t at = 0; at < write->after.size(); at += kSectorBytes) {
      auto& of_sector = versions[{write->path, write->offset + at}];
      if (of_sector.empty()) of_sector.push_back(write->before.data() + at);
      of_sector.push_back(write->after.data() + at);
    }
  }
  for (const auto& [place, choices] : versions) {
    const Descriptor file(open(place.first.c_str(), O_WRONLY | O_CLOEXEC));
    const std::byte* const chosen = choices[random_.below(choices.size())];
    FARVEC_CHECK(pwrite(file.get(), chosen, kSectorBytes, static_cast<off_t>(place.second)) ==
                     static_cast<ssize_t>(kSectorBytes),
                 "the simulated disk cannot be written");
  }
  writes_.clear();
  left_ = ~std::uint64_t{0};
  off_.store(false, std::memory_order_release);  // pairs with off()
}

void PowerCutQueue::submit(std::span<const BlockRequest> requests) {
  std::vector<BlockRequest> forwarded;
  for (const BlockRequest& request : requests) {
    if (!power_->admit(request)) {
      ready_.push_back({request.id, -EIO});
      continue;
    }
    forwarded.push_back(request);
    if (request.operation == DiskOperation::write) {
      out_.push_back({request.id, false, {power_->remember(*files()[request.file], request)}});
    } else if (request.operation == DiskOperation::sync) {
      out_.push_back({request.id, true, power_->ended_writes()});
    }
  }
  if (!forwarded.empty()) below_->submit(forwarded);
}

std::size_t PowerCutQueue::reap(std::span<BlockResult> results) {
  std::size_t count = 0;
  for (; count < results.size() && !ready_.empty(); ++count) {
    results[count] = ready_.back();
    ready_.pop_back();
  }
  const std::size_t found = below_->reap(results.subspan(count));
  for (std::size_t i = count; i < count + found; ++i) {
    const auto out = std::ranges::find(out_, results[i].id, &Out::id);
    if (out == out_.end()) continue;
    if (out->sync && results[i].result == 0) power_->forget(out->writes);
    if (!out->sync) out->writes.front()->ended = true;
    out_.erase(out);
  }
  return count + found;
}

}  // namespace farvec::disk
