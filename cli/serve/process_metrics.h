// What the kernel knows of this process.
#pragma once

#include "io/http/prometheus_text.h"

namespace muster::cli {

// The families process_*, as the client libraries of Prometheus name them. Cost: a few files of /proc.
void write_process_metrics(http::PrometheusText& out);

}  // namespace muster::cli
