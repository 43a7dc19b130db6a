#include "transport/verbs/parked_connections.h"

#include "transport/verbs/device.h"

namespace farvec::transport {
namespace {

constexpr std::size_t kMaxParked = 1024;

bool can_say_goodbye(const rdma_cm_id& id) {
  return id.verbs == nullptr || !port_is_down(*id.verbs, id.port_num);
}

}  // namespace

void ParkedConnections::end(Connection id, EventChannel channel) {
  if (!id) return;
  if (can_say_goodbye(*id)) {
    id.reset();  // destroyed before its channel
    return;
  }
  const std::lock_guard lock(mutex_);
  if (parked_.size() == kMaxParked) parked_.pop_front();
  parked_.push_back({std::move(channel), std::move(id)});
}

void ParkedConnections::release() {
  const std::lock_guard lock(mutex_);
  parked_.remove_if([](const Parked& parked) { return can_say_goodbye(*parked.id); });
}

void ParkedConnections::clear() {
  const std::lock_guard lock(mutex_);
  parked_.clear();
}

}  // namespace farvec::transport
