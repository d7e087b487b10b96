"""The page of a snapshot and its plan in a browser: what it shows, and what mouse and keys do."""

import json
import unittest

from browser import Keys
from pages import HOSTILE, PageTest, main, plan_snapshot, waiting_snapshot

ORANGE, SKY, GREEN = "#E69F00", "#56B4E9", "#009E73"
CANVAS = ".map-canvas"


class PlanPage(PageTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        snapshots, plans = cls.place.planned(plan_snapshot())
        cls.page = cls.place.page("--snapshot", snapshots, plans)

    def setUp(self):
        self.browser.resize(1400, 950)
        self.browser.prefer("light")
        self.browser.open(self.page)

    def show_map(self):
        self.browser.run("document.querySelector('#map').scrollIntoView({behavior: 'instant'})")
        self.browser.settle()

    def test_tells_the_figures_of_the_plan(self):
        text = self.browser.text("#overview")
        self.assertIn("64 before, 81.5 after, of 100 GPUs", text)
        self.assertIn("nothing that runs is touched", text)

    def test_names_stay_text_however_hostile(self):
        self.assertIsNone(self.browser.run("return document.querySelector('img')"))
        self.assertIn(HOSTILE, self.browser.text(".legend"))
        self.assertIn(HOSTILE, self.browser.text("#queues"))

    def test_colours_of_the_queues_are_on_the_map(self):
        self.show_map()
        picture = self.browser.picture_of(CANVAS)
        for colour in (ORANGE, SKY, GREEN):
            self.assertGreater(self.share_of(picture, colour), 0.002, colour)

    def test_before_the_plan_only_what_runs_is_drawn(self):
        self.show_map()
        self.browser.click("[data-value=before]")
        picture = self.browser.picture_of(CANVAS)
        self.assertGreater(self.share_of(picture, ORANGE), 0.1)
        self.assertEqual(self.share_of(picture, SKY), 0)

    def test_key_b_switches_before_and_after(self):
        self.browser.press("b")
        self.assertEqual(self.browser.find("[data-value=before]").get_attribute("aria-pressed"), "true")
        self.browser.press("b")
        self.assertEqual(self.browser.find("[data-value=after]").get_attribute("aria-pressed"), "true")

    def test_a_queue_of_the_legend_makes_the_others_faint(self):
        self.show_map()
        before = self.share_of(self.browser.picture_of(CANVAS), ORANGE)
        self.browser.click(".legend-item:nth-of-type(2)")
        self.assertLess(self.share_of(self.browser.picture_of(CANVAS), ORANGE), before / 10)
        self.assertIn("Shown: 2 pods on 16 GPUs of 2 nodes", self.browser.text(".match"))
        self.browser.click(".legend-item:nth-of-type(2)")
        self.assertEqual(self.browser.text(".match"), "")

    def test_filters_by_gang_and_node(self):
        gang, node = self.browser.all("#map input[type=search]")
        gang.send_keys("half-1")
        self.browser.settle()
        self.assertIn("Shown: 1 pod on 0.5 GPUs of 1 node", self.browser.text(".match"))
        gang.clear()
        node.send_keys("node-1")
        self.browser.settle()
        self.assertIn("(3 nodes match)", self.browser.text(".match"))

    def test_the_keyboard_reads_the_map(self):
        self.browser.focus(CANVAS)
        self.browser.press(Keys.HOME)
        self.assertIn(HOSTILE, self.browser.text(".map-panel h3"))
        self.browser.press(Keys.ARROW_RIGHT)
        self.assertIn("GPU 1", self.browser.text(".map-panel"))
        self.browser.press(Keys.END)
        self.assertEqual(self.browser.text(".map-panel h3"), "small-1")
        self.assertIn("small-1, GPU 0: ", self.browser.text("#map [role=status].visually-hidden"))
        self.browser.press(Keys.ESCAPE)
        self.assertEqual(self.browser.text(".map-panel h3"), "What stands here")

    def test_keys_zoom_the_map(self):
        self.browser.focus(CANVAS)
        self.browser.press(Keys.HOME, "0")
        drawn = lambda: self.browser.run("return document.querySelector(arguments[0]).toDataURL()", CANVAS)
        far = drawn()
        self.browser.press("+", "+")
        self.assertNotEqual(drawn(), far)
        self.browser.press("0")
        self.assertEqual(drawn(), far)

    def test_a_click_tells_what_stands_there(self):
        self.show_map()
        self.browser.run("const b = document.querySelector(arguments[0]).getBoundingClientRect();"
                         "const at = {clientX: b.left + 30, clientY: b.top + 60, bubbles: true, pointerId: 1};"
                         "const c = document.querySelector(arguments[0]); c.setPointerCapture = () => {};"
                         "c.dispatchEvent(new PointerEvent('pointerdown', at)); c.dispatchEvent(new PointerEvent('pointerup', at));", CANVAS)
        self.browser.settle()
        self.assertIn(HOSTILE, self.browser.text(".map-panel"))
        self.assertIn("1 pod on this node", self.browser.text(".map-panel"))

    def test_waiting_gangs_have_their_reasons(self):
        self.assertIn("big", self.browser.text("#gangs .table-body"))
        self.browser.click("#gangs .table-body .table-row")
        detail = self.browser.text(".gang-detail")
        self.assertIn("Nodes for its next pod", detail)
        self.assertIn("40", detail)

    def test_gangs_are_sorted_and_searched(self):
        self.browser.click("#gangs [data-value=all]")
        names = lambda: [row.text.split("\n")[0] for row in self.browser.all("#gangs .table-body .table-row")]
        self.browser.click("#gangs .table-head [role=columnheader]:first-child button")
        shown = names()
        self.browser.click("#gangs .table-head [role=columnheader]:first-child button")
        self.assertEqual(names(), shown[::-1])
        self.browser.press("/")
        self.browser.press("half")
        self.assertEqual(sorted(names()), ["half-0", "half-1", "half-2"])

    def test_rows_are_opened_by_the_keyboard(self):
        self.browser.click("#gangs [data-value=all]")
        self.browser.focus("#gangs .table-scroller")
        self.browser.press(Keys.ARROW_DOWN, Keys.ARROW_DOWN, Keys.ENTER)
        self.assertEqual(self.browser.text("#gangs .is-active [role=cell]"), self.browser.text(".gang-detail h3"))

    def test_a_gang_is_shown_on_the_map(self):
        self.browser.click("#gangs [data-value=starts]")
        self.browser.click("#gangs .table-body .table-row")
        self.browser.click(".gang-detail button")
        self.assertIn("Shown:", self.browser.text(".match"))

    def test_resources_of_queues_can_be_chosen(self):
        self.browser.click("#queues [data-value=cpu]")
        self.assertIn("(cores)", self.browser.text("#queues"))
        self.assertIn("32", self.browser.text("#queues .queue-row:nth-of-type(2)"))

    def test_is_dark_where_the_system_is_or_the_user_wants_it(self):
        def darkness():
            return sum(self.browser.picture().resize((1, 1)).getpixel((0, 0))) / 3
        self.assertGreater(darkness(), 200)
        self.browser.prefer("dark")
        self.assertLess(darkness(), 80)
        self.browser.press("t")
        self.assertGreater(darkness(), 200)

    def test_prints_with_all_views_and_no_controls(self):
        pdf = self.browser.printed()
        self.assertGreater(len(pdf), 20_000)
        self.browser.command("Emulation.setEmulatedMedia", media="print")
        hidden = self.browser.run("return [...document.querySelectorAll('.controls, nav, .tools')].every((e) => e.offsetParent === null)")
        self.browser.command("Emulation.setEmulatedMedia", media="")
        self.assertTrue(hidden)

    def test_paper_is_light_where_the_screen_is_dark(self):
        ground = lambda: self.browser.run("return [...document.querySelector(arguments[0]).getContext('2d').getImageData(2, 2, 1, 1).data.slice(0, 3)]", CANVAS)
        self.browser.prefer("dark")
        self.assertLess(max(ground()), 80)
        self.browser.command("Emulation.setEmulatedMedia", media="print", features=[{"name": "prefers-color-scheme", "value": "dark"}])
        self.browser.settle()
        self.assertEqual(ground(), [255, 255, 255])
        self.browser.command("Emulation.setEmulatedMedia", media="")

    def test_fits_a_small_window(self):
        self.browser.resize(420, 800)
        self.browser.open(self.page)
        self.assertLessEqual(self.browser.run("return document.documentElement.scrollWidth"), 420)
        self.browser.resize(1400, 950)

    def test_every_control_has_a_name(self):
        nameless = self.browser.run("""return [...document.querySelectorAll('button, input, select, canvas[tabindex], [role=table]')].filter((e) =>
            !(e.textContent.trim() || e.getAttribute('aria-label') || e.labels?.length)).map((e) => e.outerHTML)""")
        self.assertEqual(nameless, [])

    def test_keys_are_told(self):
        self.browser.press("?")
        self.assertTrue(self.browser.run("return document.querySelector('dialog').open"))
        self.browser.press(Keys.ESCAPE)


class WaitingGang(PageTest):
    """What the page says of a gang that waits: the funnel of its nodes, and its remedy."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.snapshots, plans = cls.place.planned(waiting_snapshot(), engine="milp", options=("--remedies", "1"))
        with open(plans, encoding="utf-8") as file:
            cls.plan = json.load(file)

    def show(self, **changes):
        """The gang's row is open on the page of the plan with other values of the gang; None: without the key."""
        plan = json.loads(json.dumps(self.plan))
        plan["gangs"][0].update(changes)
        plan["gangs"][0] = {key: value for key, value in plan["gangs"][0].items() if value is not None}
        self.browser.open(self.place.page("--snapshot", self.snapshots, self.place.write("plan.jsonl", plan)))
        self.browser.click("#gangs .table-body .table-row")

    def funnel(self):
        return self.browser.run("""return [...document.querySelectorAll('.funnel tbody tr')].map((row) => [
            row.querySelector('th').textContent, Number(row.dataset.nodes), Number(row.querySelector('.numeric').textContent),
            ...['left', 'cut'].map((part) => parseFloat(row.querySelector(`.funnel-${part}`).style.width))])""")

    def check_sum(self, rows):
        """All nodes less those of each filter are those that are left; numbers in cells and lengths of bars agree."""
        left = total = rows[0][1]
        for title, nodes, shown, bar, cut in rows[1:-1]:
            self.assertEqual(shown, nodes, title)
            left -= nodes
            self.assertAlmostEqual(bar, 100 * left / total, places=3, msg=title)
            self.assertAlmostEqual(cut, 100 * nodes / total, places=3, msg=title)
        self.assertEqual(rows[-1][1:4], [left, left, 100 * left / total])

    def test_funnel_counts_each_node_once(self):
        self.show()
        rows = self.funnel()
        self.assertEqual([row[:2] for row in rows], [["in the cluster", 5], ["− cordoned", 1], ["− taint not tolerated", 1],
                                                     ["− too few free GPUs", 3], ["= could take its next pod", 0]])
        self.check_sum(rows)

    def test_funnel_adds_up_with_nodes_that_are_available_or_not_stated(self):
        self.show(blockers=[{"code": "Unschedulable", "nodes": 1}, {"code": "Available", "nodes": 2}])
        rows = self.funnel()
        self.assertEqual([row[:2] for row in rows], [["in the cluster", 5], ["− cordoned", 1], ["− not stated in the plan", 2], ["= could take its next pod", 2]])
        self.check_sum(rows)

    def test_no_funnel_without_blockers(self):
        self.show(blockers=None)
        self.assertEqual(self.browser.all(".funnel"), [])

    def test_remedy_is_in_the_table_and_its_command_can_be_copied(self):
        self.show()
        self.assertIn("uncordon n2", self.browser.text("#gangs .table-body"))
        self.assertIn("uncordon n2 proven smallest", self.browser.text(".remedy"))
        self.assertEqual(self.browser.text(".command code"), "muster what-if --uncordon n2")
        self.browser.run("Object.defineProperty(navigator, 'clipboard', {value: {writeText: async (text) => { window.copied = text; }}})")
        self.browser.click(".command .copy")
        self.assertEqual(self.browser.run("return window.copied"), "muster what-if --uncordon n2")
        self.assertIn("Copied", self.browser.text(".command [role=status]"))

    def test_without_a_clipboard_the_command_is_selected(self):
        self.show()
        self.browser.run("Object.defineProperty(navigator, 'clipboard', {value: undefined})")
        self.browser.click(".command .copy")
        self.assertEqual(self.browser.run("return String(getSelection())"), "muster what-if --uncordon n2")

    def test_command_does_what_the_page_says(self):
        self.show()
        command = self.browser.text(".command code").split()
        changed = json.loads(self.place.muster(*command[1:], "--from", self.snapshots, "--format", "json"))
        self.assertEqual([(gang["gang"], gang["phaseAfter"]) for gang in changed["gangs"]], [("train", "Scheduled")])

    def test_what_is_not_proven_is_said(self):
        self.show(remedy={**self.plan["gangs"][0]["remedy"], "smallest": False})
        self.assertIn("uncordon n2 not proven to be the smallest", self.browser.text(".remedy"))

    def test_hostile_names_stay_text_and_get_no_copy_button(self):
        for name in (HOSTILE, "$(reboot)", "`reboot`", "n2;reboot", "n2 --save x", "n2\nreboot", "n2|reboot", "~"):
            self.show(remedy={"kind": "uncordon", "size": 1, "text": f"uncordon {name}", "options": f"--uncordon {name}", "smallest": True})
            self.assertIsNone(self.browser.run("return document.querySelector('img')"))
            self.assertIn(name, self.browser.text(".remedy"))
            self.assertEqual(self.browser.all(".copy"), [], name)
            self.assertIn("quotes", self.browser.text(".remedy"))

    def test_nothing_that_was_tried_helps(self):
        self.show(remedy={"kind": "never"})
        self.assertIn("Nothing that was tried helps.", self.browser.text(".remedy"))
        self.assertEqual(self.browser.all(".command"), [])

    def test_a_plan_without_remedies_says_how_to_get_them(self):
        self.show(remedy=None)
        self.assertIn("muster solve --remedies N", self.browser.text(".remedy"))
        self.assertNotIn("What would start it", self.browser.text("#gangs .table-head"))

    def test_fits_a_small_window(self):
        self.browser.resize(420, 800)
        self.show()
        width = self.browser.run("return document.documentElement.scrollWidth")
        self.browser.resize(1400, 950)
        self.assertLessEqual(width, 420)


if __name__ == "__main__":
    main()
