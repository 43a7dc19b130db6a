#include "tiers/attach/lease_keeper.h"

#include <grpcpp/grpcpp.h>
#include <poll.h>
#include <spdlog/spdlog.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/error.h"

namespace farvec::tiers {
namespace {

namespace v1 = memory_node::v1;

/// There are three chances to renew before a lease ends.
constexpr int kRenewalsPerLease = 3;

void set_timeout(grpc::ClientContext& context, std::chrono::milliseconds timeout) {
  context.set_deadline(std::chrono::system_clock::now() + timeout);
}

}  // namespace

LeaseKeeper::LeaseKeeper(HeldLease lease, std::shared_ptr<Liveness> liveness)
    : lease_(std::move(lease)), liveness_(std::move(liveness)), wake_(eventfd(0, EFD_CLOEXEC)) {
  if (!wake_.valid()) throw SystemError(errno, "making an eventfd");
  held_since(lease_.asked);
  thread_ = std::thread([this] { run(); });
}

LeaseKeeper::~LeaseKeeper() {
  const std::uint64_t one = 1;
  // An eventfd that was never written takes this without blocking.
  [[maybe_unused]] const ssize_t written = write(wake_.get(), &one, sizeof(one));
  thread_.join();
  liveness_->alive.store(false, std::memory_order_relaxed);
  if (!ended_) {
    grpc::ClientContext context;
    set_timeout(context, lease_.call_timeout);
    v1::DetachRequest request;
    request.set_lease_id(lease_.id);
    v1::DetachResponse response;
    // A node that cannot be told takes the lease back when the grant socket closes, or when it runs
    // out.
    static_cast<void>(lease_.stub->Detach(&context, request, &response));
  }
}

void LeaseKeeper::run() {
  const auto period = std::max(lease_.duration / kRenewalsPerLease, std::chrono::milliseconds(10));
  auto next_renewal = Clock::now() + period;
  for (;;) {
    // Without a grant socket (RDMA) its descriptor is -1, which poll() ignores. A death is then
    // noticed when a read fails or the lease cannot be renewed.
    pollfd polled[] = {{wake_.get(), POLLIN, 0}, {lease_.grant_socket.get(), POLLRDHUP, 0}};
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(next_renewal - Clock::now());
    const int wait_ms = static_cast<int>(std::max<std::int64_t>(left.count() + 1, 0));
    if (poll(polled, 2, wait_ms) < 0 && errno != EINTR) break;
    if (polled[0].revents != 0) return;
    if (polled[1].revents != 0) break;
    if (Clock::now() < next_renewal) continue;
    if (!renew()) break;
    next_renewal = Clock::now() + period;
  }
  ended_ = true;
  liveness_->alive.store(false, std::memory_order_relaxed);
  spdlog::warn("the memory node is gone: its grant has ended");
}

void LeaseKeeper::held_since(Clock::time_point asked) {
  lease_end_ = asked + lease_.duration;
  liveness_->lease_end.store(lease_end_.time_since_epoch(), std::memory_order_relaxed);
}

bool LeaseKeeper::renew() {
  grpc::ClientContext context;
  set_timeout(context, std::min(lease_.call_timeout, lease_.duration / kRenewalsPerLease));
  v1::RenewRequest request;
  request.set_lease_id(lease_.id);
  v1::RenewResponse response;
  const auto asked = Clock::now();
  const grpc::Status status = lease_.stub->Renew(&context, request, &response);
  if (status.ok()) {
    held_since(asked);
    liveness_->draining.store(response.draining(), std::memory_order_relaxed);
    liveness_->newest_generation.store(response.newest_generation(), std::memory_order_relaxed);
    return true;
  }
  // Silence is not death while the lease runs: the grant socket would have hung up.
  return status.error_code() != grpc::StatusCode::NOT_FOUND &&
         status.error_code() != grpc::StatusCode::PERMISSION_DENIED && Clock::now() < lease_end_;
}

}  // namespace farvec::tiers
