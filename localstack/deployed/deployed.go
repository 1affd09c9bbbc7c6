// Package deployed is a service that runs elsewhere, on an emulator of AWS or in an
// account: where its regions are, and how its operator is asked.
package deployed

import (
	"encoding/json"
	"fmt"
	"os"
)

// Env names the file that says where the deployed service is: Regions as JSON. Operator
// commands of bin/lectern go there, and tests where it is an emulator's.
const Env = "LECTERN_DEPLOYED"

// Region is where one region of a deployed service is.
type Region struct {
	// URL is the address that paths of the API are appended to.
	URL string `json:"url"`
	// Operator is the name of the operator's function, Table that of the table.
	Operator string `json:"operator"`
	Table    string `json:"table"`
	// AWSRegion is the AWS region. Endpoint is the address of its emulator; empty is AWS
	// itself, called with the environment's credentials.
	AWSRegion string `json:"aws_region"`
	Endpoint  string `json:"endpoint,omitempty"`
}

// Regions are a deployed service's regions by their names.
type Regions map[string]Region

// FromEnvironment reads the file that Env names; it is nil without one.
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

// Emulated is FromEnvironment for tests, which make records and change roles: a region
// that is not an emulator's is an error.
func Emulated() (Regions, error) {
	regions, err := FromEnvironment()
	for name, region := range regions {
		if region.Endpoint == "" {
			return nil, fmt.Errorf("deployed: tests call emulators alone, and %s names the region %s of an account; unset it", Env, name)
		}
	}
	return regions, err
}

// Write writes the file that Env names.
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
