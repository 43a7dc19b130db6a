#define _GNU_SOURCE  // pipe2()

#include <postgres.h>

#include "postgres/worker/process.h"

#include <common/hashfn.h>
#include <errno.h>
#include <fcntl.h>
#include <libpq/pqsignal.h>
#include <miscadmin.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "postgres/worker/settings.h"

#define END_LOOKS 500  // 10 ms each, before a process that was told to end is killed
#define LOOK_US 10000

#define MAX_WORDS 20

// Where segments are made when the system has it: memory that no disk is behind.
#define SHARED_MEMORY "/dev/shm"

// The first number is the server's own, so that the engine finds what killed ones have left.
static void name_segment(EngineProcess* engine) {
  uint64 number = 0;
  const uint32 server = hash_bytes((const unsigned char*)DataDir, (int)strlen(DataDir));
  if (!pg_strong_random(&number, sizeof number)) elog(ERROR, "there are no random numbers");
  const char* where = access(SHARED_MEMORY, W_OK) == 0 ? SHARED_MEMORY : DataDir;
  snprintf(engine->segment, sizeof engine->segment, "%s/farvec-%08x-" UINT64_FORMAT, where, server,
           number);
}

// A command line; its words lie in the current context.
static void write_words(char** words, const EngineProcess* engine, uint32 slots) {
  int count = 0;
  words[count++] = engine_program();
  words[count++] = "--folder";
  words[count++] = engine_folder();
  words[count++] = "--tablespaces";
  words[count++] = psprintf("%s/%s", DataDir, FARVEC_TABLESPACES);
  words[count++] = "--within";
  words[count++] = FARVEC_TABLESPACE_FOLDER;
  words[count++] = "--segment";
  words[count++] = pstrdup(engine->segment);
  words[count++] = "--memory";
  words[count++] = psprintf("%dMiB", farvec_engine_memory_mb);
  words[count++] = "--slots";
  words[count++] = psprintf("%u", slots);
  words[count++] = "--watch-input";
  if (farvec_engine_threads > 0) {
    words[count++] = "--threads";
    words[count++] = psprintf("%d", farvec_engine_threads);
  }
  words[count] = NULL;
}

// In the new process, which has the server's memory until it is the program: it calls the system
// alone. The kernel ends it when the worker ends in any way.
static void become_program(char** words, int input, int output, pid_t parent) {
  sigset_t none;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);
  dup2(input, STDIN_FILENO);
  dup2(output, STDOUT_FILENO);
  dup2(output, STDERR_FILENO);
#ifdef SYS_close_range
  syscall(SYS_close_range, STDERR_FILENO + 1, ~0U, 0);
#endif
  for (int number = 1; number < NSIG; number++) signal(number, SIG_DFL);
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
  execv(words[0], words);
  _exit(127);
}

static bool make_pipes(int input[2], int output[2]) {
  if (pipe2(input, O_CLOEXEC) != 0) return false;
  if (pipe2(output, O_CLOEXEC) == 0) {
    fcntl(output[0], F_SETFL, O_NONBLOCK);
    return true;
  }
  close(input[0]);
  close(input[1]);
  return false;
}

static void spawn(EngineProcess* engine, char** words, int input[2], int output[2]) {
  sigset_t all;
  sigset_t before;
  const pid_t parent = getpid();
  // No handler of the server runs in the new process.
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, &before);
  const pid_t child = fork();
  if (child == 0) become_program(words, input[0], output[1], parent);
  const int failed = errno;
  sigprocmask(SIG_SETMASK, &before, NULL);
  engine->pid = child > 0 ? child : 0;
  close(input[0]);
  close(output[1]);
  engine->input = input[1];
  engine->output = output[0];
  engine->length = 0;
  engine->last[0] = '\0';
  errno = failed;
}

static void close_pipes(EngineProcess* engine) {
  close(engine->input);
  close(engine->output);
}

bool start_process(EngineProcess* engine, uint32 slots, char* why, size_t why_bytes) {
  char* words[MAX_WORDS];
  int input[2];
  int output[2];
  name_segment(engine);
  write_words(words, engine, slots);
  if (access(words[0], X_OK) != 0) {
    snprintf(why, why_bytes, "cannot be started from %s: %s", words[0], strerror(errno));
    return false;
  }
  if (!make_pipes(input, output)) {
    snprintf(why, why_bytes, "cannot be given pipes: %s", strerror(errno));
    return false;
  }
  spawn(engine, words, input, output);
  if (engine->pid != 0) return true;
  snprintf(why, why_bytes, "cannot be started: %s", strerror(errno));
  close_pipes(engine);
  return false;
}

static void write_line(EngineProcess* engine) {
  engine->line[engine->length] = '\0';
  if (engine->length > 0) {
    strlcpy(engine->last, engine->line, sizeof engine->last);
    ereport(LOG, (errmsg_internal("%s", engine->line)));
  }
  engine->length = 0;
}

static void add_output(EngineProcess* engine, const char* bytes, ssize_t count) {
  for (ssize_t i = 0; i < count; i++) {
    if (bytes[i] == '\n' || engine->length == sizeof engine->line - 1) write_line(engine);
    if (bytes[i] != '\n') engine->line[engine->length++] = bytes[i];
  }
}

void log_output(EngineProcess* engine) {
  char bytes[512];
  for (int i = 0; i < 100; i++) {
    const ssize_t count = read(engine->output, bytes, sizeof bytes);
    if (count <= 0) return;
    add_output(engine, bytes, count);
  }
}

static void take_leave(EngineProcess* engine) {
  log_output(engine);
  write_line(engine);
  close_pipes(engine);
  unlink(engine->segment);  // one that was killed has left it
  engine->pid = 0;
}

bool has_ended(EngineProcess* engine, char* why, size_t why_bytes) {
  int status;
  if (waitpid(engine->pid, &status, WNOHANG) != engine->pid) return false;
  take_leave(engine);
  if (WIFSIGNALED(status)) {
    snprintf(why, why_bytes, "was ended by signal %d", WTERMSIG(status));
  } else {
    snprintf(why, why_bytes, "has ended with status %d (%s)", WEXITSTATUS(status), engine->last);
  }
  return true;
}

// It ends when its input closes, and is killed where that takes too long.
void end_process(EngineProcess* engine) {
  int status;
  if (engine->pid == 0) return;
  close(engine->input);
  engine->input = -1;
  for (int i = 0; i < END_LOOKS; i++) {
    log_output(engine);
    if (waitpid(engine->pid, &status, WNOHANG) == engine->pid) {
      take_leave(engine);
      return;
    }
    pg_usleep(LOOK_US);
  }
  kill(engine->pid, SIGKILL);
  waitpid(engine->pid, &status, 0);
  take_leave(engine);
}
