"""What must hold of the plans for one snapshot. Each check gives its findings as (kind, text)."""

MINIMISED = {"preempted", "evictedBeyond", "evicted", "moved", "gangNodes", "gangDomains", "gangModels", "cpuOnGpuNodes", "fragmentation"}


def levels(plan):
    return [(level["level"], level.get("priority"), level["value"], level.get("bound")) for level in plan["objective"]]


def better(name, a, b):
    """Whether value a of the level is better than b, beyond rounding."""
    slack = 1e-6 * max(1, abs(a), abs(b))
    return a < b - slack if name in MINIMISED else a > b + slack


def first_difference(plan, other):
    """The first level in which the plans differ: (name, value, bound, other value); None where all are equal."""
    for (name, priority, value, bound), (_, _, other_value, _) in zip(levels(plan), levels(other)):
        if better(name, value, other_value) or better(name, other_value, value):
            return (name if priority is None else f"{name} {priority}"), name, value, bound, other_value
    return None


def check_status(plans):
    for run, plan in plans.items():
        if plan["status"] != "ok":
            yield "error", f"{run}: {plan['error']['path']}: {plan['error']['message']}"


def check_bounds(plans):
    """No plan, a bound's own one included, is better than a bound that any run has proven, as long as both plans are
    equal in the levels before it."""
    for run, plan in plans.items():
        for other_run, other in plans.items():
            for (name, priority, value, bound), (_, _, reached, _) in zip(levels(plan), levels(other)):
                if bound is not None and better(name, reached, bound):
                    label = name if priority is None else f"{name} {priority}"
                    yield "false bound", f"{run} proves {label} {bound}, {other_run} has {reached}"
                if better(name, value, reached) or better(name, reached, value):
                    break


def check_not_worse(plans, better_run, worse_run, kind):
    if better_run not in plans or worse_run not in plans:
        return
    difference = first_difference(plans[better_run], plans[worse_run])
    if difference and better(difference[1], difference[4], difference[2]):
        yield kind, f"{difference[0]}: {better_run} {difference[2]}, {worse_run} {difference[4]}"


def check_reasons(plans):
    for run, plan in plans.items():
        for gang in plan["gangs"]:
            if gang.get("reason") == "OutOfTime" and plan["solver"]["proof"] == "optimal":
                yield "OutOfTime beside a proof", f"{run}: {gang['name']}"
            if gang["pending"] > 0 and gang["phase"] not in ("Running", "Scheduled", "Waiting") and not gang.get("message"):
                yield "no message", f"{run}: {gang['name']}: {gang['phase']}"


def check_time(plans):
    for run, plan in plans.items():
        if plan["solver"].get("deadlineMissed"):
            yield "late", f"{run}: {plan['solver']['elapsedMs']} of {plan['solver']['budgetMs']} ms"
