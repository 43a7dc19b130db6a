#include "rpc/channel.h"

#include <grpcpp/grpcpp.h>

#include <algorithm>

#include "rpc/health.grpc.pb.h"
#include "rpc/tcp_socket.h"
#include "rpc/tls_probe.h"
#include "rpc/unix_socket.h"

namespace farvec::rpc {
namespace {

using Clock = std::chrono::system_clock;
constexpr std::chrono::milliseconds kStopCheckPeriod{100};
/// When a peer has not answered after this time, the reason is looked for in TLS.
constexpr std::chrono::milliseconds kProbeAfter{500};

grpc::ChannelArguments channel_arguments(const ConnectOptions& options) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);  // nodes are not reached through a web proxy
  arguments.SetMaxReceiveMessageSize(options.max_message_bytes);
  // Otherwise channels to one address would share a connection. When one of them is idle as the
  // peer dies, the attempts of the others to reach the next peer are handled only every few
  // seconds.
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 100);
  // It also bounds how long an attempt may take: a peer on a busy machine answers late.
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, 1000);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 1000);
  return arguments;
}

bool stopped(const ConnectOptions& options) {
  // relaxed: only the flag itself matters.
  return options.stop != nullptr && options.stop->load(std::memory_order_relaxed);
}

void require_no_tls_trouble(const Address& address, const ConnectOptions& options) {
  const auto patience =
      std::clamp(options.wait / 4, std::chrono::milliseconds(50), std::chrono::milliseconds(1000));
  const std::string trouble = tls_trouble(address, options.tls.get(), patience);
  if (!trouble.empty()) throw Error("cannot connect to {}: {}", to_string(address), trouble);
}

/// Called when gRPC has failed to connect, which does not say why. Throws when nothing listens.
void require_listener(const Address& address) {
  constexpr std::chrono::milliseconds kPatience{500};
  const bool refused = address.is_unix() ? !someone_listens(address.unix_path)
                                         : connect_tcp(address, kPatience).refused;
  if (!refused) return;
  throw NobodyListens("nothing listens at {} ({}); is it running, and is this its --listen?",
                      to_string(address),
                      address.is_unix() ? "no such socket" : "connection refused");
}

}  // namespace

std::shared_ptr<grpc::Channel> connect(const Address& address, const ConnectOptions& options) {
  auto channel =
      grpc::CreateCustomChannel(to_string(address), channel_credentials(options.tls.get(), address),
                                channel_arguments(options));
  const auto end = Clock::now() + options.wait;
  auto probe_at = Clock::now() + std::min(options.wait / 2, kProbeAfter);
  while (!stopped(options)) {
    const auto step = std::min({end, probe_at, Clock::now() + kStopCheckPeriod});
    if (channel->WaitForConnected(step)) return channel;
    if (!options.await_listener && channel->GetState(false) == GRPC_CHANNEL_TRANSIENT_FAILURE) {
      require_listener(address);
    }
    if (Clock::now() >= probe_at) {
      require_no_tls_trouble(address, options);
      probe_at = end;
    }
    if (Clock::now() >= end) {
      throw Error("waited {:.1f} s for {} and nothing answered; is it running and listening there?",
                  static_cast<double>(options.wait.count()) / 1000.0, to_string(address));
    }
  }
  throw Error("stopped while waiting for {}", to_string(address));
}

bool is_serving(const std::shared_ptr<grpc::Channel>& channel, std::chrono::milliseconds timeout) {
  grpc::ClientContext context;
  context.set_deadline(Clock::now() + timeout);
  grpc::health::v1::HealthCheckResponse response;
  const auto stub = grpc::health::v1::Health::NewStub(channel);
  return stub->Check(&context, {}, &response).ok() &&
         response.status() == grpc::health::v1::HealthCheckResponse::SERVING;
}

}  // namespace farvec::rpc
