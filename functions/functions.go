// Package functions lists the tag groups. Each group is a package and a Lambda. The router, the
// gateway and the document are made from the list.
package functions

import (
	workers "lectern/events"
	"lectern/functions/agendaplanning"
	"lectern/functions/awards"
	"lectern/functions/contacts"
	"lectern/functions/contactwrites"
	"lectern/functions/dashboards"
	"lectern/functions/events"
	"lectern/functions/eventsettings"
	"lectern/functions/exhibitors"
	"lectern/functions/exhibitorwrites"
	"lectern/functions/fieldwrites"
	"lectern/functions/gdpr"
	"lectern/functions/insights"
	"lectern/functions/logexport"
	"lectern/functions/mcp"
	"lectern/functions/media"
	"lectern/functions/metadatawrites"
	"lectern/functions/oauth"
	"lectern/functions/participants"
	"lectern/functions/recordings"
	"lectern/functions/reports"
	"lectern/functions/root"
	"lectern/functions/sessionfiles"
	"lectern/functions/sessions"
	"lectern/functions/sessionwrites"
	"lectern/functions/speakers"
	"lectern/functions/sponsors"
	"lectern/functions/sponsorwrites"
	"lectern/functions/transcriptions"
	"lectern/functions/webhooks"
	"lectern/shared/api"
)

// Groups lists all groups in the order of the document.
var Groups = []api.Group{
	events.Group,
	sessions.Group,
	sessionwrites.Group,
	speakers.Group,
	participants.Group,
	contacts.Group,
	contactwrites.Group,
	sponsorwrites.Group,
	exhibitorwrites.Group,
	sponsors.Group,
	exhibitors.Group,
	eventsettings.Group,
	fieldwrites.Group,
	metadatawrites.Group,
	agendaplanning.Group,
	awards.Group,
	insights.Group,
	reports.Group,
	dashboards.Group,
	transcriptions.Group,
	recordings.Group,
	media.Group,
	sessionfiles.Group,
	gdpr.Group,
	webhooks.Group,
	logexport.Group,
	oauth.Group,
	mcp.Group,
	root.Group,
}

// Operator is the name of the function that does an operator's commands. It has no group.
const Operator = "operator"

// Names lists the functions of a region with every option.
func Names() []string { return With(workers.Every) }

// Always lists the functions of every region: Names without the workers of options.
func Always() []string { return With(workers.Options{}) }

// With lists the functions of a region with options: the operator's, those of all groups, and the workers.
func With(o workers.Options) []string {
	names := []string{Operator}
	for _, group := range Groups {
		names = append(names, group.Name)
	}
	all, _ := workers.With(o)
	for _, worker := range all {
		names = append(names, worker.Name)
	}
	return names
}
