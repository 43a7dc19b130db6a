#include <postgres.h>

#include "postgres/shared.h"

#include <miscadmin.h>
#include <storage/ipc.h>
#include <storage/lwlock.h>
#include <storage/shmem.h>

static SharedState* state = NULL;
static shmem_request_hook_type next_request = NULL;
static shmem_startup_hook_type next_startup = NULL;

static void request(void) {
  if (next_request != NULL) next_request();
  RequestAddinShmemSpace(MAXALIGN(sizeof(SharedState)));
}

static void start(void) {
  if (next_startup != NULL) next_startup();
  bool found;
  LWLockAcquire(AddinShmemInitLock, LW_EXCLUSIVE);
  SharedState* memory = ShmemInitStruct("farvec", sizeof(SharedState), &found);
  if (!found) {
    memset(memory, 0, sizeof *memory);
    SpinLockInit(&memory->engine.lock);
    pg_atomic_init_u64(&memory->owners, 0);
    if (!pg_strong_random(&memory->start, sizeof memory->start)) {
      elog(FATAL, "there are no random numbers for the start of farvec");
    }
  }
  LWLockRelease(AddinShmemInitLock);
  state = memory;
}

void request_shared_state(void) {
  if (!process_shared_preload_libraries_in_progress) return;
  next_request = shmem_request_hook;
  shmem_request_hook = request;
  next_startup = shmem_startup_hook;
  shmem_startup_hook = start;
}

bool has_shared_state(void) {
  return state != NULL;
}

SharedState* shared_state(void) {
  if (state == NULL) {
    ereport(ERROR,
            (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
             errmsg("indexes of farvec need a server that preloads the extension"),
             errhint("Put shared_preload_libraries = 'farvec' into postgresql.conf, after a comma "
                     "where others are there, and start the server again.")));
  }
  return state;
}
