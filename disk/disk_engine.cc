#include "disk/disk_engine.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <thread>
#include <utility>

#include "base/log.h"
#include "base/memory.h"
#include "disk/modelled_queue.h"
#include "disk/uring_queue.h"

namespace farvec::disk {
namespace {

constexpr Ticks kNever = std::numeric_limits<Ticks>::max();
constexpr auto kCloseInterval = std::chrono::microseconds(50);

bool aligned(std::uint64_t value, std::uint32_t power_of_two) {
  return (value & (power_of_two - 1)) == 0;
}

}  // namespace

DiskEngine::DiskEngine(std::unique_ptr<BlockQueue> queue, DiskEngineOptions options)
    : queue_(std::move(queue)),
      options_(options),
      slots_(queue_->capacity()),
      earliest_deadline_(kNever) {
  for (auto slot = queue_->capacity(); slot > 0; --slot) free_.push_back(slot - 1);
  submitted_.reserve(slots_.size());
  cancelled_.reserve(slots_.size());
}

DiskEngine::~DiskEngine() {
  close();
}

// The generation keeps a late cancellation from hitting the slot's next request.
std::uint64_t DiskEngine::id_of(std::uint32_t slot, std::uint32_t generation) {
  return (std::uint64_t{generation} << 32) | slot;
}

Status DiskEngine::check(const DiskRequest& request) const {
  if (request.file >= files().size()) return {StatusCode::invalid_argument, "no such file"};
  const DiskFile& file = *files()[request.file];
  const bool reads = request.operation == DiskOperation::read;
  if (!reads && !file.writable()) {
    return {StatusCode::invalid_argument, "the file was opened for reading"};
  }
  if (request.operation == DiskOperation::sync) {
    if (request.bytes == 0 && request.memory == nullptr) return {};
    return {StatusCode::invalid_argument, "a sync is of the whole file"};
  }
  if (request.bytes == 0 || request.bytes > kMaxDiskRequestBytes) {
    return {StatusCode::invalid_argument, "no bytes, or more than the engine takes at once"};
  }
  if (!aligned(request.offset | request.bytes, file.block_bytes()) ||
      !aligned(reinterpret_cast<std::uintptr_t>(request.memory), file.memory_alignment())) {
    return {StatusCode::invalid_argument, "the request is not aligned to the file's blocks"};
  }
  const std::uint64_t size = file.size();
  const std::uint64_t end = reads ? round_up(size, file.block_bytes()) : size;
  if (request.offset >= size || request.bytes > end - request.offset) {
    return {StatusCode::invalid_argument, "the request is outside its file"};
  }
  if (request.memory == nullptr) return {StatusCode::invalid_argument, "no memory to use"};
  return {};
}

Status DiskEngine::post(std::span<const DiskRequest> requests) {
  if (closed_) return {StatusCode::unavailable, "the disk engine was closed"};
  if (requests.size() > free_.size()) {
    return {StatusCode::resource_exhausted, "more requests than the disk engine has room for"};
  }
  for (const DiskRequest& request : requests) {
    if (Status status = check(request); !status.ok()) return status;
  }
  if (requests.empty()) return {};
  submitted_.clear();
  for (const DiskRequest& request : requests) {
    const std::uint32_t number = free_.back();
    free_.pop_back();
    Slot& slot = slots_[number];
    slot.request = request;
    slot.progress = {request.bytes, bytes_inside(request)};
    slot.state = State::out;
    earliest_deadline_ = std::min(earliest_deadline_, request.deadline);
    submitted_.push_back(remainder(number));
  }
  queue_->submit(submitted_);
  return {};
}

/// How many of the bytes are in the file.
std::uint32_t DiskEngine::bytes_inside(const DiskRequest& request) const {
  if (request.operation != DiskOperation::read) return request.bytes;
  const std::uint64_t inside = files()[request.file]->size() - request.offset;
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(request.bytes, inside));
}

/// The part of a request that has not been done yet.
BlockRequest DiskEngine::remainder(std::uint32_t number) const {
  const Slot& slot = slots_[number];
  const DiskRequest& request = slot.request;
  const std::uint32_t done = slot.progress.done();
  std::byte* const memory = request.memory == nullptr ? nullptr : request.memory + done;
  return {id_of(number, slot.generation), request.offset + done, memory,
          slot.progress.rest(),           request.file,          request.operation};
}

void DiskEngine::release(std::uint32_t number) {
  slots_[number].state = State::free;
  ++slots_[number].generation;
  free_.push_back(number);
}

/// Returns false when the request goes on.
bool DiskEngine::take(const BlockResult& result, DiskCompletion& completion) {
  const auto number = static_cast<std::uint32_t>(result.id);
  Slot& slot = slots_[number];
  FARVEC_CHECK(result.id == id_of(number, slot.generation) && slot.state != State::free,
               "a result of a request that is not out");
  if (slot.state == State::late) {
    completion = {.token = slot.request.token, .status = StatusCode::deadline_exceeded};
    release(number);
    return true;
  }
  if (slot.progress.take(result.result, files()[slot.request.file]->block_bytes())) {
    submitted_.push_back(remainder(number));
    return false;
  }
  completion = {.token = slot.request.token,
                .status = slot.progress.status(),
                .error = slot.progress.error(),
                .bytes = slot.progress.arrived()};
  release(number);
  return true;
}

std::size_t DiskEngine::poll(std::span<DiskCompletion> completions) {
  if (closed_ || completions.empty()) return 0;
  const std::size_t reaped =
      queue_->reap({results_.data(), std::min(results_.size(), completions.size())});
  std::size_t count = 0;
  submitted_.clear();
  for (std::size_t i = 0; i < reaped; ++i) {
    if (take(results_[i], completions[count])) ++count;
  }
  if (!submitted_.empty()) queue_->submit(submitted_);
  if (earliest_deadline_ == kNever) return count;
  const Ticks now = now_ticks();
  if (now >= earliest_deadline_) count += expire(completions.subspan(count), now);
  return count;
}

// earliest_deadline_ is a lower bound that the end of a request does not raise: a deadline costs at
// most one scan of all requests, when its time has come.
std::size_t DiskEngine::expire(std::span<DiskCompletion> completions, Ticks now) {
  std::size_t count = 0;
  cancelled_.clear();
  earliest_deadline_ = kNever;
  for (std::uint32_t number = 0; number < slots_.size(); ++number) {
    Slot& slot = slots_[number];
    if (slot.state != State::out) continue;
    if (slot.request.deadline > now || count == completions.size()) {
      earliest_deadline_ = std::min(earliest_deadline_, slot.request.deadline);
      continue;
    }
    slot.state = State::late;
    cancelled_.push_back(id_of(number, slot.generation));
    completions[count++] = {
        .token = slot.request.token, .status = StatusCode::deadline_exceeded, .returned = false};
  }
  if (!cancelled_.empty()) queue_->cancel(cancelled_);
  return count;
}

void DiskEngine::cancel_all() {
  cancelled_.clear();
  for (std::uint32_t number = 0; number < slots_.size(); ++number) {
    const Slot& slot = slots_[number];
    if (slot.state == State::out) cancelled_.push_back(id_of(number, slot.generation));
  }
  if (!cancelled_.empty()) queue_->cancel(cancelled_);
}

void DiskEngine::close() {
  if (closed_) return;
  cancel_all();
  const Ticks give_up = now_ticks() + us_to_ticks(options_.close_patience_us);
  while (outstanding() > 0 && now_ticks() < give_up) {
    const std::size_t reaped = queue_->reap(results_);
    for (std::size_t i = 0; i < reaped; ++i) release(static_cast<std::uint32_t>(results_[i].id));
    if (reaped == 0) std::this_thread::sleep_for(kCloseInterval);
  }
  closed_ = true;
  if (outstanding() > 0) {
    spdlog::error("{}: the kernel keeps {} requests for longer than {} s; their memory is lost",
                  description(), outstanding(), options_.close_patience_us / 1e6);
  }
}

std::string DiskEngine::description() const {
  std::string names;
  for (const auto& file : files()) names += file->description() + ", ";
  return names + queue_->description();
}

std::unique_ptr<DiskEngine> open_disk(DiskFiles files, std::uint32_t max_outstanding,
                                      const DiskUse& use) {
  const UringOptions ring{.capacity = max_outstanding, .plain = use.thread == DiskThread::any};
  std::unique_ptr<BlockQueue> queue = std::make_unique<UringQueue>(std::move(files), ring);
  if (use.model != nullptr) queue = std::make_unique<ModelledQueue>(std::move(queue), use.model);
  return std::make_unique<DiskEngine>(std::move(queue));
}

}  // namespace farvec::disk
