// A node that demands TLS, and clients that have certificates, others, or none.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "check.h"
#include "node.h"
#include "sample.h"
#include "tests.h"

enum { kDimension = 4, kTries = 3000 };

static farvec_error error;

// Writes an address of this machine whose port is free.
static void free_address(char* address, size_t room) {
  struct sockaddr_in at;
  socklen_t size = sizeof at;
  const int probe = socket(AF_INET, SOCK_STREAM, 0);
  memset(&at, 0, sizeof at);
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  REQUIRE(probe >= 0);
  REQUIRE(bind(probe, (struct sockaddr*)&at, sizeof at) == 0);
  REQUIRE(getsockname(probe, (struct sockaddr*)&at, &size) == 0);
  close(probe);
  snprintf(address, room, "127.0.0.1:%u", (unsigned)ntohs(at.sin_port));
}

static farvec_connection* connect_with(const farvec_connect_options* options) {
  const struct timespec pause = {0, 20 * 1000 * 1000};
  farvec_connection* connection = NULL;
  int tries;
  for (tries = 0; tries < kTries; ++tries) {
    if (farvec_connect(options, NULL, &connection, &error) == FARVEC_OK) return connection;
    REQUIRE(error.status == FARVEC_UNAVAILABLE);
    nanosleep(&pause, NULL);
  }
  REQUIRE(connection != NULL);
  return NULL;
}

void test_tls(void) {
  char certificates[kPathRoom];
  char files[5][kPathRoom];
  char set[kPathRoom];
  char address[64];
  const char* make[] = {certificates, NULL};
  const char* serve[] = {"--collection", set,        "--tls-cert", files[0], "--tls-key",
                         files[1],       "--tls-ca", files[2],     NULL};
  static const char* const names[] = {"certs/node.crt", "certs/node.key", "certs/ca.crt",
                                      "certs/client.crt", "certs/client.key"};
  sample rows = make_sample(FARVEC_F32, kDimension, 2, 1);
  const uint64_t ids[] = {1, 2};
  farvec_connect_options options = {0};
  farvec_connection* connection;
  farvec_results* results = NULL;
  node served;
  size_t i;
  path_in_folder(certificates, "certs");
  for (i = 0; i < 5; ++i) path_in_folder(files[i], names[i]);
  run_program(FARVEC_SOURCE_DIR "/scripts/tls/make-certs.sh", make);
  create_collection("tls", FARVEC_F32, kDimension, NULL);
  path_in_folder(set, "tls.set");
  free_address(address, sizeof address);
  served = start_node_at(address, "tls", serve);

  options.size = sizeof options;
  options.address = address;
  options.tls_certificate = files[3];
  options.tls_key = files[4];
  options.tls_authority = files[2];
  connection = connect_with(&options);
  CHECK_OK(farvec_search(connection, &rows.rows, NULL, NULL, &results, &error));
  farvec_results_free(results);
  // A node over TLS lets those change rows whom its operator names.
  CHECK_FAILS(farvec_insert(connection, &rows.rows, ids, NULL, NULL, NULL, &error),
              FARVEC_PERMISSION_DENIED, "--changer");
  farvec_close(connection);

  options.tls_key = files[1];
  CHECK_FAILS(farvec_connect(&options, NULL, &connection, &error), FARVEC_INVALID_ARGUMENT,
              "client.crt");
  options.tls_key = "/nowhere/client.key";
  CHECK_FAILS(farvec_connect(&options, NULL, &connection, &error), FARVEC_INVALID_ARGUMENT,
              "/nowhere/client.key");
  options.tls_certificate = NULL;
  options.tls_key = NULL;
  options.tls_authority = NULL;
  CHECK_FAILS(farvec_connect(&options, NULL, &connection, &error), FARVEC_UNAVAILABLE,
              "demands TLS");
  CHECK(connection == NULL);
  stop_node(&served, SIGTERM);
  free_sample(&rows);
}
