#include "rpc/entitled.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>

#include "rpc/address.h"
#include "rpc/status.h"
#include "rpc/tls.h"

namespace farvec::rpc {

bool is_entitled(const grpc::ServerContextBase& call, const std::vector<std::string>& names) {
  const auto caller = call.auth_context();
  if (!caller->IsPeerAuthenticated()) return is_local_peer(call.peer());
  const std::vector<std::string> shown = peer_names(*caller);
  return std::any_of(shown.begin(), shown.end(), [&names](const std::string& name) {
    return std::count(names.begin(), names.end(), name) > 0;
  });
}

grpc::Status not_entitled(const grpc::ServerContextBase& call, const std::string& act,
                          const std::string& option) {
  const std::string caller = peer_identity(*call.auth_context());
  spdlog::warn("'{}' may not {}, and tried to", caller, act);
  return to_grpc(StatusCode::permission_denied,
                 fmt::format("{} may not {}: that takes a caller of the node's machine, or a "
                             "certificate that the node's {} names",
                             caller, act, option));
}

}  // namespace farvec::rpc
