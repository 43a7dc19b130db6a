#include "transport/fabric/fabric_writer.h"

#include <rdma/fi_rma.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "base/check.h"
#include "base/error.h"
#include "transport/fabric/failure.h"
#include "transport/wait_pace.h"

namespace farvec::transport {
namespace {

using WriterClock = std::chrono::steady_clock;

/// The size up to which the provider keeps the order that it promises.
std::uint64_t ordered_bytes(const fi_info& info, std::uint64_t order, std::size_t up_to) {
  return (info.tx_attr->msg_order & order) != 0 ? up_to : 0;
}

/// `error` is libfabric's, positive.
Status write_failure(int error) {
  switch (fabric_failure(error)) {
    case StatusCode::failed_precondition:
      return {StatusCode::failed_precondition, "the memory node refused a write"};
    case StatusCode::internal:
      return {StatusCode::internal, "a write failed at this end of the fabric"};
    default:
      return {StatusCode::unavailable, "the fabric connection to the memory node is gone"};
  }
}

}  // namespace

FabricWriter::FabricWriter(FabricWriterOptions options)
    : options_(std::move(options)),
      grant_(decode_grant(std::as_bytes(std::span(options_.grant)), options_.peer)) {
  FARVEC_CHECK(options_.piece_bytes > 0 && options_.max_outstanding > 0,
               "a writer without room for a piece");
  open();
  choose_order();
  stage();
  connect();
}

FabricWriter::~FabricWriter() {
  close();
}

void FabricWriter::open() {
  FabricQuery query = peer_query(peer(), FI_RMA | FI_READ | FI_WRITE);
  FabricInfo info;
  if (options_.delivery_complete) {
    query.transmit_flags = FI_DELIVERY_COMPLETE;
    info = find_fabric(query);
    delivery_ = info != nullptr;
    query.transmit_flags = 0;
  }
  if (!info) info = query_fabric(query);
  port_.emplace(std::move(info), false);
  node_ = insert_peer(*port_, peer());
}

/// Decides how long a piece may be, and how many are on their way.
void FabricWriter::choose_order() {
  const fi_info& info = port_->info();
  const fi_ep_attr& end = *info.ep_attr;
  piece_bytes_ =
      std::min<std::uint64_t>({options_.piece_bytes, end.max_msg_size, grant_.max_message_bytes});
  const std::uint64_t behind =
      ordered_bytes(info, FI_ORDER_RAW | FI_ORDER_RMA_RAW, end.max_order_raw_size);
  if (!delivery_ && behind < kEchoBytes) {
    throw Error(
        "libfabric's provider {} neither says when a write is in the memory of {} nor keeps reads "
        "behind writes: it cannot be written through",
        info.fabric_attr->prov_name, options_.peer);
  }
  if (!delivery_) piece_bytes_ = std::min(piece_bytes_, behind);
  const std::uint64_t in_order =
      ordered_bytes(info, FI_ORDER_WAW | FI_ORDER_RMA_WAW, end.max_order_waw_size);
  if (!delivery_ && in_order < kEchoBytes) {
    throw Error("libfabric's provider {} keeps no order among writes to {}",
                info.fabric_attr->prov_name, options_.peer);
  }
  std::size_t count = std::min<std::size_t>(options_.max_outstanding, info.tx_attr->size);
  if (in_order < kEchoBytes) {
    count = 1;
  } else {
    piece_bytes_ = std::min(piece_bytes_, in_order);
  }
  requests_.resize(std::max<std::size_t>(count, 1));
  for (std::uint32_t i = 0; i < requests_.size(); ++i) free_requests_.push_back(i);
}

void FabricWriter::stage() {
  staging_ = HugeBuffer(requests_.size() * piece_bytes_ + kEchoRoom);
  if (!port_->has_mode(FI_MR_LOCAL)) return;
  int error = 0;
  registered_ = port_->register_memory(staging_.span(), FI_READ | FI_WRITE, 1, error);
  if (!registered_) {
    throw SystemError(-error,
                      "registering {} bytes with libfabric's provider {}: when this is ENOMEM, "
                      "raise the limit on locked memory (ulimit -l, LimitMEMLOCK= in a unit)",
                      staging_.size(), options_.provider);
  }
}

/// libfabric connects when it is asked for the first transfer.
void FabricWriter::connect() {
  static_assert(sizeof(FabricWelcome) <= kEchoRoom);
  const Status read = read_echo({grant_.welcome_address, grant_.welcome_key}, sizeof(FabricWelcome),
                                WriterClock::now() + options_.connect_timeout);
  if (!read.ok()) {
    throw Error("connecting to {} with libfabric's provider {} for writing: {}", options_.peer,
                options_.provider, read.message());
  }
  FabricWelcome welcome;
  std::memcpy(&welcome, echo(), sizeof(welcome));
  check_welcome(welcome, peer(), options_.lease);
  connected_ = true;
}

std::uint64_t FabricWriter::region_bytes(RegionId region) const {
  return region < grant_.regions.size() ? grant_.regions[region].bytes : 0;
}

Status FabricWriter::write(RegionId region, std::uint64_t offset,
                           std::span<const std::byte> bytes) {
  if (!status_.ok()) return status_;
  if (Status status = check_write(offset, bytes.size(), region_bytes(region)); !status.ok()) {
    return status;
  }
  const auto end = WriterClock::now() + options_.timeout;
  NodeAddress at{grant_.regions[region].address + offset, grant_.regions[region].key};
  while (!bytes.empty()) {
    const auto piece = bytes.first(std::min<std::size_t>(bytes.size(), piece_bytes_));
    if (Status status = post_piece(at, piece, end); !status.ok()) return status;
    at.address += piece.size();
    bytes = bytes.subspan(piece.size());
  }
  return {};
}

Status FabricWriter::post_piece(const NodeAddress& at, std::span<const std::byte> piece,
                                Deadline end) {
  const auto has_room = [this] { return !free_requests_.empty(); };
  if (Status status = await(has_room, end); !status.ok()) return status;
  const std::uint32_t number = free_requests_.back();
  std::byte* const staged = staging_.data() + number * piece_bytes_;
  std::memcpy(staged, piece.data(), piece.size());
  const iovec local{staged, piece.size()};
  const fi_rma_iov remote{at.address, piece.size(), at.key};
  void* descriptor = registered_ ? fi_mr_desc(registered_.get()) : nullptr;
  fi_msg_rma message{};
  message.msg_iov = &local;
  message.desc = &descriptor;
  message.iov_count = 1;
  message.addr = node_;
  message.rma_iov = &remote;
  message.rma_iov_count = 1;
  message.context = &requests_[number].context;
  const std::uint64_t flags = FI_COMPLETION | (delivery_ ? FI_DELIVERY_COMPLETE : 0);
  const auto start = [&] { return fi_writemsg(&port_->endpoint(), &message, flags); };
  if (Status status = post(start, end); !status.ok()) return status;
  free_requests_.pop_back();
  unflushed_ = true;
  const auto tail = piece.last(std::min(piece.size(), kEchoBytes));
  tail_.at = {at.address + piece.size() - tail.size(), at.key};
  tail_.bytes = static_cast<std::uint32_t>(tail.size());
  std::memcpy(tail_.content, tail.data(), tail.size());
  return {};
}

Status FabricWriter::flush() {
  if (!status_.ok() || !unflushed_) return status_;
  const auto end = WriterClock::now() + options_.timeout;
  if (!delivery_) {
    if (Status status = read_echo(tail_.at, tail_.bytes, end); !status.ok()) return status;
    if (std::memcmp(echo(), tail_.content, tail_.bytes) != 0) {
      fail({StatusCode::data_loss, "the memory node has other bytes than were written"},
           "read back");
      return status_;
    }
  }
  if (Status status = await([this] { return all_done(); }, end); !status.ok()) return status;
  unflushed_ = false;
  return {};
}

/// Returns when the bytes are in echo().
Status FabricWriter::read_echo(const NodeAddress& at, std::uint32_t bytes, Deadline end) {
  const iovec local{echo(), bytes};
  const fi_rma_iov remote{at.address, bytes, at.key};
  void* descriptor = registered_ ? fi_mr_desc(registered_.get()) : nullptr;
  fi_msg_rma message{};
  message.msg_iov = &local;
  message.desc = &descriptor;
  message.iov_count = 1;
  message.addr = node_;
  message.rma_iov = &remote;
  message.rma_iov_count = 1;
  message.context = &echo_request_.context;
  const auto start = [&] { return fi_readmsg(&port_->endpoint(), &message, FI_COMPLETION); };
  if (Status status = post(start, end); !status.ok()) return status;
  echo_out_ = true;
  return await([this] { return !echo_out_; }, end);
}

/// Calls `post` until the provider takes the request.
template <typename Post>
Status FabricWriter::post(Post request, Deadline end) {
  ssize_t result = -FI_EAGAIN;
  const auto taken = [&] {
    result = request();
    return result != -FI_EAGAIN;
  };
  // While it connects, the time limit for connecting applies.
  const auto stalled = WriterClock::now() + options_.stall_timeout;
  const bool may_stall = connected_ && all_done() && stalled < end;
  const Status status = may_stall ? await(taken, stalled, kStalled) : await(taken, end);
  if (!status.ok()) return status;
  if (result != 0) fail(write_failure(static_cast<int>(-result)), fabric_error(result));
  return status_;
}

template <typename Done>
Status FabricWriter::await(Done done, Deadline end, const Status& late) {
  WaitPace pace;
  for (;;) {
    take_completions();
    if (!status_.ok() || done()) return status_;
    if (WriterClock::now() > end) {
      fail(late, "waited for it");
      return status_;
    }
    pace.rest();
  }
}

void FabricWriter::take_completions() {
  std::array<fi_cq_entry, 16> entries;
  if (!port_) return;
  const ssize_t count = fi_cq_read(&port_->queue(), entries.data(), entries.size());
  for (ssize_t i = 0; i < count; ++i) on_done(entries[static_cast<std::size_t>(i)].op_context);
  if (count >= 0 || count == -FI_EAGAIN) return;
  int error = static_cast<int>(-count);
  if (count == -FI_EAVAIL) {
    fi_cq_err_entry entry{};
    if (fi_cq_readerr(&port_->queue(), &entry, 0) != 1) return;  // it was not one after all
    error = entry.err;
  }
  fail(write_failure(error), fabric_error(error));
}

void FabricWriter::on_done(void* context) {
  if (context == &echo_request_.context) {
    echo_out_ = false;
    return;
  }
  const auto* request = static_cast<const Request*>(context);
  free_requests_.push_back(static_cast<std::uint32_t>(request - requests_.data()));
}

/// The first reason counts. Closing the endpoint gives the staging memory back.
void FabricWriter::fail(const Status& why, const std::string& words) {
  if (!status_.ok()) return;
  status_ = why;
  spdlog::warn("{}: {} ({})", options_.peer, why.message(), words);
  close();
}

void FabricWriter::close() {
  if (!port_) return;
  // Otherwise it is bound to an endpoint that is gone.
  if (port_->has_mode(FI_MR_ENDPOINT)) registered_.reset();
  port_->close_endpoint();
  registered_.reset();
  port_.reset();
}

}  // namespace farvec::transport
