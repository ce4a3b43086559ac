// What a proof of a plan is asked for, and where it finds the plan wrong.
#pragma once

namespace chakra {

// -1: not known.
struct PlanFault {
  int node = -1;    // a member, or members + a switch
  int stream = -1;  // among the node's streams
  int step = -1;    // among the stream's steps
};

struct ProofOptions {
  int root = 0;  // for rooted collectives
  // Messages that a connection holds before its sender must wait; 0: any number.
  int in_flight = 0;
  // False: proves only matching, sizes and waits, for plans that do not tell which data their messages carry.
  bool data = true;
};

}  // namespace chakra
