// Compute nodes for tests: started, stopped and ended, in a folder of the test's own.
#ifndef TESTS_C_NODE_H
#define TESTS_C_NODE_H

#include <farvec.h>
#include <sys/types.h>

enum { kPathRoom = 512 };

// Makes the folder of the test, which is removed at its end.
void make_folder(void);
// Writes the path of a file or folder of the test.
void path_in_folder(char path[kPathRoom], const char* name);

// Runs a program, or the tool, with these words, of which the last is NULL. It has to succeed.
void run_program(const char* program, const char* const words[]);
void run_tool(const char* const words[]);

typedef struct node {
  pid_t pid;
  char address[kPathRoom];
} node;

// Starts a compute node with these words besides --listen, at an address by this name, or at the
// one that is given. It ends with the test.
node start_node(const char* name, const char* const words[]);
node start_node_at(const char* address, const char* name, const char* const words[]);
void stop_node(node* started, int signal_number);
// Stops all of its threads until SIGCONT.
void pause_node(const node* started);

// Connects as soon as the node serves.
farvec_connection* connect_to(const node* started);

// Creates a collection by that name in a folder NAME.set, of vectors of this shape, with the words
// besides. "l2" or "hamming" is its metric. The latter starts a node that serves it, too.
void create_collection(const char* name, farvec_type type, uint32_t dimension,
                       const char* const words[]);
node start_collection(const char* name, farvec_type type, uint32_t dimension,
                      const char* const words[]);

#endif
