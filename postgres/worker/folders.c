// An index is gone when the server has no file of its relation, or an empty one. The file of a
// dropped relation stays, empty, until the next checkpoint, so that its number is not given again
// before. The file of an index has its meta page before the index is in the engine. So a file that
// is not there, in a server that has recovered, never comes back.
#include <postgres.h>

#include "postgres/worker/folders.h"

#include <access/xlog.h>
#include <common/relpath.h>
#include <dirent.h>
#include <inttypes.h>
#include <storage/fd.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utils/timestamp.h>

#include "postgres/channel/requests.h"
#include "postgres/worker/link.h"
#include "postgres/worker/settings.h"

#define DEADLINE_MS 5000
#define MOST_GONE 256  // that are remembered; others are found later

static AskedIndex gone[MOST_GONE];  // had no file at the last look
static size_t gone_count = 0;

#if PG_VERSION_NUM >= 180000
#define PATH_OF(index) \
  pstrdup(GetRelationPath(index->database, index->tablespace, index->file, -1, MAIN_FORKNUM).str)
#else
#define PATH_OF(index) \
  GetRelationPath(index->database, index->tablespace, index->file, -1, MAIN_FORKNUM)
#endif

// Files of temporary relations have names like t3_16384.
static bool is_temporary_of(const char* name, uint32 file) {
  unsigned backend;
  unsigned number;
  char end;
  return sscanf(name, "t%u_%u%c", &backend, &number, &end) == 2 && number == file;
}

// Answers true where it cannot be known.
static bool has_temporary(char* path, uint32 file) {
  char* slash = strrchr(path, '/');
  if (slash == NULL) return true;
  *slash = '\0';
  DIR* folder = opendir(path);
  if (folder == NULL) return errno != ENOENT;
  bool found = false;
  for (const struct dirent* entry = readdir(folder); entry != NULL && !found;
       entry = readdir(folder)) {
    found = is_temporary_of(entry->d_name, file);
  }
  closedir(folder);
  return found;
}

static bool has_file(const AskedIndex* index) {
  struct stat found;
  char* path = PATH_OF(index);
  const bool has_pages = stat(path, &found) == 0 ? found.st_size > 0 : errno != ENOENT;
  const bool is_there = has_pages || has_temporary(path, index->file);
  pfree(path);
  return is_there;
}

static bool was_gone(const AskedIndex* index) {
  for (size_t i = 0; i < gone_count; i++) {
    if (memcmp(&gone[i], index, sizeof *index) == 0) return true;
  }
  return false;
}

static bool ask(EngineLink* link, uint32 operation, const void* request, Size bytes,
                uint32* answered) {
  farvec_error error;
  Patience patience = patience_for(DEADLINE_MS);
  void* to = engine_request(link, &patience, &error);
  if (to == NULL) return false;
  memcpy(to, request, bytes);
  return engine_ask(link, operation, (uint32)bytes, &patience, answered, &error);
}

static bool drop(EngineLink* link, const AskedIndex* index) {
  uint32 answered;
  ereport(LOG,
          (errmsg("the index of file %u of database %u is gone, and leaves the engine of farvec",
                  index->file, index->database)));
  return ask(link, kAskDrop, index, sizeof *index, &answered);
}

// Looks at the indexes of one answer. Those without a file at two looks are dropped.
static bool look_at(EngineLink* link, const AskedIndex* indexes, size_t count, AskedIndex* now,
                    size_t* now_count) {
  for (size_t i = 0; i < count; i++) {
    if (has_file(&indexes[i])) continue;
    if (was_gone(&indexes[i])) {
      if (!drop(link, &indexes[i])) return false;
    } else if (*now_count < MOST_GONE) {
      now[(*now_count)++] = indexes[i];
    }
  }
  return true;
}

static bool look_at_all(EngineLink* link) {
  AskedIndex now[MOST_GONE];
  size_t now_count = 0;
  AskList asked = {0};
  ToldList told = {.more = 1};
  while (told.more == 1) {
    uint32 answered;
    if (!ask(link, kAskList, &asked, sizeof asked, &answered)) return false;
    if (answered < sizeof told) return false;
    memcpy(&told, link->answer, sizeof told);
    if (answered != sizeof told + (Size)told.count * sizeof(AskedIndex)) return false;
    if (told.count == 0) break;
    AskedIndex* indexes = palloc(told.count * sizeof *indexes);
    memcpy(indexes, link->answer + sizeof told, told.count * sizeof *indexes);
    asked.after = indexes[told.count - 1];
    if (!look_at(link, indexes, told.count, now, &now_count)) return false;
    pfree(indexes);
  }
  memcpy(gone, now, now_count * sizeof *now);
  gone_count = now_count;
  return true;
}

// The name of an index's folder, as postgres/engine/index_name.cc writes it.
static bool read_name(const char* name, AskedIndex* index) {
  char end;
  *index = (AskedIndex){.number = 0};
  return sscanf(name, "%" SCNu32 "-%" SCNu32 "-%" SCNu32 "-%" SCNx64 "%c", &index->tablespace,
                &index->database, &index->file, &index->number, &end) == 4;
}

// Answers false for an index whose relation is there. An engine that is away needs not be asked.
// One that did not answer is not asked again.
static bool leave(EngineLink** link, const char* folder, const char* name) {
  AskedIndex index;
  const bool is_index = read_name(name, &index);
  if (is_index && has_file(&index)) return false;
  if (is_index && *link != NULL && !drop(*link, &index)) *link = NULL;
  char* path = psprintf("%s/%s", folder, name);
  struct stat found;
  const bool is_left = lstat(path, &found) == 0 && S_ISDIR(found.st_mode);
  const bool is_gone = !is_left || rmtree(path, true);
  pfree(path);
  return is_gone;
}

void leave_tablespace(Oid tablespace) {
  farvec_error error;
  char* folder = psprintf("%s/%u/%s", FARVEC_TABLESPACES, tablespace, FARVEC_TABLESPACE_FOLDER);
  DIR* all = AllocateDir(folder);
  if (all == NULL) return;
  EngineLink* link = engine_link(&error);
  bool is_empty = true;
  const struct dirent* entry;
  while ((entry = ReadDirExtended(all, folder, LOG)) != NULL) {
    if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
    is_empty = leave(&link, folder, entry->d_name) && is_empty;
  }
  FreeDir(all);
  // The engine has removed it where it was asked to drop the last index.
  if (is_empty && rmdir(folder) != 0 && errno != ENOENT) {
    ereport(LOG, (errcode_for_file_access(), errmsg("could not remove \"%s\": %m", folder)));
  }
  pfree(folder);
}

void remove_folders_of_gone_indexes(void) {
  static TimestampTz last = 0;  // the interval may be changed meanwhile
  farvec_error error;
  const TimestampTz now = GetCurrentTimestamp();
  // Until it has ended, replay may make files again.
  if (now < TimestampTzPlusMilliseconds(last, (int64)farvec_engine_clean_s * 1000) ||
      RecoveryInProgress()) {
    return;
  }
  last = now;
  EngineLink* link = engine_link(&error);
  if (link != NULL) look_at_all(link);
}
