package main

import (
	"maps"
	"path"
	"slices"
	"strings"
)

// areas are the integration tests of a group, by the folder of the group.
var areas = map[string]string{
	"agendaplanning": "agenda", "events": "events", "operator": "access", "root": "requests",
	"sessions": "sessions", "sessionwrites": "sessions",
	"contacts": "people", "contactwrites": "people", "speakers": "people", "participants": "people",
	"sponsors": "people", "sponsorwrites": "people", "exhibitors": "people", "exhibitorwrites": "people",
	"eventsettings": "settings", "fieldwrites": "settings", "metadatawrites": "settings",
}

// tests is the folder of the areas.
const tests = "localstack/test/it"

// onlyMarked makes the tests that are marked Everywhere run alone: stacktest.EnvMarked, which is
// not imported so that this command is built without the project.
const onlyMarked = "LECTERN_MARKED=1"

// slow are folders whose tests take long: they are tested only if they have changed themselves.
var slow = []string{"infra", "localstack", "tools", "shared/catalogue", "shared/change", "shared/resource", "shared/write"}

// routes are the files from which infra makes the API.
var routes = []string{"functions/functions.go", "functions/testdata/routes.golden.txt"}

// pkg is a package of the project, with what it and its tests import.
type pkg struct {
	name, folder string
	imports      []string
}

// step is a command of go, with its environment.
type step struct {
	args, env []string
}

// String returns the command as in a shell.
func (s step) String() string {
	return strings.Join(append(slices.Clone(s.env), "go "+strings.Join(s.args, " ")), " ")
}

// plan returns the steps that check a change of files.
func plan(files []string, packages []pkg) (steps []step) {
	c := change{touched: touched(files, packages), unit: map[string]bool{}, areas: map[string]bool{}}
	for _, p := range packages {
		c.look(p)
	}
	steps = add(steps, c.touched, "vet")
	// What has changed is vetted already.
	steps = add(steps, c.unit, "test", "-vet=off")
	steps = add(steps, c.areas, "test", "-vet=off", "-parallel", "4")
	if c.shared {
		steps = append(steps, step{[]string{"test", "-vet=off", "-parallel", "4", "./" + tests + "/..."}, []string{onlyMarked}})
	}
	return steps
}

// touched returns the names of the packages that have one of the files.
func touched(files []string, packages []pkg) map[string]bool {
	names := map[string]bool{}
	for _, file := range files {
		if p, ok := holder(file, packages); ok {
			names[p.name] = true
		}
		if slices.Contains(routes, file) {
			names["lectern/infra"] = true
		}
	}
	return names
}

// change is what a change touches.
type change struct {
	// touched are the changed packages. unit are the packages whose unit tests run, areas those
	// of the integration tests that run.
	touched, unit, areas map[string]bool
	// shared reports whether every area uses what has changed.
	shared bool
}

// look adds what the change asks of a package.
func (c *change) look(p pkg) {
	if c.touched[p.name] {
		c.changed(p)
	} else if !p.slow() && importsAny(p, c.touched) {
		c.unit[p.name] = true
	}
}

// changed adds what a changed package asks for.
func (c *change) changed(p pkg) {
	group, _ := strings.CutPrefix(p.folder, "functions/")
	if areas[group] != "" {
		c.areas["lectern/"+tests+"/"+areas[group]] = true
	}
	c.shared = c.shared || p.folder == tests || under(p.folder, "shared") || under(p.folder, "localstack/local")
	switch {
	case p.folder == tests:
	case under(p.folder, tests):
		c.areas[p.name] = true
	default:
		c.unit[p.name] = true
	}
}

// slow reports whether the tests of the package take long.
func (p pkg) slow() bool {
	return slices.ContainsFunc(slow, func(folder string) bool { return under(p.folder, folder) })
}

// add adds a step for packages, if there are any.
func add(steps []step, packages map[string]bool, args ...string) []step {
	if len(packages) == 0 {
		return steps
	}
	return append(steps, step{args: append(args, slices.Sorted(maps.Keys(packages))...)})
}

// holder returns the package whose folder, or a folder below it, has the file.
func holder(file string, packages []pkg) (found pkg, ok bool) {
	for folder := path.Dir(file); folder != "."; folder = path.Dir(folder) {
		if i := slices.IndexFunc(packages, func(p pkg) bool { return p.folder == folder }); i >= 0 {
			return packages[i], true
		}
	}
	return pkg{}, false
}

// under reports whether a folder is another, or below it.
func under(folder, of string) bool { return folder == of || strings.HasPrefix(folder, of+"/") }

// importsAny reports whether the package imports one of the others.
func importsAny(p pkg, others map[string]bool) bool {
	return slices.ContainsFunc(p.imports, func(name string) bool { return others[name] })
}
