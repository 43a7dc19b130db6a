// Checks rights that take more than a connection.
#pragma once

#include <grpcpp/grpcpp.h>

#include <string>
#include <vector>

namespace farvec::rpc {

/// Says whether the caller may do what not every client may do that can connect. Callers of this
/// machine that came without a certificate may, and those whose certificate has one of `names` as
/// its common name or among its alternative names.
bool is_entitled(const grpc::ServerContextBase& call, const std::vector<std::string>& names);

/// Returns the status for other callers: "CN=client may not publish: that takes ...". `option`
/// names the certificates.
grpc::Status not_entitled(const grpc::ServerContextBase& call, const std::string& act,
                          const std::string& option);

}  // namespace farvec::rpc
