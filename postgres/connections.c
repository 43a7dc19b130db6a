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
static bool is_allowed(const char* address, Oid user) {
  return superuser_arg(user) || is_listed(address);
}

static void check_allowed(const char* address) {
  if (is_allowed(address, GetUserId())) return;
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

static farvec_status describe(farvec_connection* handle, Patience* patience,
                              farvec_description* served, farvec_error* error) {
  *served = (farvec_description){.size = sizeof *served};
  farvec_status status;
  do {
    const farvec_wait wait = wait_of(patience);
    status = library()->describe(handle, &wait, served, error);
  } while (is_to_repeat(patience, status));
  return status;
}

static farvec_status connect_to(const char* address, Patience* patience, farvec_connection** handle,
                                farvec_error* error) {
  const farvec_connect_options options = {.size = sizeof options,
                                          .address = address,
                                          .tls_certificate = path_or_null(tls_certificate),
                                          .tls_key = path_or_null(tls_key),
                                          .tls_authority = path_or_null(tls_authority),
                                          .retries = 1};
  farvec_status status;
  do {
    const farvec_wait wait = wait_of(patience);
    status = library()->connect(&options, &wait, handle, error);
  } while (is_to_repeat(patience, status));
  return status;
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
static farvec_status describe_again(Connection* connection, Patience* patience, bool* another,
                                    farvec_error* error) {
  farvec_description now;
  farvec_status status = describe(connection->handle, patience, &now, error);
  if (status != FARVEC_OK) return status;
  *another = is_another(&connection->served, &now);
  if (*another) {
    // The library checks queries by what the node had when it connected.
    farvec_connection* handle;
    status = connect_to(connection->address, patience, &handle, error);
    if (status != FARVEC_OK) return status;
    library()->close(connection->handle);
    connection->handle = handle;
  }
  connection->served = now;
  connection->described_at = GetCurrentTimestamp();
  return FARVEC_OK;
}

bool refresh(Connection* connection, Patience* patience) {
  farvec_error error;
  bool another = false;
  if (describe_again(connection, patience, &another, &error) != FARVEC_OK) {
    raise_library_error(&error, connection->address, patience);
  }
  return another;
}

// A place with a new connection, of which nothing but the address is known yet.
static farvec_status connect_anew(const char* address, Patience* patience, Connection** made,
                                  farvec_error* error) {
  static bool closes_at_exit = false;
  if (!closes_at_exit) on_proc_exit(close_all, (Datum)0);
  closes_at_exit = true;
  farvec_connection* handle;
  const farvec_status status = connect_to(address, patience, &handle, error);
  if (status != FARVEC_OK) return status;
  Connection* place = place_for_another();
  if (place->handle != NULL) drop(place);
  strlcpy(place->address, address, sizeof place->address);
  place->handle = handle;
  ReserveExternalFD();  // the server counts its open files
  *made = place;
  return FARVEC_OK;
}

// A connection whose node was described no longer ago than a second; NULL with an error.
static Connection* described_connection(const char* address, Patience* patience,
                                        farvec_error* error) {
  Connection* place = find(address);
  farvec_status status = FARVEC_OK;
  if (place == NULL) status = connect_anew(address, patience, &place, error);
  if (status != FARVEC_OK) return NULL;
  place->last_use = ++uses;
  const bool is_new = place->served.size == 0;
  bool another;
  if (is_new) {
    status = describe(place->handle, patience, &place->served, error);
    if (status != FARVEC_OK) place->served.size = 0;
    place->described_at = GetCurrentTimestamp();
  } else if (TimestampDifferenceExceeds(place->described_at, GetCurrentTimestamp(),
                                        DESCRIBED_FOR_MS)) {
    status = describe_again(place, patience, &another, error);
  }
  return status == FARVEC_OK ? place : NULL;
}

Connection* connection_to(const char* address, Patience* patience) {
  check_address(address);
  check_allowed(address);
  farvec_error error;
  Connection* place = described_connection(address, patience, &error);
  if (place == NULL) raise_library_error(&error, address, patience);
  return place;
}

Connection* try_connection_to(const char* address, Oid user, Patience* patience,
                              farvec_error* error) {
  check_address(address);
  if (!is_allowed(address, user)) {
    error->status = FARVEC_PERMISSION_DENIED;
    snprintf(error->message, sizeof error->message,
             "the owner of the index may not use this address: a superuser adds it to "
             "farvec.allowed_nodes");
    return NULL;
  }
  return described_connection(address, patience, error);
}
