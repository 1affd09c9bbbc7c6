// Package deploytest tests what only a deployed service can show: regions that know
// nothing of each other, functions that are held to the actions of their roles, and a new
// release that comes while clients work. No emulator here holds a function to the keys
// that its role names (docs/decisions/0013-the-deployed-shape.md).
package deploytest
