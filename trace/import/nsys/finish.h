// From the packed rows of a process to its part of a device trace.
#pragma once

#include "trace/import/nsys/process.h"

namespace chakra::nsys {

// Unpacks the rows of a process: events are sorted, waits are tied to the records of their events, steps are
// named, and backward operators are joined to forward ones. Adds to the process's notes.
void FinishRows(Process* process);

}  // namespace chakra::nsys
