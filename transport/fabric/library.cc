#include "transport/fabric/library.h"

#include <dlfcn.h>

#include <cstdlib>

#include "base/error.h"

namespace farvec::transport {
namespace {

constexpr const char* kFile = "libfabric.so.1";

/// Per endpoint ofi_rxm keeps four pools of 1024 buffers for messages, which reads do not use: 70
/// MB with its default. Only the environment can change it, and the environment must not change
/// once there are other threads. So it is set before main(), in every program, since two ends with
/// different sizes do not connect. An existing value stays.
[[maybe_unused]] const int kBuffersShrunk = setenv("FI_OFI_RXM_BUFFER_SIZE", "512", 0);

std::string loader_error() {
  const char* text = dlerror();
  return text == nullptr ? "no reason given" : text;
}

template <typename Function>
void find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  if (function == nullptr) throw Error("{} has no {}: {}", kFile, name, loader_error());
}

FabricLibrary load() {
  const KeptSignalHandlers kept;
  void* library = dlopen(kFile, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    throw Error("loading libfabric (install the package libfabric1): {}", loader_error());
  }
  FabricLibrary found;
  find(library, "fi_getinfo", found.getinfo);
  find(library, "fi_freeinfo", found.freeinfo);
  find(library, "fi_dupinfo", found.dupinfo);
  find(library, "fi_fabric", found.fabric);
  find(library, "fi_strerror", found.strerror);
  find(library, "fi_version", found.version);
  return found;
}

}  // namespace

const FabricLibrary& fabric_library() {
  static const FabricLibrary library = load();
  return library;
}

std::string fabric_error(long error) {
  return fabric_library().strerror(static_cast<int>(std::labs(error)));
}

KeptSignalHandlers::KeptSignalHandlers() : one_at_a_time_(mutex()) {
  for (std::size_t i = 0; i < kSignals.size(); ++i)
    (void)sigaction(kSignals[i], nullptr, &kept_[i]);
}

std::mutex& KeptSignalHandlers::mutex() {
  static std::mutex mutex;
  return mutex;
}

KeptSignalHandlers::~KeptSignalHandlers() {
  for (std::size_t i = 0; i < kSignals.size(); ++i)
    (void)sigaction(kSignals[i], &kept_[i], nullptr);
}

}  // namespace farvec::transport
