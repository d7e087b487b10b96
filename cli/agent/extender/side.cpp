#include "cli/agent/extender/side.h"

#include <chrono>
#include <utility>

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

namespace muster::cli {
namespace {

// Bindings wait for the others of their gang, each on a connection of its own.
http::HttpLimits limits() {
  http::HttpLimits limits;
  limits.max_connections = 8192;
  return limits;
}

}  // namespace

ExtenderSide::ExtenderSide(int listener, const AgentOptions& options, api_server::ApiClient& client,
                           GangBinder::Told told)
    : extender_(options, std::chrono::steady_clock::now,
                [this, &client](const ExtenderBinding& binding, std::uint64_t number) {
                  boost::asio::post(client.io(), [this, binding, number] {
                    binder_.bind(binding, [this, number](const std::string& error) {
                      server_.post([this, number, error] { extender_.answer(number, error); });
                    });
                  });
                }),
      server_({listener}, extender_, limits()),
      binder_(client, options.dry_run, std::move(told)),
      thread_([this] { server_.run(); }) {}

ExtenderSide::~ExtenderSide() {
  extender_.block("it is stopping");
  server_.post([this] { extender_.answer_all("it is stopping"); });
  server_.drain();
}

void ExtenderSide::publish(const PlannedPods& pods, const exporting::ExportedPlan& exported) {
  const auto view =
      std::make_shared<const PlanView>(exported, pods.pending, pods.waiting, std::chrono::steady_clock::now());
  extender_.publish(view, pods.room);
  binder_.publish(view);
}

void ExtenderSide::block(const std::string& why) {
  extender_.block(why);
  if (!why.empty()) binder_.give_up(why);
}

}  // namespace muster::cli
