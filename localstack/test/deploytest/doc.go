// Package deploytest tests a deployed service: regions that share nothing, functions that
// are held to the actions of their roles, and a release while clients work. No emulator
// here checks the keys in a role (docs/decisions/0013-the-deployed-shape.md).
package deploytest
