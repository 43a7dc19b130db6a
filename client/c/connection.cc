#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

#include "base/version.h"
#include "client/c/guard.h"
#include "client/c/handles.h"
#include "client/c/session.h"
#include "client/node_answers.h"

namespace farvec::c {
namespace {

/// How long farvec_close() waits for what is under way to end.
constexpr std::chrono::milliseconds kCloseWait{2'000};

/// The process that connected first. gRPC has threads from then on, which a child does not have.
std::atomic<pid_t> first_process{0};

void require_no_fork() {
  pid_t first = 0;
  const pid_t now = getpid();
  // relaxed: the number is all that is passed on.
  if (first_process.compare_exchange_strong(first, now, std::memory_order_relaxed)) return;
  if (first == now) return;
  throw StatusError(StatusCode::failed_precondition,
                    "process {} had connected before process {} came from it by fork(): connect "
                    "after fork() alone, or in a program of its own",
                    first, now);
}

struct ConnectCall {
  client::NodeAccess access;
  std::uint32_t retries = 0;
};

ConnectCall given_connect(const farvec_connect_options* options) {
  (void)required(options, "options");
  const farvec_connect_options given = sized_copy(options, "options");
  ConnectCall call;
  call.access.address = &required(given.address, "options.address");
  call.access.tls = {.certificate = given_text(given.tls_certificate),
                     .key = given_text(given.tls_key),
                     .authority = given_text(given.tls_authority)};
  call.retries = given.retries;
  return call;
}

/// Closes a connection that was not made.
class ClosesWorker {
 public:
  explicit ClosesWorker(std::shared_ptr<Worker> worker) : worker_(std::move(worker)) {}
  ~ClosesWorker() {
    if (worker_) worker_->close({});
  }
  ClosesWorker(const ClosesWorker&) = delete;
  ClosesWorker& operator=(const ClosesWorker&) = delete;

  Worker& worker() { return *worker_; }
  std::shared_ptr<Worker> keep() { return std::exchange(worker_, nullptr); }

 private:
  std::shared_ptr<Worker> worker_;
};

farvec_description description_of(const compute_node::v1::DescribeResponse& node) {
  farvec_description made{};
  made.count = node.count();
  made.dimension = node.dimension();
  made.type = static_cast<std::int32_t>(client::element_type(node.type()));
  made.stored_type = static_cast<std::int32_t>(client::element_type(node.stored_type()));
  made.metric = static_cast<std::int32_t>(client::metric(node.metric()));
  made.max_k = node.max_k();
  made.max_list = node.max_list();
  made.max_probe = node.clusters() == 0 ? 0 : node.max_probe();
  made.own_ids = client::serves_collection(node) ? 1 : 0;
  return made;
}

char* copied_text(const std::string& text) {
  auto* const copy = static_cast<char*>(std::malloc(text.size() + 1));
  if (copy == nullptr) throw std::bad_alloc();
  std::memcpy(copy, text.c_str(), text.size() + 1);
  return copy;
}

}  // namespace
}  // namespace farvec::c

namespace c = farvec::c;

const char* farvec_version(void) {
  return farvec::version().data();
}

const char* farvec_status_name(int32_t status) {
  if (status < 0 || status > 255) return "UNKNOWN";
  return to_string(static_cast<farvec::StatusCode>(status)).data();
}

farvec_status farvec_connect(const farvec_connect_options* options, const farvec_wait* wait,
                             farvec_connection** connection, farvec_error* error) {
  return c::guarded(error, [&] {
    farvec_connection*& out = c::emptied(connection, "connection");
    const auto call = std::make_shared<c::ConnectCall>(c::given_connect(options));
    const c::Wait patience = c::given_wait(wait);
    c::require_no_fork();
    c::ClosesWorker made(c::Worker::start());
    auto handle = std::make_unique<farvec_connection>();
    made.worker().run(patience, {[call](auto& session, const c::Turn& turn) {
                        call->access.connect_wait = turn.left();
                        call->access.stop = &turn.cancelled;
                        session = std::make_unique<c::Session>(call->access, call->retries, turn);
                      }});
    handle->worker = made.keep();
    out = handle.release();
  });
}

void farvec_close(farvec_connection* connection) {
  (void)c::guarded(nullptr, [&] {
    const std::unique_ptr<farvec_connection> closed(connection);
    if (closed) closed->worker->close(c::kCloseWait);
  });
}

farvec_status farvec_describe(farvec_connection* connection, const farvec_wait* wait,
                              farvec_description* description, farvec_error* error) {
  return c::guarded(error, [&] {
    const auto worker = c::worker_of(connection);
    (void)c::required(description, "description");
    c::give_sized(farvec_description{}, *description, "description");
    const auto said = std::make_shared<farvec_description>();
    worker->run(c::given_wait(wait), {[said](auto& session, const c::Turn& turn) {
                  *said = c::description_of(session->describe(turn));
                }});
    c::give_sized(*said, *description, "description");
  });
}

farvec_status farvec_state(farvec_connection* connection, const farvec_wait* wait, char** json,
                           farvec_error* error) {
  return c::guarded(error, [&] {
    char*& out = c::emptied(json, "json");
    const auto worker = c::worker_of(connection);
    const auto said = std::make_shared<std::string>();
    worker->run(c::given_wait(wait),
                {[said](auto& session, const c::Turn& turn) { *said = session->state(turn); }});
    out = c::copied_text(*said);
  });
}

void farvec_text_free(char* text) {
  std::free(text);
}
