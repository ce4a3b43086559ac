// The options of a proof of a plan, and the place where a proof finds a fault.
#pragma once

namespace chakra {

// A place in a plan; -1: not known.
struct PlanFault {
  int node = -1;    // a member, or members + a switch
  int stream = -1;  // among the node's streams
  int step = -1;    // among the stream's steps
};

struct ProofOptions {
  int root = 0;  // for rooted collectives
  // Messages that a connection holds before its sender must wait; 0: any number.
  int in_flight = 0;
  // False: proves only matching, sizes and waits. For plans that do not record which data their messages
  // carry.
  bool data = true;
};

}  // namespace chakra
