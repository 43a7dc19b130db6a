// The background worker that starts the engine, watches it, and starts it again.
#include <postgres.h>

#include <access/xlog.h>
#include <miscadmin.h>
#include <pgstat.h>
#include <postmaster/bgworker.h>
#include <postmaster/interrupt.h>
#include <storage/ipc.h>
#include <storage/latch.h>
#include <utils/guc.h>
#include <utils/memutils.h>
#include <utils/timestamp.h>

#include "postgres/channel/channel.h"
#include "postgres/shared.h"
#include "postgres/worker/folders.h"
#include "postgres/worker/process.h"
#include "postgres/worker/settings.h"

#define FIRST_PAUSE_MS 100
#define LAST_PAUSE_MS 30000
#define STARTING_LOOK_MS 20
#define SERVING_LOOK_MS 1000
#define MOST_SLOTS 128  // calls at the same time; others wait. They take 22 MB of /dev/shm
#define CALM_MS 60000   // an engine that served so long did not end at once

static EngineProcess engine;
static uint64 serving = 0;             // the incarnation that backends were told; 0: none
static int pause_ms = FIRST_PAUSE_MS;  // before the next start
static TimestampTz start_at = 0;
static TimestampTz calm_at = 0;

PGDLLEXPORT void farvec_engine_main(Datum unused);

static void on_child(SIGNAL_ARGS) {
  const int saved = errno;
  (void)postgres_signal_arg;
  SetLatch(MyLatch);
  errno = saved;
}

// Tells backends which engine serves, or why none does.
static void publish(uint64 incarnation, const char* why) {
  EngineState* state = &shared_state()->engine;
  SpinLockAcquire(&state->lock);
  state->incarnation = incarnation;
  strlcpy(state->segment, engine.segment, sizeof state->segment);
  strlcpy(state->why, why, sizeof state->why);
  SpinLockRelease(&state->lock);
  serving = incarnation;
  if (serving != 0) calm_at = TimestampTzPlusMilliseconds(GetCurrentTimestamp(), CALM_MS);
}

static void wait_before_start(const char* why) {
  publish(0, why);
  start_at = TimestampTzPlusMilliseconds(GetCurrentTimestamp(), pause_ms);
  pause_ms = Min(2 * pause_ms, LAST_PAUSE_MS);
}

static void start(void) {
  char why[FARVEC_ENGINE_REASON];
  if (GetCurrentTimestamp() < start_at) return;
  const uint32 slots = Min((uint32)MaxBackends, MOST_SLOTS);
  if (start_process(&engine, slots, why, sizeof why)) return;
  ereport(WARNING, (errmsg("the engine of farvec %s", why),
                    errhint("farvec.engine is the path of its program; farvec.engine_memory = 0 "
                            "starts none.")));
  wait_before_start(why);
}

static void look_whether_it_ended(void) {
  char how[FARVEC_ENGINE_REASON - 32];
  char why[FARVEC_ENGINE_REASON];
  if (!has_ended(&engine, how, sizeof how)) return;
  ereport(WARNING,
          (errmsg("the engine of farvec %s, and is started again in %d ms", how, pause_ms)));
  snprintf(why, sizeof why, "%s, and is started again", how);
  wait_before_start(why);
}

// The extension was loaded when the server started, and the program is what is installed now.
static void end_one_of_another_version(uint32 version) {
  char why[FARVEC_ENGINE_REASON];
  const uint32 own = channel_version();
  snprintf(why, sizeof why,
           "speaks version %u.%u and the extension %u.%u: install both from one build, and start "
           "the server again",
           version >> 16, version & 0xffff, own >> 16, own & 0xffff);
  ereport(WARNING, (errmsg("the engine of farvec %s", why)));
  end_process(&engine);
  wait_before_start(why);
}

static void look_whether_it_serves(void) {
  char why[CHANNEL_ERROR_BYTES];
  const uint32 version = channel_version_of(engine.segment);
  if (version != 0 && version != channel_version()) {
    end_one_of_another_version(version);
    return;
  }
  Channel* channel = channel_open(engine.segment, 0, why);
  if (channel == NULL) return;
  if (channel_state(channel) == kChannelServing &&
      channel_engine_pid(channel) == (uint32)engine.pid) {
    publish(channel_incarnation(channel), "");
    ereport(DEBUG1, (errmsg_internal("the engine of farvec serves")));
  }
  channel_close(channel);
}

static void look(void) {
  if (engine.pid == 0) start();
  if (engine.pid == 0) return;
  log_output(&engine);
  look_whether_it_ended();
  if (engine.pid != 0 && serving == 0) look_whether_it_serves();
  if (serving == 0) return;
  if (GetCurrentTimestamp() >= calm_at) pause_ms = FIRST_PAUSE_MS;
  remove_folders_of_gone_indexes();
}

static long look_ms(void) {
  if (serving != 0) return SERVING_LOOK_MS;
  return engine.pid != 0 ? STARTING_LOOK_MS : Max(pause_ms / 4, STARTING_LOOK_MS);
}

// Sleeps until there is something to do: a signal, or a line for the log.
static void wait_for_more(void) {
  const bool has_output = engine.pid != 0;
  const int events =
      WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH | (has_output ? WL_SOCKET_READABLE : 0);
  WaitLatchOrSocket(MyLatch, events, has_output ? engine.output : PGINVALID_SOCKET, look_ms(),
                    PG_WAIT_EXTENSION);
  ResetLatch(MyLatch);
}

static void end_at_exit(int code, Datum unused) {
  (void)code;
  (void)unused;
  publish(0, "was ended with the server");
  end_process(&engine);
}

void farvec_engine_main(Datum unused) {
  (void)unused;
  pqsignal(SIGTERM, SignalHandlerForShutdownRequest);
  pqsignal(SIGHUP, SignalHandlerForConfigReload);
  pqsignal(SIGCHLD, on_child);
  BackgroundWorkerUnblockSignals();
  before_shmem_exit(end_at_exit, (Datum)0);
  const MemoryContext context =
      AllocSetContextCreate(TopMemoryContext, "farvec engine", ALLOCSET_DEFAULT_SIZES);
  MemoryContextSwitchTo(context);
  while (!ShutdownRequestPending) {
    CHECK_FOR_INTERRUPTS();
    if (ConfigReloadPending) {
      ConfigReloadPending = false;
      ProcessConfigFile(PGC_SIGHUP);
    }
    look();
    wait_for_more();
    MemoryContextReset(context);
  }
  proc_exit(0);
}
