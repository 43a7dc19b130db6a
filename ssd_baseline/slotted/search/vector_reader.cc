#include "ssd_baseline/slotted/search/vector_reader.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/error.h"

namespace farvec::slotted {
namespace {

/// Most microseconds that a read may take, even when its search would wait for longer.
constexpr double kReadLimitUs = 10e6;

}  // namespace

VectorReader::VectorReader(disk::LoadQueue& queue, coroutines::Scheduler& scheduler,
                           const VectorFile& file, std::uint32_t buffers,
                           std::shared_ptr<ReadBuffers> memory)
    : queue_(queue),
      scheduler_(scheduler),
      file_(file),
      count_(buffers),
      stretch_(buffer_bytes(file.vector_bytes)),
      memory_(memory != nullptr ? std::move(memory)
                                : std::make_shared<ReadBuffers>(buffers, stretch_)) {
  FARVEC_CHECK(buffers > 0 && file.vector_bytes > 0);
  FARVEC_CHECK(queue.engine().files().size() > file.file, "the engine has no file of vectors");
  const disk::DiskFile& disk = disk_file();
  if (std::max(disk.block_bytes(), disk.memory_alignment()) > kLargestBlock) {
    throw Error("'{}' is read in blocks of {} bytes: vectors need {} or less", disk.path(),
                disk.block_bytes(), kLargestBlock);
  }
  reads_ = std::make_unique<Read[]>(count_);
  for (std::uint32_t i = count_; i > 0; --i) {
    Read& read = reads_[i - 1];
    read.load.read.file = file_.file;
    read.next = std::exchange(free_, &read);
  }
  starting_.reserve(count_);
}

VectorReader::~VectorReader() {
  queue_.close();
  while (late_ != nullptr) put_back(*std::exchange(late_, late_->next));
}

std::uint32_t VectorReader::under_way() const {
  std::uint32_t count = 0;
  for (std::uint32_t i = 0; i < count_; ++i) count += reads_[i].load.destination_out() ? 1 : 0;
  return count;
}

/// Takes a read that is not used, with a buffer; nullptr when there is none, or no buffer.
VectorReader::Read* VectorReader::take_free() {
  const auto short_of = [&] { return free_ == nullptr || memory_->unused() == 0; };
  for (Read** link = &late_; *link != nullptr && short_of();) {
    Read& read = **link;
    if (read.load.destination_out()) {
      link = &read.next;
    } else {
      *link = read.next;
      put_back(read);
    }
  }
  if (short_of()) return nullptr;
  Read* const read = std::exchange(free_, free_->next);
  read->load.read.memory = memory_->take();
  return read;
}

/// Makes a read free whose buffer the disk does not have.
void VectorReader::put_back(Read& read) {
  memory_->give_back(std::exchange(read.load.read.memory, nullptr));
  read.next = std::exchange(free_, &read);
}

/// Whether the read can bring these blocks too: they begin in it or where it ends, and it has room.
bool VectorReader::extend(Read& read, const disk::BlockRange& range) const {
  disk::DiskRequest& disk = read.load.read;
  const std::uint64_t bytes = range.offset + range.bytes - disk.offset;
  if (range.offset > disk.offset + disk.bytes || bytes > stretch_) return false;
  disk.bytes = static_cast<std::uint32_t>(bytes);
  return true;
}

/// Plans reads for as many of the first ids as there are buffers; nullptr when there are none.
VectorReader::Read* VectorReader::plan(std::span<const NodeId> ids, Ticks deadline) {
  const Ticks limit = std::min(deadline, now_ticks() + us_to_ticks(kReadLimitUs));
  Read* first = nullptr;
  Read* last = nullptr;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const disk::BlockRange range = disk_file().cover(offset_of(ids[i]), file_.vector_bytes);
    if (last != nullptr && extend(*last, range)) {
      last->ids = {last->ids.data(), last->ids.size() + 1};
      continue;
    }
    Read* const read = take_free();
    if (read == nullptr) break;
    read->load.read.offset = range.offset;
    read->load.read.bytes = range.bytes;
    read->load.read.deadline = limit;
    read->ids = ids.subspan(i, 1);
    read->next = nullptr;
    (first == nullptr ? first : last->next) = read;
    last = read;
  }
  return first;
}

/// Starts all reads of a chain, or none.
Status VectorReader::start(Read* first, VectorReads& counts) {
  starting_.clear();
  std::uint64_t bytes = 0;
  for (Read* read = first; read != nullptr; read = read->next) {
    starting_.push_back(&read->load);
    bytes += read->load.read.bytes;
  }
  const Status status = queue_.start(starting_);
  if (status.ok()) {
    counts.reads += static_cast<std::uint32_t>(starting_.size());
    counts.bytes += bytes;
  }
  return status;
}

/// Checks that a read that has come brought all of its vectors: data_loss when the file ends
/// before.
Status VectorReader::check(const Read& read) const {
  const std::uint64_t end = offset_of(read.ids.back()) + file_.vector_bytes;
  if (end <= read.load.read.offset + read.load.bytes()) return {};
  return {StatusCode::data_loss, "the file ends within a vector"};
}

/// Releases the buffer, and returns what follows it in its chain.
VectorReader::Read* VectorReader::release(Read& read) {
  Read* const next = read.next;
  if (read.load.destination_out()) {
    read.next = std::exchange(late_, &read);
  } else {
    put_back(read);
  }
  return next;
}

}  // namespace farvec::slotted
