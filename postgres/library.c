#include <postgres.h>

#include "postgres/library.h"

#include <dlfcn.h>
#include <math.h>
#include <miscadmin.h>
#include <signal.h>
#include <unistd.h>
#include <utils/timeout.h>
#include <utils/timestamp.h>

#include "postgres/encoding.h"

#define LIBRARY_FILE "libfarvec.so.0"
#define AFTER_TIMEOUT_MS 500

static Library loaded;
static bool is_loaded = false;

// A pointer to a function by its name. The linker of C knows data pointers alone, hence the copy.
static void find_function(void* handle, const char* name, void* function, Size bytes) {
  void* address = dlsym(handle, name);
  if (address == NULL) {
    ereport(ERROR, (errcode(ERRCODE_UNDEFINED_FUNCTION),
                    errmsg("%s has no function %s", LIBRARY_FILE, name),
                    errhint("Install the libfarvec that belongs to this extension.")));
  }
  memcpy(function, &address, bytes);
}

// The library that was installed beside the extension goes before that of the system.
static const char* library_file(void) {
  char* beside = psprintf("%s/%s", pkglib_path, LIBRARY_FILE);
  return access(beside, F_OK) == 0 ? beside : LIBRARY_FILE;
}

// Its symbols stay its own: other extensions may bring their own gRPC. Threads that its libraries
// start take no signals, which are for the backend's own thread.
static void* open_library(void) {
  const char* file = library_file();
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  void* handle = dlopen(file, RTLD_NOW | RTLD_LOCAL);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return handle;
}

static void load(void) {
  void* handle = open_library();
  if (handle == NULL) {
    ereport(ERROR,
            (errcode(ERRCODE_UNDEFINED_FILE),
             errmsg("the library that searches compute nodes cannot be loaded"),
             errdetail("%s", dlerror()),
             errhint("Install libfarvec, or put its folder into LD_LIBRARY_PATH of the server.")));
  }
#define FARVEC_LIBRARY_FIND(name) \
  find_function(handle, "farvec_" #name, &loaded.name, sizeof loaded.name);
  FARVEC_LIBRARY_FUNCTIONS(FARVEC_LIBRARY_FIND)
#undef FARVEC_LIBRARY_FIND
  if (strcmp(loaded.version(), FARVEC_VERSION) != 0) {
    ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                    errmsg("%s has the version %s, and the extension is for %s", LIBRARY_FILE,
                           loaded.version(), FARVEC_VERSION),
                    errhint("Install both of one version, and connect again.")));
  }
}

const Library* library(void) {
  if (!is_loaded) {
    load();
    is_loaded = true;
  }
  return &loaded;
}

// Calls that other interrupts than a cancelled query end are repeated after at least this time.
#define LEAST_ATTEMPT_MS 20

Patience patience_for(uint32_t deadline_ms) {
  Patience patience = {.deadline_ms = deadline_ms};
  INSTR_TIME_SET_CURRENT(patience.began);
  return patience;
}

static double waited_ms(const Patience* patience) {
  instr_time now;
  INSTR_TIME_SET_CURRENT(now);
  INSTR_TIME_SUBTRACT(now, patience->began);
  return INSTR_TIME_GET_MILLISEC(now);
}

// Errors of PostgreSQL leave a function by a jump, which must not pass C++: this only looks.
static int is_interrupted(void* context) {
  Patience* patience = context;
  if (!InterruptPending || !INTERRUPTS_CAN_BE_PROCESSED()) return 0;
  const bool is_cancelled = QueryCancelPending || ProcDiePending;
  patience->gave_way = is_cancelled || waited_ms(patience) >= patience->gives_way_at_ms;
  return patience->gave_way;
}

// Time that the server leaves the statement, and a little more. So PostgreSQL's own error comes
// first, and a search of which the client waits no more has an end.
static double server_allows_ms(TimeoutId timeout) {
  if (!get_timeout_active(timeout)) return INFINITY;
  const long left_ms =
      TimestampDifferenceMilliseconds(GetCurrentTimestamp(), get_timeout_finish_time(timeout));
  return (double)left_ms + AFTER_TIMEOUT_MS;
}

farvec_wait wait_of(Patience* patience) {
  double left_ms = ceil((double)patience->deadline_ms - waited_ms(patience));
  left_ms = Min(left_ms, server_allows_ms(STATEMENT_TIMEOUT));
#if PG_VERSION_NUM >= 170000
  left_ms = Min(left_ms, server_allows_ms(TRANSACTION_TIMEOUT));
#endif
  patience->gave_way = false;
  return (farvec_wait){.size = sizeof(farvec_wait),
                       .deadline_ms = left_ms < 1 ? 1 : (uint32_t)left_ms,
                       .interrupted = is_interrupted,
                       .context = patience};
}

// The next attempt may take as long as all before it, however often the server interrupts.
bool is_to_repeat(Patience* patience, farvec_status status) {
  if (status != FARVEC_CANCELLED || !patience->gave_way) return false;
  CHECK_FOR_INTERRUPTS();
  patience->gives_way_at_ms = 2 * waited_ms(patience) + LEAST_ATTEMPT_MS;
  return true;
}

static int state_of(int32_t status) {
  switch (status) {
    case FARVEC_INVALID_ARGUMENT:
      return ERRCODE_INVALID_PARAMETER_VALUE;
    case FARVEC_CANCELLED:
    case FARVEC_DEADLINE_EXCEEDED:
      return ERRCODE_QUERY_CANCELED;
    case FARVEC_NOT_FOUND:
      return ERRCODE_UNDEFINED_OBJECT;
    case FARVEC_PERMISSION_DENIED:
      return ERRCODE_INSUFFICIENT_PRIVILEGE;
    case FARVEC_RESOURCE_EXHAUSTED:
      return ERRCODE_INSUFFICIENT_RESOURCES;
    case FARVEC_FAILED_PRECONDITION:
      return ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE;
    case FARVEC_UNAVAILABLE:
      return ERRCODE_CONNECTION_FAILURE;
    case FARVEC_DATA_LOSS:
      return ERRCODE_DATA_CORRUPTED;
    default:
      return ERRCODE_EXTERNAL_ROUTINE_EXCEPTION;
  }
}

static const char* hint_of(int32_t status) {
  switch (status) {
    case FARVEC_INVALID_ARGUMENT:
      return "farvec_node(address) shows what the node serves and allows.";
    case FARVEC_DEADLINE_EXCEEDED:
      return "Give it more time (deadline => '30 s'), or a shorter list.";
    case FARVEC_PERMISSION_DENIED:
      return "farvec.tls_certificate and farvec.tls_key say who this server is to the node.";
    case FARVEC_RESOURCE_EXHAUSTED:
      return "The node has more to do than it takes: try again later, or ask for less.";
    case FARVEC_UNAVAILABLE:
      return "Is farvec-compute-node running at this address, and does it serve an index?";
    default:
      return "The log of the node may say more.";
  }
}

void raise_library_error(const farvec_error* error, const char* node, const Patience* patience) {
  CHECK_FOR_INTERRUPTS();  // what ended the wait is told by PostgreSQL itself
  const char* message = message_of_utf8(error->message);
  if (error->status == FARVEC_DEADLINE_EXCEEDED) {
    ereport(ERROR, (errcode(state_of(error->status)),
                    errmsg("the compute node %s has not answered within %u ms", node,
                           patience->deadline_ms),
                    errdetail("%s", message), errhint("%s", hint_of(error->status))));
  }
  ereport(ERROR,
          (errcode(state_of(error->status)), errmsg("the compute node %s: %s", node, message),
           errhint("%s", hint_of(error->status))));
}
