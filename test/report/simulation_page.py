"""The page of simulations, comparisons, traces and figures in a browser."""

import unittest

from browser import Keys
from pages import HOSTILE, PageTest, main, plan_snapshot

GANTT = ".gantt"


def events(policy, wait):
    """50 gangs of two queues, one a minute, each waiting `wait` seconds; every tenth is preempted once."""
    lines = [{"format": "muster/v1", "event": "simulation", "time": 0, "policy": policy, "cycle": "period 60", "seed": 1,
              "nodes": [{"name": "n0", "gpus": 8}], "queues": [{"name": "a", "quota": 4}, {"name": HOSTILE}]}]
    for i in range(50):
        gang, at = (HOSTILE if i == 3 else f"job-{i}"), 60 * i
        lines.append({"time": at, "event": "submit", "gang": gang, "queue": ["a", HOSTILE][i % 2], "priority": 1, "pods": 2, "gpus": 2, "duration": 600})
        lines.append({"time": at + wait, "event": "start", "gang": gang, "waited": wait})
        if i % 10 == 0:
            lines.append({"time": at + wait + 100, "event": "evict", "gang": gang, "reason": "preempt", "for": "x", "pods": ["p"]})
            lines.append({"time": at + wait + 100, "event": "interrupt", "gang": gang, "lost": 200})
        else:
            lines.append({"time": at + wait + 600, "event": "finish", "gang": gang, "waited": wait, "completion": wait + 600})
        lines.append({"time": at + wait, "event": "cycle", "cycle": i, "running": 2, "pending": 0, "placed": 2, "evicted": 0, "moved": 0, "capacity": 8,
                      "allocated": i % 8, "fragmentation": 0.5, "queues": [{"name": "a", "fairShare": 4, "allocated": i % 4}, {"name": HOSTILE, "fairShare": 4, "allocated": 1}],
                      "waiting": {"gangs": 1, "gpus": 2}})
    return in_order(lines)


def in_order(lines):
    """A gang is submitted before anything else happens to it in the same second."""
    rank = {"simulation": 0, "submit": 1, "start": 2, "evict": 3, "interrupt": 4, "finish": 4, "cycle": 5}
    return sorted(lines, key=lambda line: (line["time"], rank[line["event"]]))


def summary(policy, wait):
    spans = {"count": 50, "mean": wait, "p50": wait, "p99": 2 * wait, "max": 3 * wait}
    gangs = {"submitted": 50, "finished": 45, "waiting": spans, "completion": spans}
    return {"format": "muster/v1", "simulation": {"policy": policy, "cycle": "period 60", "seed": 1}, "allocation": {"mean": 0.9, "whileArriving": 0.95},
            "gangs": gangs, "large": gangs, "bySize": [{"gpus": "8", **gangs}], "evictions": {"preempt": 5}, "moves": 0, "lost": 3600}


class SimulationPage(PageTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        files = [cls.place.write(f"{policy}.jsonl", *events(policy, wait)) for policy, wait in (("kai", 30), ("fifo", 300))]
        files += [cls.place.write(f"{policy}-summary.jsonl", summary(policy, wait)) for policy, wait in (("kai", 30), ("fifo", 300))]
        cls.page = cls.place.page(*files)

    def setUp(self):
        self.browser.open(self.page)

    def test_lays_simulations_side_by_side_and_marks_the_best(self):
        row = next(row for row in self.browser.all("#summary tbody tr") if row.text.startswith("Waiting, mean"))
        self.assertIn("★ best 30 s", row.text)
        self.assertIn("5 min", row.text)
        self.assertIn("8 GPUs: mean wait", self.browser.text("#summary"))

    def test_lays_policies_side_by_side_and_marks_the_best_of_each_column(self):
        rows = [row.text for row in self.browser.all("#policies tbody tr")]
        self.assertEqual(len(rows), 2, "the summaries are of the same runs as the events")
        kai = next(row for row in rows if "kai" in row)
        self.assertIn("★ best 30 s", kai.replace("\n", " "))
        self.assertNotIn("★", next(row for row in rows if "fifo" in row))
        self.assertIn("99 % less than", self.browser.text("#policies thead"))

    def test_lays_events_side_by_side_that_have_no_summaries(self):
        self.browser.open(self.place.page(*(self.place.path(f"{policy}.jsonl") for policy in ("kai", "fifo")), name="events.html"))
        rows = [row.text.replace("\n", " ") for row in self.browser.all("#policies tbody tr")]
        self.assertIn("★ best 30 s", rows[0])
        self.assertIn("5 min", rows[1])
        self.assertIn("Waiting, mean", self.browser.text("#summary"))

    def test_lays_the_experiments_of_a_sweep_side_by_side_with_the_options_in_which_they_differ(self):
        lines = [{"experiment": {"id": HOSTILE if i == 0 else f"run-{i}", "workload": ["import", "philly", "--load", f"1.{i}", "--place-only"],
                                 "policy": "kai", "period": "30s", "seed": i % 2}, **summary("kai", 30 + i)} for i in range(20)]
        self.browser.open(self.place.page(self.place.write("sweep.jsonl", *lines), name="sweep.html"))
        head = [cell.text for cell in self.browser.all("#policies thead tr:first-child th")]
        self.assertEqual(head[:4], ["Experiment", "workload load", "seed", "Waited: all gangs"], "all have the same period")
        rows = [row.text.replace("\n", " ") for row in self.browser.all("#policies tbody tr")]
        self.assertEqual(len(rows), 20)
        self.assertIn("★ best 30 s", rows[0])
        self.assertTrue(rows[19].startswith("run-19 1.19 1 49 s"), rows[19])
        self.assertEqual(self.browser.all("#summary"), [], "twenty columns are too many")

    def test_draws_allocated_and_waiting_on_the_same_axes(self):
        titles = [caption.text for caption in self.browser.all("#curves-compared figcaption")]
        self.assertEqual(titles, ["Allocated GPUs", "Waiting gangs", "Waiting GPUs"])

    def test_draws_curves_in_their_colours(self):
        for figure in self.browser.all("#curves-compared figure"):
            self.assertGreater(len(figure.find_elements("css selector", "canvas")), 0)
        self.assertGreater(self.share_of(self.browser.picture_of("#curves-compared .chart-host"), "#0072B2", 40), 0.001)

    def test_charts_are_read_by_the_keyboard(self):
        self.browser.focus("#curves .chart-host")
        self.browser.press(Keys.END)
        self.assertIn("in use 12.5 %", self.browser.text("#curves .chart [role=status]"))

    def test_charts_have_their_values_as_a_table(self):
        self.browser.click("#curves .values summary")
        self.assertIn("50 of 50 rows", self.browser.text("#curves .values"))

    def test_queues_are_chosen(self):
        self.assertIn("Queue a: ", self.browser.text("#curves"))
        self.browser.run("const s = [...document.querySelectorAll('#curves select')].at(-1); s.value = '1'; s.dispatchEvent(new Event('change'))")
        self.browser.settle()
        self.assertIn(f"Queue {HOSTILE}: ", self.browser.text("#curves"))
        self.assertIsNone(self.browser.run("return document.querySelector('img')"))

    def test_gangs_are_walked_by_the_keyboard(self):
        self.browser.focus(GANTT)
        self.browser.press(Keys.HOME)
        self.assertIn("job-0 · queue a, 2 pods, 2 GPUs", self.browser.text(".gantt-status"))
        self.assertIn("ran 1 min 40 s, preempted", self.browser.text(".gantt-status"))
        self.browser.press(Keys.END)
        self.assertIn("job-49", self.browser.text(".gantt-status"))

    def test_gangs_are_filtered_and_ordered(self):
        self.browser.find("#gantt input[type=search]").send_keys("job-1")
        self.browser.settle()
        self.assertIn("11 of 50 gangs", self.browser.text("#gantt .match"))

    def test_zooming_in_time_leaves_those_of_that_time(self):
        self.browser.focus(GANTT)
        self.browser.press(Keys.HOME, "+", "+", "+")
        self.assertNotIn("50 of 50", self.browser.text("#gantt .match"))
        self.assertIn("job-0 · ", self.browser.text(".gantt-status"))
        self.browser.press("0")
        self.assertIn("50 of 50 gangs", self.browser.text("#gantt .match"))

    def test_runs_are_drawn_in_the_colour_of_their_queue(self):
        picture = self.browser.picture_of(GANTT)
        self.assertGreater(self.share_of(picture, "#E69F00"), 0.005)
        self.assertGreater(self.share_of(picture, "#56B4E9"), 0.005)

    def test_another_simulation_is_chosen(self):
        self.browser.run("const s = document.querySelector('.choosers select'); s.value = '1'; s.dispatchEvent(new Event('change'))")
        self.browser.focus(GANTT)
        self.browser.press(Keys.HOME)
        self.assertIn("waited 5 min", self.browser.text(".gantt-status"))


class ComparisonPage(PageTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        snapshots, greedy = cls.place.planned(plan_snapshot())
        milp = cls.place.path("milp.jsonl")
        trace = cls.place.path("trace.jsonl")
        cls.place.muster("solve", "--quiet", "--deterministic", "--engine", "milp", "--trace", trace, "--output", milp, snapshots)
        figures = cls.place.write("bench.jsonl", *({"instance": HOSTILE if i == 0 else f"case-{i}", "elapsedMs": 100 - i, "ms": {"p50": i / 2}, "met": i > 3} for i in range(20)))
        cls.page = cls.place.page("--snapshot", snapshots, greedy, milp, trace, figures)

    def setUp(self):
        self.browser.open(self.page)

    def test_lays_plans_side_by_side(self):
        self.assertIn("greedy", self.browser.text("#comparison thead"))
        self.assertIn("milp", self.browser.text("#comparison thead"))
        self.assertIn("GPUs in use", self.browser.text("#comparison"))

    def test_another_plan_is_chosen(self):
        self.browser.run("const s = document.querySelector('.choosers select'); s.value = '1'; s.dispatchEvent(new Event('change'))")
        self.browser.settle()
        self.assertIn("milp", self.browser.text("#subtitle"))

    def test_shows_how_the_plan_got_better(self):
        self.assertIn("best plan so far", self.browser.text("#gap"))
        self.assertIn("last change by", self.browser.text("#gap"))
        self.assertGreater(self.share_of(self.browser.picture_of("#gap .chart-host"), "#D55E00", 40), 0)

    def test_figures_become_a_table_with_units_that_is_sorted(self):
        self.assertIn("elapsed (ms)", self.browser.text("#figures"))
        self.assertIn("p50 (ms)", self.browser.text("#figures"))
        self.browser.click("#figures [role=columnheader]:nth-of-type(2) button")
        self.assertEqual(self.browser.text("#figures .table-body [role=cell]"), HOSTILE)
        self.browser.click("#figures [role=columnheader]:nth-of-type(2) button")
        self.assertEqual(self.browser.text("#figures .table-body [role=cell]"), "case-19")


class EmptyPage(PageTest):
    def test_a_cluster_without_gpus_and_pods_says_so(self):
        snapshots = self.place.write("s.jsonl", {"format": "muster/v1", "nodes": [{"name": "n"}]})
        self.browser.open(self.place.page("--snapshot", snapshots))
        self.assertIn("No node of this cluster has a GPU", self.browser.text("#map"))
        self.assertIn("No plan was given", self.browser.text("#overview"))

    def test_an_empty_snapshot_is_a_page(self):
        snapshots, plans = self.place.planned({"format": "muster/v1"})
        self.browser.open(self.place.page("--snapshot", snapshots, plans))
        self.assertIn("no gang has to wait", self.browser.text("#overview"))


if __name__ == "__main__":
    main()
