// What links did, as rows of CSV.
#pragma once

#include "absl/status/status.h"
#include "backends/link_use.h"
#include "trace/io/csv.h"

namespace chakra {

// One row a link and bucket of time, links in the order of `links.busiest`. The rows of a link end with the
// last bucket that it noted; in later ones it did nothing.
//
//   link, name, class   number of the topology, as all of these by direction; ends; class
//   begin_ps, end_ps    of the bucket
//   share               of its bandwidth that was taken; `packet`: packets count where they begin, so that it
//                       may be one packet above 1
//   queued_bytes        `packet`: that waited for it at end_ps; of merged buckets the most. Else empty
//   each of kLinkCounts `packet`: in this bucket. Else empty
//
// Errors: those of `write`.
absl::Status WriteLinkSeries(const LinkUses& links, const WriteBytes& write);

// One row a link:
//
//   link, name, class, dimension   as above; of the topology
//   others                         the fields of LinkReport that are shown in CSV, up to `end`; those of
//   packets
//                                  are empty without `packets`
//
// Errors: those of `write`.
absl::Status WriteLinkTotals(const LinkUses& links, bool packets, Time end, const WriteBytes& write);

}  // namespace chakra
