"""The checks of a campaign find what they are there for, and nothing in plans that are right."""

import unittest

import checks
import clusters


def plan(*levels, proof="heuristic", gangs=(), missed=False):
    objective = [{"level": name, "value": value} | ({} if bound is None else {"bound": bound})
                 for name, value, bound in levels]
    solver = {"proof": proof, "deadlineMissed": missed, "elapsedMs": 2, "budgetMs": 1}
    return {"status": "ok", "objective": objective, "gangs": list(gangs), "solver": solver}


class Checks(unittest.TestCase):
    def test_find_a_plan_that_is_better_than_a_proof(self):
        proven = plan(("share", 5, 5), ("moved", 7, 7))
        self.assertEqual([], list(checks.check_bounds({"a": proven, "b": plan(("share", 5, None), ("moved", 8, None))})))
        for better in (plan(("share", 6, None), ("moved", 9, None)), plan(("share", 5, None), ("moved", 3, None))):
            self.assertEqual(["false bound"], [kind for kind, _ in checks.check_bounds({"a": proven, "b": better})])

    def test_hold_a_bound_only_against_plans_that_are_equal_before_it(self):
        other = plan(("share", 4, None), ("moved", 0, None))
        self.assertEqual([], list(checks.check_bounds({"a": plan(("share", 5, 5), ("moved", 7, 7)), "b": other})))

    def test_find_a_bound_that_its_own_plan_refutes_and_one_that_an_equal_plan_does(self):
        self.assertEqual(1, len(list(checks.check_bounds({"a": plan(("share", 5, 4))}))))
        plans = {"a": plan(("share", 5, 4), ("moved", 7, 8)), "b": plan(("share", 5, 5), ("moved", 7, None))}
        texts = [text for _, text in checks.check_bounds(plans)]
        self.assertIn("a proves share 4, b has 5", texts)
        self.assertIn("a proves moved 8, b has 7", texts)

    def test_find_the_plan_that_is_worse(self):
        plans = {"a": plan(("share", 5, None), ("moved", 7, None)), "b": plan(("share", 5, None), ("moved", 3, None))}
        self.assertEqual(["worse"], [kind for kind, _ in checks.check_not_worse(plans, "a", "b", "worse")])
        self.assertEqual([], list(checks.check_not_worse(plans, "b", "a", "worse")))

    def test_find_reasons_that_contradict_a_proof_and_gangs_without_a_word(self):
        gang = {"name": "g", "pending": 1, "phase": "Unschedulable", "reason": "OutOfTime"}
        kinds = [kind for kind, _ in checks.check_reasons({"a": plan(proof="optimal", gangs=[gang])})]
        self.assertEqual(["OutOfTime beside a proof", "no message"], kinds)
        told = gang | {"message": "why"}
        self.assertEqual([], list(checks.check_reasons({"a": plan(gangs=[told])})))

    def test_find_what_is_late_and_what_is_refused(self):
        self.assertEqual(["late"], [kind for kind, _ in checks.check_time({"a": plan(missed=True)})])
        refused = {"status": "error", "error": {"path": "$.pods", "message": "no"}}
        self.assertEqual(["error"], [kind for kind, _ in checks.check_status({"a": refused, "b": plan()})])


class Clusters(unittest.TestCase):
    def test_are_the_same_for_the_same_seed(self):
        self.assertEqual(clusters.Cluster(7).snapshot(), clusters.Cluster(7).snapshot())
        self.assertNotEqual(clusters.Cluster(7).snapshot(), clusters.Cluster(8).snapshot())


if __name__ == "__main__":
    unittest.main()
