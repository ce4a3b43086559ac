// What ran on devices: kernels, copies, sets, whole graphs; and what waited for what.
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "trace/import/nsys/process.h"
#include "trace/io/sqlite_reader.h"

namespace chakra::nsys {

// Adds the operations of all devices that were launched in the window. Errors: those of SqliteReader::Read().
absl::Status ReadDeviceRows(const SqliteReader& db, const Window& window, Processes* processes);

// Adds rows of synchronisation, and the records of events.
absl::Status ReadSyncRows(const SqliteReader& db, const Window& window, Processes* processes);

// Ties waits to the records of their events where these were traced. Precondition: the process's rows are
// unpacked.
void TieToRecords(Process* process);

// Ties the waits whose records were not traced to the last record before them on their thread. Precondition:
// the process's events are sorted by time.
void GuessRecords(Process* process);

}  // namespace chakra::nsys
