#include "node.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "check.h"

enum { kMostWords = 40, kMostNodes = 16, kTries = 3000 };

static char folder[kPathRoom];
static pid_t made_by;
static pid_t nodes[kMostNodes];
static size_t node_count;

static void execute(const char* const words[], const char* output) {
  const int log = output == NULL ? -1 : open(output, O_WRONLY | O_CREAT | O_APPEND, 0600);
  const char* all[kMostWords] = {"/usr/bin/setpriv", "--pdeathsig", "KILL"};
  size_t i;
  for (i = 0; words[i] != NULL && i + 4 < kMostWords; ++i) all[i + 3] = words[i];
  if (log >= 0) {
    dup2(log, STDOUT_FILENO);
    dup2(log, STDERR_FILENO);
  }
  execv(all[0], (char* const*)all);
  _exit(127);
}

static pid_t spawn(const char* const words[], const char* output) {
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) execute(words, output);
  return child;
}

static void show_logs(void) {
  const char* const words[] = {"/bin/sh", "-c", "cat \"$0\"/*.log >&2", folder, NULL};
  waitpid(spawn(words, NULL), NULL, 0);
}

// What nodes still write would be in the way.
static void end_nodes(void) {
  size_t i;
  for (i = 0; i < node_count; ++i) {
    kill(nodes[i], SIGKILL);
    waitpid(nodes[i], NULL, 0);
  }
}

static void remove_folder(void) {
  const char* const words[] = {"/bin/rm", "-rf", folder, NULL};
  if (getpid() != made_by) return;
  end_nodes();
  if (failures > 0) show_logs();
  waitpid(spawn(words, NULL), NULL, 0);
}

void make_folder(void) {
  const char* const parent = getenv("TMPDIR");
  snprintf(folder, sizeof folder, "%s/farvec-c-XXXXXX", parent == NULL ? "/tmp" : parent);
  REQUIRE(mkdtemp(folder) != NULL);
  made_by = getpid();
  atexit(remove_folder);
}

void path_in_folder(char path[kPathRoom], const char* name) {
  REQUIRE(snprintf(path, kPathRoom, "%s/%s", folder, name) < kPathRoom);
}

static void all_words(const char* program, const char* const words[], const char* all[kMostWords]) {
  size_t i;
  all[0] = program;
  for (i = 0; words != NULL && words[i] != NULL; ++i) {
    REQUIRE(i + 5 < kMostWords);
    all[i + 1] = words[i];
  }
  all[i + 1] = NULL;
}

void run_program(const char* program, const char* const words[]) {
  const char* all[kMostWords];
  char log[kPathRoom];
  int status = -1;
  path_in_folder(log, "tool.log");
  all_words(program, words, all);
  waitpid(spawn(all, log), &status, 0);
  REQUIRE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

void run_tool(const char* const words[]) {
  run_program(FARVEC_BIN_DIR "/farvec", words);
}

node start_node_at(const char* address, const char* name, const char* const words[]) {
  const char* all[kMostWords];
  char log[kPathRoom];
  char log_name[64];
  node started;
  size_t count = 0;
  REQUIRE(strlen(address) < sizeof started.address);
  strcpy(started.address, address);
  snprintf(log_name, sizeof log_name, "%s.log", name);
  path_in_folder(log, log_name);
  all_words(FARVEC_BIN_DIR "/farvec-compute-node", words, all);
  while (all[count] != NULL) ++count;
  all[count] = "--listen";
  all[count + 1] = started.address;
  all[count + 2] = NULL;
  REQUIRE(node_count < kMostNodes);
  started.pid = spawn(all, log);
  nodes[node_count++] = started.pid;
  return started;
}

node start_node(const char* name, const char* const words[]) {
  char path[kPathRoom];
  char address[kPathRoom + 5];
  path_in_folder(path, name);
  snprintf(address, sizeof address, "unix:%s", path);
  return start_node_at(address, name, words);
}

void stop_node(node* started, int signal_number) {
  size_t i = 0;
  kill(started->pid, signal_number);
  waitpid(started->pid, NULL, 0);
  while (i < node_count && nodes[i] != started->pid) ++i;
  REQUIRE(i < node_count);
  nodes[i] = nodes[--node_count];
  started->pid = -1;
}

void pause_node(const node* started) {
  int status = 0;
  kill(started->pid, SIGSTOP);
  REQUIRE(waitpid(started->pid, &status, WUNTRACED) == started->pid);
  REQUIRE(WIFSTOPPED(status));
}

farvec_connection* connect_to(const node* started) {
  const struct timespec pause = {0, 20 * 1000 * 1000};
  farvec_connect_options options = {0};
  farvec_connection* connection = NULL;
  farvec_error error;
  int tries;
  options.size = sizeof options;
  options.address = started->address;
  for (tries = 0; tries < kTries; ++tries) {
    if (farvec_connect(&options, NULL, &connection, &error) == FARVEC_OK) return connection;
    REQUIRE(connection == NULL);
    REQUIRE(error.status == FARVEC_UNAVAILABLE);
    REQUIRE(waitpid(started->pid, NULL, WNOHANG) == 0);
    nanosleep(&pause, NULL);
  }
  REQUIRE(connection != NULL);
  return NULL;
}

void create_collection(const char* name, farvec_type type, uint32_t dimension,
                       const char* const words[]) {
  static const char* const types[] = {"f32", "f16", "u8", "i8", "b1"};
  const char* create[kMostWords] = {
      "collection",  "create", "--collection", NULL, "--metric", NULL, "--type",          NULL,
      "--dimension", NULL,     "--degree",     "12", "--list",   "24", "--memtable-rows", "150"};
  char set[kPathRoom];
  char set_name[64];
  char elements[16];
  size_t count = 16;
  snprintf(set_name, sizeof set_name, "%s.set", name);
  path_in_folder(set, set_name);
  snprintf(elements, sizeof elements, "%u", (unsigned)dimension);
  create[3] = set;
  create[5] = type == FARVEC_B1 ? "hamming" : "l2";
  create[7] = types[type];
  create[9] = elements;
  for (; words != NULL && *words != NULL; ++words) {
    REQUIRE(count + 1 < kMostWords);
    create[count++] = *words;
  }
  run_tool(create);
}

node start_collection(const char* name, farvec_type type, uint32_t dimension,
                      const char* const words[]) {
  char set[kPathRoom];
  char set_name[64];
  const char* serve[] = {"--collection", set, NULL};
  create_collection(name, type, dimension, words);
  snprintf(set_name, sizeof set_name, "%s.set", name);
  path_in_folder(set, set_name);
  return start_node(name, serve);
}
