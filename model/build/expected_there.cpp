// Which classes of the expected workload may go to which classes of nodes.
#include "model/base/saturating.h"
#include "model/build/stages.h"

namespace muster {

void build_expected_there(ProblemDraft& draft) {
  Problem& problem = draft.problem;
  ObjectiveTerms& objective = problem.objective;
  SequenceTable known;
  std::vector<std::uint64_t> classes;
  objective.expected_there_of.resize(problem.node_classes.size());
  for (const NodeClassIndex node_class : problem.node_classes.indices()) {
    classes.clear();
    std::int64_t others = 0;
    for (std::size_t i = 0; i < objective.expected_workload.size(); ++i) {
      const ExpectedClass& expected = objective.expected_workload[i];
      if (expected.gpu.devices > 0 && problem.pod_classes[expected.pod_class].allowed[node_class.value()])
        classes.push_back(i);
      else
        others = saturating_add(others, expected.weight_millionths);
    }
    const auto [number, is_new] = known.intern(classes);
    if (is_new) objective.expected_there.push_back({{classes.begin(), classes.end()}, others});
    objective.expected_there_of[node_class] = number;
  }
}

}  // namespace muster
