package main

import (
	"maps"
	"path"
	"slices"
	"strings"
)

// areas maps the name of a function to the folders of the integration tests.
var areas = map[string][]string{
	"agendaplanning": {"agenda"}, "awards": {"awards"}, "insights": {"insights"}, "reports": {"reports"}, "dashboards": {"reports"},
	"events": {"events"}, "logexport": {"logs"}, "oauth": {"connections"}, "mcp": {"assistants"}, "root": {"requests"},
	"sessions": {"sessions"}, "sessionwrites": {"sessions"},
	"contacts": {"people"}, "contactwrites": {"people"}, "speakers": {"people"}, "participants": {"people"},
	"sponsors": {"people"}, "sponsorwrites": {"people"}, "exhibitors": {"people"}, "exhibitorwrites": {"people"},
	"eventsettings": {"settings"}, "fieldwrites": {"settings"}, "metadatawrites": {"settings"},
	"operator": {"access", "changes", "maintenance"}, "ingester": {"access", "logs"},
	"publisher": {"changes", "webhooks"}, "transcriptions": {"transcriptions"}, "media": {"media"}, "transcriber": {"media"},
	"recordings": {"recordings"}, "sessionfiles": {"sessionfiles"}, "slides": {"slides"},
	"gdpr": {"gdpr"}, "dataworker": {"gdpr", "recordings"},
	"webhooks": {"webhooks"}, "matcher": {"webhooks"}, "deliverer": {"webhooks"}, "sweeper": {"webhooks"},
}

// tests is the folder of the areas.
const tests = "localstack/test/it"

// onlyMarked makes the tests that are marked Everywhere run alone: stacktest.EnvMarked, which is
// not imported so that this command is built without the project.
const onlyMarked = "LECTERN_MARKED=1"

// slow lists folders with long tests. Only a change inside runs the tests of such a folder.
var slow = []string{"infra", "localstack", "tools", "shared/catalogue", "shared/change", "shared/resource", "shared/write"}

// routes lists the files from which infra makes the API.
var routes = []string{"functions/functions.go", "functions/testdata/routes.golden.txt", "cdk.json"}

// pkg is a package of the project, with the imports of code and tests.
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
	c := change{touched: touched(files, packages), vet: map[string]bool{}, unit: map[string]bool{}, areas: map[string]bool{}}
	maps.Copy(c.vet, c.touched)
	if c.shared = slices.ContainsFunc(files, isModule); c.shared {
		c.vet["./..."] = true
	}
	for _, p := range packages {
		c.look(p)
	}
	c.limit(packages)
	steps = add(steps, c.vet, "vet")
	// The step above has vetted the changed packages, and the importers whose tests do not run.
	steps = add(steps, c.unit, "test", "-vet=off")
	steps = add(steps, c.areas, "test", "-vet=off", "-parallel", "4")
	if c.shared {
		steps = append(steps, step{[]string{"test", "-vet=off", "-parallel", "4", "./" + tests + "/..."}, []string{onlyMarked}})
	}
	return steps
}

// isModule reports whether a file lists the libraries, which every package may use.
func isModule(file string) bool { return file == "go.mod" || file == "go.sum" }

// unchecked returns the files that no step checks.
func unchecked(files []string, packages []pkg) (left []string) {
	for _, file := range files {
		_, held := holder(file, packages)
		if !held && !slices.Contains(routes, file) && !isModule(file) {
			left = append(left, file)
		}
	}
	return left
}

// touched returns the names of the packages with a changed file.
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

// change has the names of packages: touched of the changed packages, vet of packages to vet, unit of
// packages with unit tests to run, areas of integration tests to run.
type change struct {
	touched, vet, unit, areas map[string]bool
	// shared reports whether all areas use a changed package.
	shared bool
}

// look adds a package to unit or areas, if the change asks for a run of the tests.
func (c *change) look(p pkg) {
	if c.touched[p.name] {
		c.changed(p)
		return
	}
	switch {
	case !importsAny(p, c.touched):
	case p.slow():
		c.vet[p.name] = true // The package must still compile.
	default:
		c.unit[p.name] = true
	}
}

// mostImporters is the highest number of importing packages whose unit tests run. More tests take minutes
// to link, and the tests of all areas reach the code of each group.
const mostImporters = 12

// limit vets the importing packages and leaves out their unit tests, if more than mostImporters packages
// import a shared change.
func (c *change) limit(packages []pkg) {
	importers := map[string]bool{}
	for _, p := range packages {
		if c.unit[p.name] && !c.touched[p.name] && importsAny(p, c.touched) {
			importers[p.name] = true
		}
	}
	if !c.shared || len(importers) <= mostImporters {
		return
	}
	maps.Copy(c.vet, importers)
	maps.DeleteFunc(c.unit, func(name string, _ bool) bool { return importers[name] })
}

// folders lists the folders with the packages of the functions.
var folders = []string{"functions", "events"}

// wholes maps a folder to the packages whose tests hold what is made of all packages in it.
var wholes = map[string][]string{
	"infra": {"lectern/infra"}, "localstack/content": {"lectern/localstack"}, "localstack/cloud": {"lectern/localstack"},
	// The rules and workers are deployed, and run on one machine.
	"events": {"lectern/infra", "lectern/" + tests + "/changes", "lectern/" + tests + "/webhooks"},
}

// changed adds a changed package, the areas of a changed function, and the tests of the whole that the
// package is a part of.
func (c *change) changed(p pkg) {
	for folder, names := range wholes {
		if under(p.folder, folder) {
			for _, name := range names {
				c.unit[name] = true
			}
		}
	}
	if folder, name := path.Split(p.folder); slices.Contains(folders, path.Clean(folder)) {
		for _, area := range areas[name] {
			c.areas["lectern/"+tests+"/"+area] = true
		}
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
	for _, folder := range slow {
		if under(p.folder, folder) {
			return true
		}
	}
	return false
}

// add adds a step for packages, if there are any.
func add(steps []step, packages map[string]bool, args ...string) []step {
	if len(packages) == 0 {
		return steps
	}
	return append(steps, step{args: append(args, slices.Sorted(maps.Keys(packages))...)})
}

// holder returns the package of a file: the package of the nearest folder above.
func holder(file string, packages []pkg) (found pkg, ok bool) {
	for folder := path.Dir(file); folder != "."; folder = path.Dir(folder) {
		for _, p := range packages {
			if p.folder == folder {
				return p, true
			}
		}
	}
	return pkg{}, false
}

// under reports whether a folder equals another folder or lies below.
func under(folder, of string) bool { return folder == of || strings.HasPrefix(folder, of+"/") }

// importsAny reports whether the package imports one of the others.
func importsAny(p pkg, others map[string]bool) bool {
	for _, name := range p.imports {
		if others[name] {
			return true
		}
	}
	return false
}
