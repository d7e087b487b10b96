#include "cli/serve/observer.h"

#include "io/http/problem.h"

namespace muster::cli {

std::optional<http::HttpResponse> ServeObserver::refuse(const http::HttpRequest& head) {
  if (!head.path.starts_with("/v1/")) return ServeService::refuse_route(head);
  return http::problem_response(
      {404, http::HttpFault::kNotFound, "unknown path; known paths: /healthz, /readyz, /version, /metrics", {}},
      head.id);
}

void ServeObserver::serve(std::shared_ptr<http::HttpExchange> exchange) {
  exchange->respond(service_.look_up(exchange->request));
}

}  // namespace muster::cli
