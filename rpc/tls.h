// Sets up mutual TLS for the control plane: both ends show a certificate of an authority that both
// trust.
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

/// TlsFiles are names of PEM files, given by --tls-cert, --tls-key and --tls-ca: all three, or
/// none.
struct TlsFiles {
  std::string certificate;  ///< this program's, with its chain when it has one
  std::string key;
  std::string authority;  ///< certificates that it has issued are accepted
};

/// A Tls has the contents of the files.
struct Tls {
  std::string certificate;
  std::string key;
  std::string authority;
};

/// Returns null when no file is named. Throws Error that names option and file when one of the
/// three is missing, cannot be read, holds something else, does not belong to the certificate, or
/// is not valid today.
std::shared_ptr<const Tls> load_tls(const TlsFiles& files);

/// Returns the credentials of a server that accepts no client without a certificate of the
/// authority. A Unix socket is for its owner only, and stays plain; so does everything when `tls`
/// is null.
std::shared_ptr<grpc::ServerCredentials> server_credentials(const Tls* tls, const Address& address);
/// Returns the client's credentials for the same rule. The server's certificate must be for the
/// address's host.
std::shared_ptr<grpc::ChannelCredentials> channel_credentials(const Tls* tls,
                                                              const Address& address);

/// Says who calls, "CN=client,O=farvec [client, localhost]": subject and alternative names of the
/// certificate; "local" for a caller that was let in without one.
std::string peer_identity(const grpc::AuthContext& peer);
/// Returns the common name and alternative names of the caller's certificate; empty without one.
std::vector<std::string> peer_names(const grpc::AuthContext& peer);

}  // namespace farvec::rpc
