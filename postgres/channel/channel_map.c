#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "postgres/channel/channel_layout.h"
#include "postgres/channel/requests.h"

static size_t bytes_for(uint32_t slots) {
  return CHANNEL_HEADER_BYTES + (size_t)slots * sizeof(ChannelSlot);
}

__attribute__((format(printf, 2, 3))) static void say(char* why, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(why, CHANNEL_ERROR_BYTES, format, arguments);
  va_end(arguments);
}

// A channel without a mapping, which owns the file.
static Channel* new_channel(int file, uint32_t slots) {
  Channel* channel = calloc(1, sizeof *channel);
  if (channel == NULL) return NULL;
  channel->file = file;
  channel->slot_count = slots;
  channel->bytes = bytes_for(slots);
  return channel;
}

static bool map(Channel* channel) {
  void* memory = mmap(NULL, channel->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, channel->file, 0);
  if (memory == MAP_FAILED) return false;
  channel->header = memory;
  channel->slots = (ChannelSlot*)((uint8_t*)memory + CHANNEL_HEADER_BYTES);
  return true;
}

void channel_close(Channel* channel) {
  if (channel == NULL) return;
  if (channel->header != NULL) munmap(channel->header, channel->bytes);
  if (channel->file >= 0) close(channel->file);
  free((void*)channel->under_way);
  free(channel);
}

uint64_t channel_incarnation(const Channel* channel) {
  return channel->incarnation;
}
uint32_t channel_engine_pid(const Channel* channel) {
  return channel->engine_pid;
}
uint32_t channel_slots(const Channel* channel) {
  return channel->slot_count;
}

ChannelState channel_state(const Channel* channel) {
  // Acquire: who sees that it serves also sees what it did before.
  return (ChannelState)atomic_load_explicit(&channel->header->state, memory_order_acquire);
}

void channel_set_state(Channel* channel, ChannelState state) {
  atomic_store_explicit(&channel->header->state, (uint32_t)state, memory_order_release);
}

uint32_t channel_version(void) {
  return CHANNEL_VERSION << 16 | ASK_VERSION;
}

// Others see the magic last, since they may open the file before this is done.
static void write_header(Channel* channel, uint64_t incarnation) {
  ChannelHeader* header = channel->header;
  header->version = channel_version();
  header->slots = channel->slot_count;
  header->slot_bytes = sizeof(ChannelSlot);
  header->engine_pid = (uint32_t)getpid();
  header->incarnation = incarnation;
  atomic_store_explicit(&header->magic, CHANNEL_MAGIC, memory_order_release);
}

// The bytes are allocated now. A page that a full file system cannot give later would kill the
// process that touches it.
static Channel* fill(int file, uint32_t slots, uint64_t incarnation, char* why) {
  Channel* channel = new_channel(file, slots);
  if (channel == NULL) {
    say(why, "there is no memory for a channel");
    return NULL;
  }
  channel->under_way = calloc(slots, sizeof *channel->under_way);
  const int full = posix_fallocate(file, 0, (off_t)channel->bytes);
  if (channel->under_way == NULL || full != 0 || flock(file, LOCK_EX | LOCK_NB) != 0 ||
      !map(channel)) {
    say(why, "a segment of %zu bytes for %u slots: %s", channel->bytes, slots,
        strerror(full != 0 ? full : errno));
    channel->file = -1;  // the caller's
    channel_close(channel);
    return NULL;
  }
  channel->incarnation = incarnation;
  channel->engine_pid = (uint32_t)getpid();
  write_header(channel, incarnation);
  return channel;
}

Channel* channel_create(const char* path, uint32_t slots, uint64_t incarnation,
                        char why[CHANNEL_ERROR_BYTES]) {
  if (slots == 0 || slots > CHANNEL_MOST_SLOTS) {
    say(why, "a segment has 1 to %d slots, not %u", CHANNEL_MOST_SLOTS, slots);
    return NULL;
  }
  const int file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (file < 0) {
    say(why, "the segment %s cannot be made: %s", path, strerror(errno));
    return NULL;
  }
  Channel* channel = fill(file, slots, incarnation, why);
  if (channel == NULL) {
    unlink(path);
    close(file);
  }
  return channel;
}

static bool read_header(int file, ChannelHeader* header) {
  return pread(file, header, sizeof *header, 0) == (ssize_t)sizeof *header &&
         atomic_load_explicit(&header->magic, memory_order_relaxed) == CHANNEL_MAGIC;
}

uint32_t channel_version_of(const char* path) {
  ChannelHeader header;
  const int file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (file < 0) return 0;
  const uint32_t version = read_header(file, &header) ? header.version : 0;
  close(file);
  return version;
}

// The header is copied and then checked, since another process may write it.
static Channel* check_and_map(int file, uint64_t incarnation, char* why) {
  ChannelHeader header;
  struct stat found;
  if (fstat(file, &found) != 0 || !read_header(file, &header)) {
    say(why, "it is no segment of an engine, or not whole yet");
    return NULL;
  }
  if (header.version != channel_version() || header.slot_bytes != sizeof(ChannelSlot)) {
    say(why,
        "the engine speaks version %u.%u and the extension %u.%u: install both from one build, "
        "and start the server again",
        header.version >> 16, header.version & 0xffff, channel_version() >> 16,
        channel_version() & 0xffff);
    return NULL;
  }
  if (header.slots == 0 || header.slots > CHANNEL_MOST_SLOTS ||
      (uint64_t)found.st_size != bytes_for(header.slots)) {
    say(why, "the segment has %lld bytes and says that it has %u slots", (long long)found.st_size,
        header.slots);
    return NULL;
  }
  if (header.incarnation == 0 || (incarnation != 0 && header.incarnation != incarnation)) {
    say(why, "the segment is that of another start of the engine");
    return NULL;
  }
  Channel* channel = new_channel(file, header.slots);
  if (channel == NULL || !map(channel)) {
    say(why, "the segment cannot be mapped: %s", strerror(errno));
    free(channel);
    return NULL;
  }
  channel->incarnation = header.incarnation;
  channel->engine_pid = header.engine_pid;
  return channel;
}

Channel* channel_open(const char* path, uint64_t incarnation, char why[CHANNEL_ERROR_BYTES]) {
  const int file = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
  if (file < 0) {
    say(why, "the segment %s cannot be opened: %s", path, strerror(errno));
    return NULL;
  }
  Channel* channel = check_and_map(file, incarnation, why);
  if (channel == NULL) close(file);
  return channel;
}

// The engine's lock goes with it, also when it is killed, and also before its parent knows.
bool channel_has_ended(const Channel* channel) {
  if (flock(channel->file, LOCK_SH | LOCK_NB) != 0) return false;
  flock(channel->file, LOCK_UN);
  return true;
}

void channel_futex_wait(_Atomic uint32_t* word, uint32_t value, uint32_t most_ms) {
  const struct timespec most = {most_ms / 1000, (long)(most_ms % 1000) * 1000000};
  syscall(SYS_futex, (uint32_t*)word, FUTEX_WAIT, value, &most, NULL, 0);
}

void channel_futex_wake(_Atomic uint32_t* word, int most) {
  syscall(SYS_futex, (uint32_t*)word, FUTEX_WAKE, most, NULL, NULL, 0);
}
