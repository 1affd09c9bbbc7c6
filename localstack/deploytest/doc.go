// Package deploytest tests what only a deployed service can show: regions that know
// nothing of each other, roles that grant no more than they must, and a new release
// that comes while clients work.
package deploytest
