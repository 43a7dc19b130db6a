// RegroupOptions are what the command line says of regrouping.
#pragma once

#include <string>

namespace farvec::compute_node {

struct RegroupOptions {
  std::string index;   ///< directory by the path of this process and the memory node; empty: off
  std::string beside;  ///< other compute nodes that serve it, separated by commas
  double least_gain = 0.1;    ///< share of requests
  double every_seconds = 60;  ///< between two looks
};

}  // namespace farvec::compute_node
