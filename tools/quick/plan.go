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
	touched := map[string]bool{}
	for _, file := range files {
		if p, ok := holder(file, packages); ok {
			touched[p.name] = true
		}
		if slices.Contains(routes, file) {
			touched["lectern/infra"] = true
		}
	}
	unit, whole := map[string]bool{}, map[string]bool{}
	shared := false
	for _, p := range packages {
		in := touched[p.name]
		switch {
		case in && under(p.folder, tests):
			whole[p.name] = p.folder != tests
			shared = shared || p.folder == tests
		case in || !slices.ContainsFunc(slow, func(s string) bool { return under(p.folder, s) }) && importsAny(p, touched):
			unit[p.name] = true
		}
		shared = shared || in && (under(p.folder, "shared") || under(p.folder, "localstack/local"))
		if group, ok := strings.CutPrefix(p.folder, "functions/"); ok && in && areas[group] != "" {
			whole["lectern/"+tests+"/"+areas[group]] = true
		}
	}
	maps.DeleteFunc(whole, func(_ string, run bool) bool { return !run })
	steps = add(steps, touched, "vet")
	// What has changed is vetted already.
	steps = add(steps, unit, "test", "-vet=off")
	steps = add(steps, whole, "test", "-vet=off", "-parallel", "4")
	if shared {
		steps = append(steps, step{[]string{"test", "-vet=off", "-parallel", "4", "./" + tests + "/..."}, []string{onlyMarked}})
	}
	return steps
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
