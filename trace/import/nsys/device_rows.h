// Reads what ran on devices (kernels, copies, sets, whole graphs), and which stream waited for which event.
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "trace/import/nsys/process.h"
#include "trace/io/sqlite_reader.h"

namespace chakra::nsys {

// Adds the operations of all devices that were launched in the window. Errors: those of SqliteReader::Read().
absl::Status ReadDeviceRows(const SqliteReader& db, const Window& window, Processes* processes);

// Adds the rows of synchronization, and the records of events.
absl::Status ReadSyncRows(const SqliteReader& db, const Window& window, Processes* processes);

// Links each wait to the record of its event, where the record was traced. Precondition: the rows of the
// process are unpacked.
void TieToRecords(Process* process);

// Links each wait whose record was not traced to the last record before the wait on the same thread.
// Precondition: the events of the process are sorted by time.
void GuessRecords(Process* process);

}  // namespace chakra::nsys
