// Loads libfabric when it is first used.
#pragma once

#include <rdma/fabric.h>
#include <rdma/fi_errno.h>

#include <array>
#include <csignal>
#include <mutex>
#include <string>

namespace farvec::transport {

/// The functions that libfabric exports; everything else is reached through its objects. It is not
/// linked, because some distributions' libfabric brings libraries (libinfinipath) that take over
/// the handlers of SIGSEGV, SIGABRT, SIGINT and other signals as soon as they are loaded. Programs
/// that do not use it keep their handlers, and in those that do the handlers are restored.
struct FabricLibrary {
  decltype(&fi_getinfo) getinfo = nullptr;
  decltype(&fi_freeinfo) freeinfo = nullptr;
  decltype(&fi_dupinfo) dupinfo = nullptr;
  decltype(&fi_fabric) fabric = nullptr;
  decltype(&fi_strerror) strerror = nullptr;
  decltype(&fi_version) version = nullptr;
};

/// Stays loaded until the process ends. Throws Error when it cannot be loaded. Any thread.
const FabricLibrary& fabric_library();

/// Makes the providers initialise themselves, if they have not yet: the first call of libfabric in
/// a process takes a quarter of a second. Any thread.
void wake_fabric();

/// Returns libfabric's text for its error, positive or negative.
std::string fabric_error(long error);

/// Restores the handlers of fatal and ending signals. Put it around every call in which a provider
/// initialises itself. One thread at a time has one, because two would keep each other's handlers.
class KeptSignalHandlers {
 public:
  KeptSignalHandlers();
  ~KeptSignalHandlers();
  KeptSignalHandlers(const KeptSignalHandlers&) = delete;
  KeptSignalHandlers& operator=(const KeptSignalHandlers&) = delete;

 private:
  static constexpr std::array kSignals = {SIGSEGV, SIGBUS, SIGILL, SIGFPE,
                                          SIGABRT, SIGINT, SIGTERM};
  static std::mutex& mutex();

  const std::lock_guard<std::mutex> one_at_a_time_;
  std::array<struct sigaction, kSignals.size()> kept_{};
};

}  // namespace farvec::transport
