#include "transport/verbs/verbs_writer.h"

#include <algorithm>
#include <cstring>

#include "transport/verbs/work_status.h"
#include "transport/wait_pace.h"

namespace farvec::transport {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::size_t kEchoRoom = 64;

std::size_t staging_bytes(const VerbsWriterOptions& options) {
  return std::size_t{options.max_outstanding} * options.piece_bytes + kEchoRoom;
}

Status failure(ibv_wc_status status) {
  switch (status_of(status)) {
    case StatusCode::failed_precondition:
      return {StatusCode::failed_precondition, "the memory node's device has refused a write"};
    case StatusCode::unavailable:
      return {StatusCode::unavailable, "the RDMA connection is gone: a write was not answered"};
    default:
      return {StatusCode::internal, "the RDMA device could not carry out a write"};
  }
}

}  // namespace

VerbsWriter::VerbsWriter(VerbsWriterOptions options)
    : options_(std::move(options)),
      staging_(staging_bytes(options_)),
      connection_(
          {options_.peer, VerbsRole::writer, options_.max_outstanding + 1, options_.inline_bytes}),
      piece_bytes_(std::min(options_.piece_bytes, connection_.device().max_message_bytes)),
      max_outstanding_(std::min(options_.max_outstanding, connection_.max_requests() - 1)) {
  FARVEC_CHECK(piece_bytes_ > 0 && max_outstanding_ > 0, "a writer without room for a piece");
  staging_key_ = connection_.register_range(staging_.span(), IBV_ACCESS_LOCAL_WRITE).lkey;
}

std::byte* VerbsWriter::place_of(std::uint64_t request) {
  return staging_.data() + request % max_outstanding_ * piece_bytes_;
}

Status VerbsWriter::write(RegionId region, std::uint64_t offset, std::span<const std::byte> bytes) {
  connection_.look();
  if (!status().ok()) return status();
  if (Status status = check_write(offset, bytes.size(), region_bytes(region)); !status.ok()) {
    return status;
  }
  const auto end = Clock::now() + options_.timeout;
  const VerbsGrant& grant = connection_.grants()[region];
  for (std::uint64_t address = grant.address + offset; !bytes.empty();) {
    const auto piece = bytes.first(std::min<std::size_t>(bytes.size(), piece_bytes_));
    const std::uint64_t oldest = posted_ < max_outstanding_ ? 0 : posted_ - max_outstanding_ + 1;
    if (Status status = await(oldest, end); !status.ok()) return status;
    if (Status status = post_piece(address, grant.key, piece); !status.ok()) return status;
    address += piece.size();
    bytes = bytes.subspan(piece.size());
  }
  return {};
}

Status VerbsWriter::post_piece(std::uint64_t address, std::uint32_t key,
                               std::span<const std::byte> piece) {
  const bool inlined = piece.size() <= connection_.inline_bytes();
  std::byte* const place = place_of(posted_ + 1);
  if (!inlined) std::memcpy(place, piece.data(), piece.size());
  ibv_sge source{reinterpret_cast<std::uintptr_t>(inlined ? piece.data() : place),
                 static_cast<std::uint32_t>(piece.size()), staging_key_};
  ibv_send_wr request{};
  request.opcode = IBV_WR_RDMA_WRITE;
  request.send_flags = IBV_SEND_SIGNALED;
  if (inlined) request.send_flags |= IBV_SEND_INLINE;
  request.sg_list = &source;
  request.num_sge = 1;
  request.wr.rdma.remote_addr = address;
  request.wr.rdma.rkey = key;
  if (Status status = post(request); !status.ok()) return status;
  const auto tail = piece.last(std::min<std::size_t>(piece.size(), kEchoBytes));
  tail_ = {address + piece.size() - tail.size(), key, static_cast<std::uint32_t>(tail.size()), {}};
  std::memcpy(tail_.content, tail.data(), tail.size());
  return {};
}

Status VerbsWriter::post(ibv_send_wr& request) {
  request.wr_id = posted_ + 1;
  ibv_send_wr* bad = nullptr;
  if (ibv_post_send(&connection_.queue_pair(), &request, &bad) != 0) {
    connection_.fail({StatusCode::internal, "the driver refused a write"});
    return status();
  }
  ++posted_;
  return {};
}

Status VerbsWriter::flush() {
  if (!status().ok() || flushed_ == posted_) return status();
  std::byte* const echo = staging_.data() + staging_.size() - kEchoRoom;
  ibv_sge place{reinterpret_cast<std::uintptr_t>(echo), tail_.bytes, staging_key_};
  ibv_send_wr read{};
  read.opcode = IBV_WR_RDMA_READ;
  read.send_flags = IBV_SEND_SIGNALED;
  read.sg_list = &place;
  read.num_sge = 1;
  read.wr.rdma.remote_addr = tail_.address;
  read.wr.rdma.rkey = tail_.key;
  if (Status status = post(read); !status.ok()) return status;
  if (Status status = await(posted_, Clock::now() + options_.timeout); !status.ok()) return status;
  if (std::memcmp(echo, tail_.content, tail_.bytes) != 0) {
    connection_.fail({StatusCode::data_loss, "the memory node has other bytes than were written"});
    return status();
  }
  flushed_ = posted_;
  return {};
}

/// Waits until `request` and all before it have completed.
Status VerbsWriter::await(std::uint64_t request, Deadline end) {
  WaitPace pace;
  take_completions();
  while (status().ok() && done_ < request) {
    connection_.look();
    if (Clock::now() > end) {
      connection_.fail({StatusCode::deadline_exceeded, "the memory node did not answer in time"});
    }
    pace.rest();
    take_completions();
  }
  return status();
}

void VerbsWriter::take_completions() {
  ibv_wc batch[16];
  const int count = ibv_poll_cq(&connection_.completions(), 16, batch);
  for (int i = 0; i < count; ++i) {
    if (batch[i].status == IBV_WC_SUCCESS) {
      done_ = batch[i].wr_id;
    } else {
      connection_.fail(failure(batch[i].status));
    }
  }
}

}  // namespace farvec::transport
