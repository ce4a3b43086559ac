// From the packed rows of a process to its part of a device trace.
#pragma once

#include "trace/import/nsys/process.h"

namespace chakra::nsys {

// Unpacks the rows of a process. Sorts its events, links waits to the records of their events, names steps,
// and joins backward operators to forward operators. Adds to the notes of the process.
void FinishRows(Process* process);

}  // namespace chakra::nsys
