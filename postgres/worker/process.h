// This header starts and ends the engine's process.
#ifndef FARVEC_POSTGRES_WORKER_PROCESS_H
#define FARVEC_POSTGRES_WORKER_PROCESS_H

#include <postgres.h>

typedef struct EngineProcess {
  pid_t pid;   // 0: there is none
  int input;   // what closes when this process ends
  int output;  // its log lines, which are read without waiting
  char segment[1024];
  char line[1024];  // the beginning of a log line
  size_t length;    // how long that is
  char last[128];   // the beginning of its last line
} EngineProcess;

// Starts the program. Answers whether it could be; the reason is in `why` if not. A program that
// ends at once is seen by has_ended().
bool start_process(EngineProcess* engine, uint32 slots, char* why, size_t why_bytes);

// Answers whether the process has ended, and takes it back from the system; `why` says how.
bool has_ended(EngineProcess* engine, char* why, size_t why_bytes);

// Writes what the process says into the server's log.
void log_output(EngineProcess* engine);

// Ends the process, however long that takes it, and takes it back.
void end_process(EngineProcess* engine);

#endif
