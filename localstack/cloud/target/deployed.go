// Package target is a deployed service, on an emulator of AWS or in an account: the addresses
// of its regions, and its operator.
package target

import (
	"encoding/json"
	"fmt"
	"os"
)

// Env is the variable with a file of Regions as JSON. Operator commands of bin/lectern go to
// that service; tests do too, if the service runs on an emulator.
const Env = "LECTERN_DEPLOYED"

// Region has the addresses of a region.
type Region struct {
	// URL is the base address for paths of the API. It leads to the host Domain of the API, or
	// below the stage if Domain is empty.
	URL    string `json:"url"`
	Domain string `json:"domain,omitempty"`
	// Operator is the name of the operator's function, Table the name of the table.
	Operator string `json:"operator"`
	Table    string `json:"table"`
	// AWSRegion is the AWS region. Endpoint is the address of an emulator; empty is AWS, with
	// the environment's credentials.
	AWSRegion string `json:"aws_region"`
	Endpoint  string `json:"endpoint,omitempty"`
}

// Regions has the regions of a service by name.
type Regions map[string]Region

// FromEnvironment reads the file that Env names; nil without Env.
func FromEnvironment() (Regions, error) {
	name := os.Getenv(Env)
	if name == "" {
		return nil, nil
	}
	text, err := os.ReadFile(name) //nolint:gosec // the caller names it
	if err != nil {
		return nil, fmt.Errorf("deployed: %w", err)
	}
	var regions Regions
	if err := json.Unmarshal(text, &regions); err != nil {
		return nil, fmt.Errorf("deployed: %s: %w", name, err)
	}
	return regions, nil
}

// Emulated is FromEnvironment for tests. It refuses regions of an account, because tests
// create records and change roles.
func Emulated() (Regions, error) {
	regions, err := FromEnvironment()
	for name, region := range regions {
		if region.Endpoint == "" {
			return nil, fmt.Errorf("deployed: tests call emulators alone, and %s names the region %s of an account; unset it", Env, name)
		}
	}
	return regions, err
}

// Write writes the file for Env.
func (r Regions) Write(name string) error {
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return fmt.Errorf("deployed: %w", err)
	}
	if err := os.WriteFile(name, append(text, '\n'), 0o600); err != nil {
		return fmt.Errorf("deployed: %w", err)
	}
	return nil
}
