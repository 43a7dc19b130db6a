#include <postgres.h>

#include "postgres/connections.h"

#include <miscadmin.h>
#include <storage/fd.h>
#include <storage/ipc.h>
#include <utils/builtins.h>
#include <utils/guc.h>
#include <utils/timestamp.h>

// A node may be given another index. Distances are shown by what it had no longer ago than this.
#define DESCRIBED_FOR_MS 1000

static Connection connections[FARVEC_MAX_CONNECTIONS];
static uint64 uses = 0;

static char* allowed_nodes = NULL;
static char* tls_certificate = NULL;
static char* tls_key = NULL;
static char* tls_authority = NULL;

static void define_text(const char* name, char** value, const char* text) {
  DefineCustomStringVariable(name, text, NULL, value, "", PGC_SUSET, GUC_SUPERUSER_ONLY, NULL, NULL,
                             NULL);
}

void define_connection_settings(void) {
  define_text("farvec.allowed_nodes", &allowed_nodes,
              "Addresses of compute nodes that every user may name, with commas; * means all.");
  define_text("farvec.tls_certificate", &tls_certificate,
              "File with the certificate that this server shows to compute nodes.");
  define_text("farvec.tls_key", &tls_key, "File with the key of farvec.tls_certificate.");
  define_text("farvec.tls_authority", &tls_authority,
              "File with the authority that signs the certificates of compute nodes.");
}

static bool is_listed(const char* address) {
  char* names = pstrdup(allowed_nodes);
  char* rest = names;
  bool found = false;
  for (char* name = strtok_r(names, ", ", &rest); name != NULL && !found;
       name = strtok_r(NULL, ", ", &rest)) {
    found = strcmp(name, "*") == 0 || strcmp(name, address) == 0;
  }
  pfree(names);
  return found;
}

// The server reaches machines that its users do not, so it does not connect wherever they wish.
static void check_allowed(const char* address) {
  if (superuser() || is_listed(address)) return;
  ereport(ERROR, (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
                  errmsg("user %s may not search the compute node %s",
                         GetUserNameFromId(GetUserId(), false), address),
                  errhint("A superuser adds the address to farvec.allowed_nodes.")));
}

static void drop(Connection* connection) {
  library()->close(connection->handle);
  ReleaseExternalFD();
  memset(connection, 0, sizeof *connection);
}

// Threads of the library end before the process takes its memory down.
static void close_all(int code, Datum unused) {
  (void)code;
  (void)unused;
  for (int i = 0; i < FARVEC_MAX_CONNECTIONS; i++) {
    if (connections[i].handle != NULL) drop(&connections[i]);
  }
}

static Connection* find(const char* address) {
  for (int i = 0; i < FARVEC_MAX_CONNECTIONS; i++) {
    if (strcmp(connections[i].address, address) == 0) return &connections[i];
  }
  return NULL;
}

// A free place, or that of the connection that was not used for the longest time.
static Connection* place_for_another(void) {
  Connection* place = &connections[0];
  for (int i = 0; i < FARVEC_MAX_CONNECTIONS; i++) {
    if (connections[i].handle == NULL) return &connections[i];
    if (connections[i].last_use < place->last_use) place = &connections[i];
  }
  return place;
}

static const char* path_or_null(const char* path) {
  return *path == '\0' ? NULL : path;
}

static farvec_description described(farvec_connection* handle, const char* address,
                                    Patience* patience) {
  farvec_description served = {.size = sizeof served};
  farvec_status status;
  farvec_error error;
  do {
    const farvec_wait wait = wait_of(patience);
    status = library()->describe(handle, &wait, &served, &error);
  } while (is_to_repeat(patience, status));
  if (status != FARVEC_OK) raise_library_error(&error, address, patience);
  return served;
}

static farvec_connection* connected(const char* address, Patience* patience) {
  const farvec_connect_options options = {.size = sizeof options,
                                          .address = address,
                                          .tls_certificate = path_or_null(tls_certificate),
                                          .tls_key = path_or_null(tls_key),
                                          .tls_authority = path_or_null(tls_authority),
                                          .retries = 1};
  farvec_connection* handle;
  farvec_status status;
  farvec_error error;
  do {
    const farvec_wait wait = wait_of(patience);
    status = library()->connect(&options, &wait, &handle, &error);
  } while (is_to_repeat(patience, status));
  if (status != FARVEC_OK) raise_library_error(&error, address, patience);
  return handle;
}

static void check_address(const char* address) {
  if (*address != '\0' && strlen(address) <= FARVEC_MAX_ADDRESS) return;
  ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                  errmsg("the address of a compute node has 1 to %d bytes", FARVEC_MAX_ADDRESS),
                  errhint("Write it as 'host:port' or 'unix:/path'.")));
}

// A collection's count changes with every insert, and limits nothing.
static bool is_another(const farvec_description* before, const farvec_description* now) {
  return before->type != now->type || before->dimension != now->dimension ||
         before->metric != now->metric || before->own_ids != now->own_ids ||
         (!now->own_ids && before->count != now->count) || before->max_k != now->max_k ||
         before->max_list != now->max_list || before->max_probe != now->max_probe;
}

// The handle and what is known of its node change together, after all that can fail.
bool refresh(Connection* connection, Patience* patience) {
  const farvec_description now = described(connection->handle, connection->address, patience);
  const bool another = is_another(&connection->served, &now);
  if (another) {
    // The library checks queries by what the node had when it connected.
    farvec_connection* handle = connected(connection->address, patience);
    library()->close(connection->handle);
    connection->handle = handle;
  }
  connection->served = now;
  connection->described_at = GetCurrentTimestamp();
  return another;
}

// A place with a new connection, of which nothing but the address is known yet.
static Connection* connect_anew(const char* address, Patience* patience) {
  static bool closes_at_exit = false;
  if (!closes_at_exit) on_proc_exit(close_all, (Datum)0);
  closes_at_exit = true;
  farvec_connection* handle = connected(address, patience);
  Connection* place = place_for_another();
  if (place->handle != NULL) drop(place);
  strlcpy(place->address, address, sizeof place->address);
  place->handle = handle;
  ReserveExternalFD();  // the server counts its open files
  return place;
}

Connection* connection_to(const char* address, Patience* patience) {
  check_address(address);
  check_allowed(address);
  Connection* place = find(address);
  if (place == NULL) place = connect_anew(address, patience);
  place->last_use = ++uses;
  if (place->served.size == 0) {
    place->served = described(place->handle, address, patience);
    place->described_at = GetCurrentTimestamp();
  } else if (TimestampDifferenceExceeds(place->described_at, GetCurrentTimestamp(),
                                        DESCRIBED_FOR_MS)) {
    refresh(place, patience);
  }
  return place;
}
