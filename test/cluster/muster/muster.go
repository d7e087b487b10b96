// Package muster runs the program under test.
package muster

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
)

// Plan is what the tests read of a plan line.
type Plan struct {
	Status     string
	Placements []Placement
	Evictions  []Eviction
	Gangs      []Gang
	Warnings   []json.RawMessage
	Error      json.RawMessage
	Line       []byte `json:"-"` // as Muster wrote it
}

// Placement is a pod that gets a node, once the pods of After are gone and the placements of lower steps are made.
type Placement struct {
	Pod, Node string
	After     []string
	Step      int
}

// Eviction is a pod that goes, or moves if it is also placed.
type Eviction struct{ Pod, Node, Reason, For string }

// Gang is the outcome of a gang; a pod without one is a gang of its own.
type Gang struct {
	Name, Phase, Reason, Message string
	Pending                      int
}

// Program is the binary under test: $MUSTER, else the release build of this repository.
func Program() string {
	if program := os.Getenv("MUSTER"); program != "" {
		return program
	}
	_, file, _, _ := runtime.Caller(0)
	return filepath.Join(filepath.Dir(file), "../../../build/release/muster")
}

// Solve gives the plan of one snapshot.
func Solve(snapshot []byte, options ...string) (Plan, error) {
	var plan Plan
	line, err := run(snapshot, append([]string{"solve"}, options...))
	if err != nil {
		return plan, err
	}
	if err := json.Unmarshal(line, &plan); err != nil {
		return plan, fmt.Errorf("%w in the plan %s", err, line)
	}
	plan.Line = line
	if plan.Status != "ok" {
		return plan, fmt.Errorf("the plan is an error: %s", plan.Error)
	}
	return plan, nil
}

// Export gives the objects that carry a phase of the plan out.
func Export(snapshot []byte, plan Plan, options ...string) ([]json.RawMessage, error) {
	file, err := os.CreateTemp("", "snapshot-*.json")
	if err != nil {
		return nil, err
	}
	defer os.Remove(file.Name())
	if err := os.WriteFile(file.Name(), snapshot, 0o600); err != nil {
		return nil, err
	}
	output, err := run(plan.Line, append([]string{"export", "--snapshot", file.Name()}, options...))
	if err != nil {
		return nil, err
	}
	var objects []json.RawMessage
	for decoder := json.NewDecoder(bytes.NewReader(output)); decoder.More(); {
		var object json.RawMessage
		if err := decoder.Decode(&object); err != nil {
			return nil, err
		}
		objects = append(objects, object)
	}
	return objects, nil
}

func run(input []byte, arguments []string) ([]byte, error) {
	command := exec.Command(Program(), arguments...)
	command.Stdin = bytes.NewReader(input)
	var output, complaint bytes.Buffer
	command.Stdout, command.Stderr = &output, &complaint
	if err := command.Run(); err != nil {
		return nil, fmt.Errorf("muster %v: %w\n%s%s", arguments, err, complaint.String(), output.String())
	}
	return output.Bytes(), nil
}
