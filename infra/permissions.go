package main

import (
	"maps"
	"slices"
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/jsii-runtime-go"
)

// The partition keys of the table, by how they begin.
const (
	// tenants is all that belongs to an organization.
	tenants = "O#*"
	// limits are the counters of the rate limiter.
	limits = "L#*"
	// numbers is the counter that the region's ids come from.
	numbers = "N#*"
	// organizations is the region's list of them, and its progress of maintenance.
	organizations = "R#*"
)

// updateItem is the action that most writes are.
const updateItem = "UpdateItem"

// permission is one action on the table's items whose partition keys fit a pattern.
// The parts of a transaction are actions of their own.
type permission struct{ action, pattern string }

// writes is whether the action changes an item.
func (p permission) writes() bool {
	return slices.Contains(slices.Concat(limit, change, release, count, enroll[:1], proceed[:1], strike[:1]), p)
}

// What functions do, in the words of shared/table.
var (
	// authenticate finds out who calls: organization and event, and of one moment token
	// and member, whose parts of a transaction are GetItem.
	authenticate = []permission{{"BatchGetItem", tenants}, {"GetItem", tenants}}
	// list reads the entries of a partition.
	list = []permission{{"Query", tenants}}
	// read reads records: the rows of a catalogue and the settings of an event, and
	// again one by one those that were seen while they changed.
	read = slices.Concat(authenticate, list)
	// limit counts the request in its bucket.
	limit = []permission{{updateItem, limits}}
	// change makes and changes records, their rows and versions, the running numbers
	// of an organization, and the keys of requests that may be repeated.
	change = []permission{{"PutItem", tenants}, {updateItem, tenants}}
	// write is what every group does that changes something.
	write = slices.Concat(read, limit, change)
	// release frees a unique value, such as an address that a contact has no more, and
	// deletes the item of a person who leaves a session. A small record that is deleted moves
	// to another key.
	release = []permission{{"DeleteItem", tenants}}
	// hold has a transaction fail when what it relies on has changed.
	hold = []permission{{"ConditionCheckItem", tenants}}
	// count takes an id from the region's counter.
	count = []permission{{updateItem, numbers}}
	// compare looks at that counter, to repair it.
	compare = []permission{{"GetItem", numbers}}
	// enroll puts a new organization on the region's list, and reads that.
	enroll = []permission{{"PutItem", organizations}, {"Query", organizations}}
	// proceed keeps how far maintenance has come, beside that list.
	proceed = []permission{{updateItem, organizations}, {"GetItem", organizations}}
	// strike takes an organization off that list which is not there, to repair it.
	strike = []permission{{"DeleteItem", organizations}, {"BatchGetItem", organizations}}
)

// permissions are what each function may do with the table, and nothing else may be
// done by it: no function reads the whole table or describes it. They are held to
// what the functions really do (testdata/permissions.golden.txt).
var permissions = map[string][]permission{
	"events":          read,
	"sessions":        slices.Concat(read, limit),
	"sessionwrites":   slices.Concat(write, release),
	"speakers":        read,
	"participants":    read,
	"contacts":        slices.Concat(read, limit),
	"contactwrites":   slices.Concat(write, release, hold),
	"sponsors":        slices.Concat(read, limit),
	"sponsorwrites":   slices.Concat(write, hold),
	"exhibitors":      slices.Concat(read, limit),
	"exhibitorwrites": slices.Concat(write, hold),
	"eventsettings":   slices.Concat(read, limit),
	"fieldwrites":     slices.Concat(write, release),
	"metadatawrites":  write,
	"agendaplanning":  slices.Concat(write, release),
	// root asks the table for nothing.
	"root": nil,
	// operator stands behind no gateway and counts no requests.
	"operator": slices.Concat(read, change, release, hold, count, compare, enroll, proceed, strike),
}

// permits is whether the function may do something.
func (f function) permits(something []permission) bool {
	return slices.Contains(f.permissions, something[0])
}

// tablePolicy is what a function may do with the table. All of its actions name the items
// they touch, so that the condition, which a request without keys would pass, refuses every
// other item.
func tablePolicy(stack awscdk.Stack, at region, f function) awsiam.PolicyDocument {
	table := stack.FormatArn(&awscdk.ArnComponents{
		Service: jsii.String("dynamodb"), Resource: jsii.String("table"), ResourceName: jsii.String(at.table()),
	})
	policy := awsiam.NewPolicyDocument(nil)
	for _, s := range statements(f.permissions) {
		policy.AddStatements(awsiam.NewPolicyStatement(&awsiam.PolicyStatementProps{
			Actions:   jsii.Strings(s.actions...),
			Resources: &[]*string{table},
			Conditions: &map[string]any{
				"ForAllValues:StringLike": map[string]any{"dynamodb:LeadingKeys": s.patterns},
			},
		}))
	}
	return policy
}

// statement is what actions have in common: the keys they are allowed on.
type statement struct{ actions, patterns []string }

// statements puts together the actions that are allowed on the same keys.
func statements(all []permission) (made []statement) {
	patterns := map[string][]string{}
	for _, p := range all {
		if !slices.Contains(patterns[p.action], p.pattern) {
			patterns[p.action] = append(patterns[p.action], p.pattern)
		}
	}
	at := map[string]int{}
	for _, action := range slices.Sorted(maps.Keys(patterns)) {
		slices.Sort(patterns[action])
		key := strings.Join(patterns[action], " ")
		if _, ok := at[key]; !ok {
			at[key] = len(made)
			made = append(made, statement{patterns: patterns[action]})
		}
		made[at[key]].actions = append(made[at[key]].actions, "dynamodb:"+action)
	}
	return made
}
