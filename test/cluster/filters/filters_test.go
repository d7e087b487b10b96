package filters

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"muster/test/cluster/muster"
)

var (
	snapshots = flag.Int("snapshots", 300, "random clusters to plan")
	first     = flag.Uint64("seed", 1, "seed of the first one; the next ones follow")
	budget    = flag.String("budget", "300ms", "time of each plan")
	keep      = flag.String("keep", "", "folder for the clusters whose plan is refused")
)

func TestEveryPlacementPassesTheFiltersOfKubeScheduler(t *testing.T) {
	if _, err := os.Stat(muster.Program()); err != nil {
		t.Skipf("skipped: %v; build it, or name it by $MUSTER", err)
	}
	placed, evicted, missed := 0, 0, 0
	for seed := *first; seed < *first+uint64(*snapshots); seed++ {
		objects := Draw(seed)
		snapshot, err := objects.JSON()
		if err != nil {
			t.Fatal(err)
		}
		plan, err := muster.Solve(snapshot, "--budget", *budget)
		if err != nil {
			t.Errorf("seed %d: %v", seed, err)
			continue
		}
		outcome, err := Replay(t.Context(), objects, plan)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		for _, refusal := range outcome.Refused {
			t.Errorf("seed %d: %s", seed, refusal)
		}
		for _, budget := range outcome.Broken {
			t.Errorf("seed %d: %s", seed, budget)
		}
		for _, miss := range outcome.Missed {
			t.Logf("seed %d: %s", seed, miss)
		}
		if *keep != "" && len(outcome.Refused)+len(outcome.Broken)+len(outcome.Missed) > 0 {
			name := filepath.Join(*keep, fmt.Sprintf("seed-%d", seed))
			err := errors.Join(os.WriteFile(name+".json", snapshot, 0o644), os.WriteFile(name+".plan.json", plan.Line, 0o644))
			if err != nil {
				t.Error(err)
			}
		}
		placed += len(plan.Placements)
		evicted += len(plan.Evictions)
		missed += len(outcome.Missed)
	}
	t.Logf("%d snapshots, %d placements checked, %d evictions, %d pods left over that would fit (reported only)", *snapshots, placed, evicted, missed)
}
