// Rights that take more than a connection.
#pragma once

#include <grpcpp/grpcpp.h>

#include <string>
#include <vector>

namespace farvec::rpc {

/// Whether the caller may do what not everybody may who can connect: callers of this machine that
/// came without a certificate may, and those whose certificate holds one of `names` as its common
/// name or among its alternative names.
bool is_entitled(const grpc::ServerContextBase& call, const std::vector<std::string>& names);

/// What others are told: "CN=client may not publish: that takes ...". `option` names the
/// certificates.
grpc::Status not_entitled(const grpc::ServerContextBase& call, const std::string& act,
                          const std::string& option);

}  // namespace farvec::rpc
