#include "collection/memtable/yielding.h"

#include <spdlog/spdlog.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace farvec::collection {
namespace {
constexpr int kBackgroundNice = 10;
}  // namespace

void yield_to_searches() {
  const auto thread = static_cast<id_t>(gettid());
  if (setpriority(PRIO_PROCESS, thread, kBackgroundNice) == 0) return;
  spdlog::warn("the background of a collection runs as urgently as its searches: {}",
               std::strerror(errno));
}

}  // namespace farvec::collection
