#include "rpc/refusal_log.h"

#include <fmt/format.h>

namespace farvec::rpc {
namespace {

constexpr std::chrono::seconds kPeriod{10};
constexpr std::size_t kMaxEntries = 1024;

/// The peer without its port, which differs for each connection.
std::string host_of(const std::string& peer) {
  return peer.substr(0, peer.rfind(':'));
}

}  // namespace

RefusalLog::Entry& RefusalLog::entry_of(const Refusal& refusal, Clock::time_point now) {
  const Key key{host_of(refusal.peer), refusal.reason};
  if (entries_.size() >= kMaxEntries && !entries_.contains(key)) {
    std::erase_if(entries_, [now](const auto& entry) { return entry.second.next <= now; });
    if (entries_.size() >= kMaxEntries) return entries_[Key{}];
  }
  return entries_[key];
}

std::string RefusalLog::line(const Refusal& refusal, Clock::time_point now) {
  const std::lock_guard lock(mutex_);
  Entry& entry = entry_of(refusal, now);
  if (now < entry.next) {
    ++entry.left_out;
    return {};
  }
  std::string line = fmt::format("refused {}: {}", refusal.peer, refusal.reason);
  if (!refusal.subject.empty()) line += fmt::format("; it shows '{}'", refusal.subject);
  if (entry.left_out > 0) line += fmt::format(" ({} more since the last line)", entry.left_out);
  entry = {now + kPeriod, 0};
  return line;
}

}  // namespace farvec::rpc
