// kube-scheduler's HTTP extender: `filter`, `prioritize`, `preempt` and `bind`, from the current plan.
//
//   - A pod that the plan starts passes on its planned node alone. A pod that the plan lets wait passes nowhere, with
//     the reason; no pod is preempted for it.
//   - A pod that no plan has seen waits for the next one if it is of a gang. By itself, it gets the best node of the
//     room that the plan leaves (SpareCapacity). No request waits for a solve.
//   - Without a plan that holds, each answer is an error: kube-scheduler tries again, or goes on without the extender
//     if it is `ignorable`.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>

#include "cli/agent/extender/gang_binder.h"
#include "cli/agent/extender/messages.h"
#include "cli/agent/extender/plan_view.h"
#include "cli/agent/planning/options.h"
#include "cli/agent/planning/spare_capacity.h"
#include "cli/serve/http_date.h"
#include "io/api_server/timer.h"
#include "io/http/service.h"
#include "model/base/tuning.h"

namespace muster::cli {

// Answers on the thread of its server; publish() and block() may be called from another one.
class Extender final : public http::HttpService {
 public:
  // Binds a pod; then calls answer() with the number, on the server's thread.
  using Bind = std::function<void(ExtenderBinding, std::uint64_t number)>;

  // Plans older than this are not followed.
  static std::chrono::milliseconds most_age(const AgentOptions& options) {
    return options.times.idle + std::chrono::seconds(kTuning.online.agent.stale_s);
  }

  // The options outlive it.
  Extender(const AgentOptions& options, api_server::Clock clock, Bind bind);

  void publish(std::shared_ptr<const PlanView> view, std::shared_ptr<SpareCapacity> room);
  // Why no plan holds; empty: the last one does.
  void block(std::string why);
  // On the server's thread: what became of a binding (empty: it is made), or of all that are not answered yet.
  void answer(std::uint64_t number, std::string_view error);
  void answer_all(std::string_view error);

  std::optional<http::HttpResponse> refuse(const http::HttpRequest& head) override;
  void serve(std::shared_ptr<http::HttpExchange> exchange) override;
  void gone(const std::shared_ptr<http::HttpExchange>& exchange) override;
  void answered(const http::HttpRequest&, unsigned, bool) override {}
  void dropped(std::string_view) override {}
  std::string date() override { return date_.now(); }

 private:
  // What filter says about a pod: the position of the node where it passes, or why it passes nowhere.
  struct Decision {
    std::optional<std::size_t> node;
    std::string reason;
  };
  // Pods that passed although the plan does not know them, by uid: the node; empty: any.
  using Passed = std::unordered_map<std::string, std::string>;

  // Of `body`; a problem, if it cannot be read.
  Result<std::string> filter(const std::string& body);
  Result<std::string> prioritize(const std::string& body);
  Result<std::string> preempt(const std::string& body);
  std::optional<http::HttpResponse> bind(const std::shared_ptr<http::HttpExchange>& exchange);

  // All require the lock.
  std::string obstacle() const;
  bool is_foreign(const ExtenderPod& pod) const;
  const ViewedPod* planned(const ExtenderPod& pod) const;
  Decision decide(const ExtenderArguments& arguments);
  Decision place_unplanned(const ExtenderArguments& arguments);
  // Pods that the plan does not know, and that may be bound.
  bool passed(const ExtenderBinding& binding) const;
  void remember(const std::string& uid, std::string_view node);

  const AgentOptions& options_;
  const api_server::Clock clock_;
  const Bind bind_;
  HttpDate date_;
  // On the server's thread alone.
  ExtenderReader reader_;
  muster_v1::SnapshotReader pods_;
  std::map<std::uint64_t, std::shared_ptr<http::HttpExchange>> waiting_;
  std::uint64_t last_number_ = 0;
  std::mutex mutex_;
  std::shared_ptr<const PlanView> view_;
  std::shared_ptr<SpareCapacity> room_;
  std::string blocked_;
  Passed passed_, passed_before_;  // since the last plan; between the one before and the last
};

}  // namespace muster::cli
