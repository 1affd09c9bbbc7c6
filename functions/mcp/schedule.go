package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"lectern/shared/apierr"
)

// schedule is the resource with the schedule of an event.
type schedule struct{ sessions, events operation }

// eventOf matches the address of a schedule.
var eventOf = regexp.MustCompile(`^lectern://events/([0-9]+)/schedule$`)

// A schedule has the sessions of so many pages of the largest size, in at most so many bytes, and says how many it leaves out.
const (
	mostPages    = 20
	mostSchedule = 250_000
)

// slot is a session in a schedule.
type slot struct {
	ID       string     `json:"id"`
	Title    string     `json:"title"`
	Status   string     `json:"status"`
	StartsAt *time.Time `json:"starts_at"`
	EndsAt   *time.Time `json:"ends_at"`
	Room     struct {
		Name string `json:"name"`
	} `json:"room"`
	Speakers []struct {
		Name string `json:"full_name"`
	} `json:"speakers"`
	Subsessions []slot `json:"subsessions"`
}

// program is an event with a schedule.
type program struct {
	ID       int64  `json:"id"`
	Name     string `json:"name"`
	TimeZone string `json:"timezone"`
}

// read returns the schedule at the address of the resource.
func (s schedule) read(ctx context.Context, r *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
	named := eventOf.FindStringSubmatch(r.Params.URI)
	if named == nil {
		return nil, sdk.ResourceNotFoundError(r.Params.URI)
	}
	var written string
	refusal := s.sessions.safely(ctx, func(ctx context.Context) error {
		event, err := s.event(ctx, named[1])
		if err != nil {
			return err
		}
		address := "/v1/event/" + named[1] + "/sessions?is_abstract=false&expand=subsession_details&page_size=100&page="
		slots, left, err := pages[slot](ctx, s.sessions, address)
		written = event.write(slots, left)
		return err
	})
	switch {
	case refusal == nil:
		return text(r, "text/plain", written), nil
	case refusal.Status == http.StatusNotFound:
		return nil, sdk.ResourceNotFoundError(r.Params.URI)
	}
	return nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: refusal.Message + " " + advised(refusal)}
}

// event returns the event with an id; without name and time zone for a caller who may not read events.
func (s schedule) event(ctx context.Context, id string) (program, error) {
	events, _, err := pages[program](ctx, s.events, "/v1/events?pageSize=100&page=")
	for _, event := range events {
		if strconv.FormatInt(event.ID, 10) == id {
			return event, nil
		}
	}
	if refused := (*apierr.Error)(nil); errors.As(err, &refused) && refused.Status == http.StatusForbidden {
		err = nil
	}
	return program{Name: "Event " + id}, err
}

// pages returns the results of the pages of a list, with addresses that end with the number of the page, and how many are left.
func pages[T any](ctx context.Context, o operation, address string) (all []T, left int, err error) {
	for number := 1; number <= mostPages; number++ {
		body, err := o.send(ctx, address+strconv.Itoa(number), nil)
		if err != nil {
			return nil, 0, err
		}
		var page struct {
			Results    []T
			Pagination struct{ TotalPages, TotalResults int }
		}
		if err := json.Unmarshal(body, &page); err != nil {
			return nil, 0, fmt.Errorf("mcp: %w", err)
		}
		all, left = append(all, page.Results...), page.Pagination.TotalResults
		if number >= page.Pagination.TotalPages {
			break
		}
	}
	return all, max(0, left-len(all)), nil
}

// timed returns the sessions and subsessions with a time, in the order of the schedule, and how many sessions have none.
func timed(all []slot) (some []slot, untimed int) {
	for _, s := range all {
		for _, one := range append([]slot{s}, s.Subsessions...) {
			if one.StartsAt != nil && one.EndsAt != nil {
				some = append(some, one)
			}
		}
		if s.StartsAt == nil || s.EndsAt == nil {
			untimed++
		}
	}
	slices.SortStableFunc(some, func(a, b slot) int {
		return cmp.Or(a.StartsAt.Compare(*b.StartsAt), cmp.Compare(a.Room.Name, b.Room.Name), cmp.Compare(a.ID, b.ID))
	})
	return some, untimed
}

// write returns the schedule of the event: a line for each session with a time, by day. left sessions were not read.
func (p program) write(all []slot, left int) string {
	zone, err := time.LoadLocation(p.TimeZone)
	if err != nil {
		zone = time.UTC
	}
	slots, untimed := timed(all)
	var out strings.Builder
	fmt.Fprintf(&out, "%s, times in %s\n", p.Name, zone)
	day := ""
	for i, s := range slots {
		if out.Len() > mostSchedule {
			left += len(slots) - i
			break
		}
		if of := s.StartsAt.In(zone).Format("Monday, 2 January 2006"); of != day {
			fmt.Fprintf(&out, "\n%s\n", of)
			day = of
		}
		out.WriteString(s.line(zone))
	}
	if untimed > 0 {
		fmt.Fprintf(&out, "\nSessions without a time: %d\n", untimed)
	}
	if left > 0 {
		fmt.Fprintf(&out, "\nThe event has %d more sessions: list them with find_sessions.\n", left)
	}
	return out.String()
}

// line returns the line of a session, such as "10:00–11:00 Hall 1: Opening (Ada Lovelace) [id]".
func (s slot) line(zone *time.Location) string {
	var names []string
	for _, speaker := range s.Speakers {
		names = append(names, speaker.Name)
	}
	line := s.StartsAt.In(zone).Format("15:04") + "–" + s.EndsAt.In(zone).Format("15:04") + " "
	if s.Room.Name != "" {
		line += s.Room.Name + ": "
	}
	line += s.Title
	if len(names) > 0 {
		line += " (" + strings.Join(names, ", ") + ")"
	}
	if s.Status != "" && s.Status != "accepted" {
		line += " – " + s.Status
	}
	return line + " [" + s.ID + "]\n"
}
