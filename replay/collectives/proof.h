// What a proof of a plan is asked for, and where it finds the plan wrong.
#pragma once

namespace chakra {

// -1: not known.
struct PlanFault {
  int node = -1;    // a member, or members + a switch
  int stream = -1;  // of the node
  int step = -1;    // of the stream
};

struct ProofOptions {
  int root = 0;  // of a rooted collective
  // Messages that a connection holds before its sender must wait; 0: any number.
  int in_flight = 0;
  // False: matching, sizes, and waiting only, for plans that do not say which
  // data their messages carry.
  bool data = true;
};

}  // namespace chakra
