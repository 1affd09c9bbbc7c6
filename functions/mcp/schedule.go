package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// schedule is the resource with the schedule of an event.
type schedule struct{ sessions, events operation }

// eventOf matches the address of a schedule.
var eventOf = regexp.MustCompile(`^lectern://events/([0-9]+)/schedule$`)

// mostPages is how many pages of the largest size a schedule reads.
const mostPages = 20

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
	refusal := s.sessions.safely(ctx, func() error {
		event, err := s.event(ctx, named[1])
		if err != nil {
			return err
		}
		slots, err := pages[slot](ctx, s.sessions, "/v1/event/"+named[1]+"/sessions?is_abstract=false&page_size=100&page=")
		written = event.write(slots)
		return err
	})
	switch {
	case refusal == nil:
		return text(r, "text/plain", written), nil
	case refusal.Status == http.StatusNotFound:
		return nil, sdk.ResourceNotFoundError(r.Params.URI)
	}
	return nil, refusal
}

// event returns the event with an id; without a name for a caller who may not read events.
func (s schedule) event(ctx context.Context, id string) (program, error) {
	events, err := pages[program](ctx, s.events, "/v1/events?pageSize=100&page=")
	for _, event := range events {
		if strconv.FormatInt(event.ID, 10) == id {
			return event, nil
		}
	}
	return program{Name: "Event " + id}, err
}

// pages returns the results of all pages of a list, with addresses that end with the number of the page.
func pages[T any](ctx context.Context, o operation, address string) (all []T, err error) {
	for number := 1; number <= mostPages; number++ {
		body, err := o.send(ctx, address+strconv.Itoa(number), nil)
		if err != nil {
			return nil, err
		}
		var page struct {
			Results    []T
			Pagination struct{ TotalPages int }
		}
		if err := json.Unmarshal(body, &page); err != nil {
			return nil, fmt.Errorf("mcp: %w", err)
		}
		all = append(all, page.Results...)
		if number >= page.Pagination.TotalPages {
			break
		}
	}
	return all, nil
}

// write returns the schedule of the event: a line for each session with a time, by day.
func (p program) write(slots []slot) string {
	zone, err := time.LoadLocation(p.TimeZone)
	if err != nil {
		zone = time.UTC
	}
	untimed := len(slots)
	slots = slices.DeleteFunc(slots, func(s slot) bool { return s.StartsAt == nil || s.EndsAt == nil })
	untimed -= len(slots)
	slices.SortFunc(slots, func(a, b slot) int {
		return cmp.Or(a.StartsAt.Compare(*b.StartsAt), cmp.Compare(a.Room.Name, b.Room.Name), cmp.Compare(a.ID, b.ID))
	})
	var out strings.Builder
	fmt.Fprintf(&out, "%s, times in %s\n", p.Name, zone)
	day := ""
	for _, s := range slots {
		if of := s.StartsAt.In(zone).Format("Monday, 2 January 2006"); of != day {
			fmt.Fprintf(&out, "\n%s\n", of)
			day = of
		}
		out.WriteString(s.line(zone))
	}
	if untimed > 0 {
		fmt.Fprintf(&out, "\n%d sessions have no time.\n", untimed)
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
	if s.Status != "accepted" {
		line += " – " + s.Status
	}
	return line + " [" + s.ID + "]\n"
}
