#include <farvec.h>
#include <string.h>

int main(void) {
  farvec_connection* connection = NULL;
  farvec_error error;
  if (farvec_connect(NULL, NULL, &connection, &error) != FARVEC_INVALID_ARGUMENT) return 1;
  return strcmp(farvec_version(), FARVEC_VERSION);
}
