// Mutual TLS of the control plane: both ends show a certificate of an authority that both trust.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "rpc/address.h"

namespace grpc {
class AuthContext;
class ChannelCredentials;
class ServerCredentials;
}  // namespace grpc

namespace farvec::rpc {

/// PEM files, as --tls-cert, --tls-key and --tls-ca name them: all three, or none.
struct TlsFiles {
  std::string certificate;  ///< of this program, with its chain when it has one
  std::string key;
  std::string authority;  ///< whose certificates are accepted
};

/// Their contents.
struct Tls {
  std::string certificate;
  std::string key;
  std::string authority;
};

/// Null when no file is named. Throws Error that names option and file: one of the three is
/// missing, cannot be read, holds something else, does not belong to the certificate, or is not
/// valid today.
std::shared_ptr<const Tls> load_tls(const TlsFiles& files);

/// A server that takes no client without a certificate of the authority. A Unix socket is its
/// owner's only, and stays plain; so does everything when `tls` is null.
std::shared_ptr<grpc::ServerCredentials> server_credentials(const Tls* tls, const Address& address);
/// The client's end of the same rule. The server's certificate must be for the address's host.
std::shared_ptr<grpc::ChannelCredentials> channel_credentials(const Tls* tls,
                                                              const Address& address);

/// Who calls: "CN=client,O=farvec [client, localhost]", subject and alternative names of the
/// certificate; "local" for a caller that was let in without one.
std::string peer_identity(const grpc::AuthContext& peer);
/// Common name and alternative names of the caller's certificate; none without one.
std::vector<std::string> peer_names(const grpc::AuthContext& peer);

}  // namespace farvec::rpc
