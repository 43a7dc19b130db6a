// A memory node's end of libfabric: one endpoint per lease, which grants the reading of its
// regions, or one lease the writing.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "transport/fabric/grant.h"
#include "transport/fabric/poll_set.h"
#include "transport/fabric/port.h"
#include "transport/grant.h"

namespace farvec::transport {

struct FabricListenerOptions {
  std::string provider;  ///< "tcp", "verbs;ofi_rxm", "shm", "efa", ...
  /// Address of one interface. Empty only for providers whose addresses are not those of IP
  /// interfaces (shm, efa): the others would choose one that other machines may reach.
  std::string host;
  std::size_t max_grants = 256;
};

/// Each lease has a domain, an endpoint and registrations of its own, with random keys where the
/// provider does not choose them: nothing in it serves another lease, and all of it is closed when
/// the lease ends. Registrations can be read and nothing else (FI_REMOTE_READ), and neither
/// endpoint nor domain has the right to be written; those of a lease for writing can be read and
/// written, and are of the writable regions alone. That there is one such lease at a time is for
/// whoever grants them to see to. Where the provider moves bytes only while it is called ("manual
/// progress"), the listener's thread calls it: it sleeps on the providers' descriptors, or, where
/// they have none, looks every 50 us while there are grants.
class FabricListener {
 public:
  /// The regions' memory is borrowed and must outlive the listener. Throws Error: no such provider
  /// (names those that there are), a host that is not this machine's.
  FabricListener(FabricListenerOptions options, GrantedRegions regions, Authorise authorise,
                 WritableRegions writable = {});
  ~FabricListener();  ///< ends every grant
  FabricListener(const FabricListener&) = delete;
  FabricListener& operator=(const FabricListener&) = delete;

  /// Opens an endpoint and closes it again: what is impossible shows now and not when a client
  /// comes. Returns the provider's own name. Throws Error, see the constructor; also for a host
  /// that is missing, or that is no single address (0.0.0.0): clients are told where to connect.
  static std::string probe(const FabricListenerOptions& options);

  /// Opens an endpoint for the lease, which is for writing when the writable regions' `authorise`
  /// says so; what its client has to know, as encode_grant() writes it. The lease is looked up
  /// every 50 ms from then on, and the grant ends when it is not held. Any thread; pins the regions
  /// where the device needs it, which takes time. Throws Error.
  std::string grant(const GrantLease& lease);
  /// Closes the endpoints of a lease: their keys are invalid when this returns. Any thread.
  void revoke(const GrantLease& lease);
  std::size_t grants() const;
  /// "tcp;ofi_rxm".
  const std::string& description() const { return description_; }

 private:
  struct Client;
  using Clients = std::map<std::uint64_t, std::unique_ptr<Client>>;

  /// Until the thread's next turn.
  enum class Pace { wait, nap, go_on };

  std::unique_ptr<Client> open_client(const GrantLease& lease) const;
  const GrantedRegions& regions_of(const Client& client) const;
  FabricGrant describe(const Client& client) const;
  bool is_authorised(const Client& client) const;
  void add(std::unique_ptr<Client> client);
  void run();
  static void serve(Client& client);
  Pace serve_others(bool all);
  /// Those to be destroyed, which may take long: not under the lock.
  template <typename Condition>
  Clients take(Condition condition);

  const FabricListenerOptions options_;
  const GrantedRegions regions_;
  const Authorise authorise_;
  const GrantedRegions writable_;
  const Authorise authorise_writer_;  ///< empty: nobody writes
  std::string description_;
  PollSet ready_;
  /// Held, before mutex_, by whoever takes clients out until they are closed: so revoke() also
  /// waits for a lease that the thread is just ending.
  std::mutex closing_mutex_;
  mutable std::mutex mutex_;  ///< over what follows, and over every client's port
  Clients clients_;
  std::uint64_t next_client_ = 1;
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

}  // namespace farvec::transport
