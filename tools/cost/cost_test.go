package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const shown = "../../docs/operations.md"

var project = sources{"../../docs/performance.md", "../../infra/testdata/watched.golden.txt"}

// costs is the model of the project's files.
func costs(t *testing.T) model {
	t.Helper()
	c, err := project.model()
	require.NoError(t, err)
	return c
}

func TestTheGoalsAreMet(t *testing.T) {
	require.NoError(t, costs(t).judge())
}

func TestAGoalThatIsMissedIsNamed(t *testing.T) {
	c := costs(t)
	c.shape.alarms = 65
	c.shape.dashboards = 1
	err := c.judge()
	const first = "cost: a month without requests, before a webhook is tried again, redelivered or replayed for the first time costs "
	require.EqualError(t, err, first+"11.21 in us, and the goal is 5.00\n"+first+"11.31 in eu, and the goal is 5.00\n"+
		"cost: a month without requests costs 11.44 in us, and the goal is 5.00\n"+
		"cost: a month without requests costs 11.59 in eu, and the goal is 5.00")
	path := filepath.Join(t.TempDir(), "watched.txt")
	lines := strings.Repeat("defaults\talarm\tname\t{}\n", 45)
	require.NoError(t, os.WriteFile(path, []byte(lines), 0o600))
	into := filepath.Join(t.TempDir(), "operations.md")
	require.NoError(t, os.WriteFile(into, []byte(begin+end), 0o600))
	require.ErrorContains(t, run(sources{project.measured, path}, into), "a month without requests costs")
	text, err := os.ReadFile(into)
	require.NoError(t, err)
	require.Contains(t, string(text), "45 alarms", "the document shows what is too dear")
}

func TestTheShapeIsCountedByOptions(t *testing.T) {
	s, err := readShape("defaults\talarm\ta\t{}\ndefaults\talarm\tb\t{\"MetricStat\":{}, \"MetricStat\":{}}\ndefaults\tfilter\ta\t{}\ndefaults\tlog\ta\t{}\n" +
		"everything\talarm\tb\t{}\neverything\talarm\ta-certificate-ends\t{}\neverything\tshown\ta\t{}\n")
	require.NoError(t, err)
	require.Equal(t, shape{alarms: 3, named: 2, logs: 1, filters: 1, each: 1}, s)
	s, err = readShape("defaults\talarm\ta\t{}\ndefaults\tshown\ta\t{}\ndefaults\tshown\tb\t{}\n")
	require.NoError(t, err)
	require.InDelta(t, 1, s.dashboards, 0)
	_, err = readShape("")
	require.EqualError(t, err, "cost: no alarm among the watched things")
	_, err = readShape("alarm\ta")
	require.EqualError(t, err, "cost: not a line of a watched thing: alarm\ta")
}

func TestOperationsShowsWhatTheFiguresCost(t *testing.T) {
	tables, err := costs(t).render()
	require.NoError(t, err)
	text, err := os.ReadFile(shown)
	require.NoError(t, err)
	_, kept, _, err := between(string(text))
	require.NoError(t, err)
	require.Equal(t, tables, kept, "docs/operations.md is behind: run make cost")
}

func TestRequestsOfTheMixAreAHundredPercent(t *testing.T) {
	whole := 0.0
	for _, k := range kinds {
		whole += k.share
	}
	require.InDelta(t, 100, whole, 1e-9)
}

const sample = `# Performance

| not | a | table | of | figures | at all | here |

## 1,000 sessions, 1,000 contacts

| operation | trips | calls | RCU | WCU | 1 client: p50, p99 ms | a second |
|---|---|---|---|---|---|---|
| GET a session | 3 | 4 | 9.0 | 1 | 3.1, 9.4 | 296 |

## Long runs

| battery | size | outcome | a | b | c | d |
`

func TestFiguresAreReadByHeadingAndOperation(t *testing.T) {
	all, err := figures(sample)
	require.NoError(t, err)
	require.Equal(t, map[string]map[string]figure{
		"1,000 sessions, 1,000 contacts": {"GET a session": {trips: 3, read: 9, written: 1, ms: 3.1}},
	}, all)
	_, err = figures("## 1 sessions, 1 contacts\n| GET | many | 4 | 9.0 | 1 | 3.1, 9.4 |\n")
	require.ErrorContains(t, err, "1 sessions, 1 contacts: GET: ")
}

func TestARowThatIsMissingIsNamed(t *testing.T) {
	_, err := model{}.render()
	require.EqualError(t, err, `cost: no row "GET a session with its people" below "1,000 sessions, 1,000 contacts"`)
}

func TestAMillionRequestsAreCountedByHand(t *testing.T) {
	f := figure{trips: 4, read: 9, written: 15, ms: 10.24}
	p := prices{readUnits: 0.1, writeUnits: 1, gbSecond: 0.00001, invocations: 0.2, requests: 3, logged: 0.5, loggedCheap: 0.25, out: 0.1}
	require.InDelta(t, 56, billed(f), 0) // 10.24 * 1769 / 512 + 4 * 5 is 55.38.
	got := cost(kind{answer: 2*giga/million - headers, packed: giga/million - headers, line: 1}, f, p, together{})
	require.InDelta(t, 15.9, got.table, 1e-9)
	require.InDelta(t, 0.2+0.28, got.compute, 1e-9) // 56,000 s with half a GB.
	require.InDelta(t, 3, got.gateway, 0)
	require.InDelta(t, (0.5*(1+entry)+0.25*(accessLine+entry))*million/giga, got.logs, 1e-9)
	require.InDelta(t, 0.1, got.out, 1e-9)
	require.InDelta(t, 0.2, got.plain, 1e-9)
	require.InDelta(t, got.table+got.compute+got.gateway+got.logs+got.out, got.total(), 1e-9)
}

func TestDeliveriesAreCountedByHand(t *testing.T) {
	p := prices{writeUnits: 1, gbSecond: 0.00001, invocations: 0.2, logged: 0.5}
	// 10,000 deliveries: 12 units each, 500 s with a quarter of a GB, and a line each.
	want := 0.12 + 0.002 + 0.00125 + 10_000*0.5*(ingestLine+entry)/giga
	require.InDelta(t, want, delivery{requests: 100, units: 12}.cost(p), 1e-9)
	one := cost(kind{}, figure{}, p, together{lines: delivery{requests: 100, units: 12}})
	require.InDelta(t, want, one.logs-cost(kind{}, figure{}, p, together{}).logs, 1e-9)
}

func TestPublishedChangesAreCountedByHand(t *testing.T) {
	p := prices{readUnits: 1, writeUnits: 10, storage: 1, gbSecond: 0.00001, invocations: 0.2, logged: giga / 1e6, out: giga / 1e6, events: 100,
		queueRequests: 1, fairRequests: 2}
	f := flow{changes: 2, messages: 5, tasks: 10}
	line := float64(workerLine + entry)
	// An invocation of two changes takes 40 ms with 256 MB, one of five messages 80 ms with 512 MB.
	none := published{bus: 100, queues: 1 + 2.0/5, compute: (0.2+0.1)/2 + (0.2+0.4)/5, table: 1.0 / 5, logs: line/2 + line/5}
	got := f.toMatcher(p)
	require.InDeltaMapValues(t, none.parts(), got.parts(), 1e-9)
	// An invocation of five messages of slides takes 15 ms with a GB.
	slides := published{queues: 1 + 2.0/5, compute: (0.2 + 0.15) / 5, table: 1}
	require.InDeltaMapValues(t, slides.parts(), f.toSlides(p).parts(), 1e-9)
	in := together{lines: alone, changes: f}
	more := cost(kind{published: 2, unrouted: 3}, figure{}, p, in).changes - cost(kind{published: 2}, figure{}, p, in).changes
	require.InDelta(t, 3*100, more, 1e-9, "an event without a rule costs the bus alone")
	all := f.delivered(p)
	require.InDeltaMapValues(t, map[string]float64{
		"bus": 100, "queues": 1.4 + 3*1.2, "compute": none.compute + (0.2+0.75)/10, "table": 0.2 + 18 + 2*5*10, "logs": none.logs + line/10,
		"out": 11_200, "kept": 4 * million / kiloGB,
	}, all.parts(), 1e-9)
	require.InDelta(t, 100+5+none.compute+0.095+118.2+none.logs+line/10+11_200+4*million/kiloGB, all.total(), 1e-6)
}

// parts gives the items of the bill by name.
func (c published) parts() map[string]float64 {
	return map[string]float64{"bus": c.bus, "queues": c.queues, "compute": c.compute, "table": c.table, "logs": c.logs, "out": c.out, "kept": c.kept}
}

// TestWaitingIsCountedByHand: three queues are polled by five requests at once for 20 s, and a minute
// of the sweeper takes 0.1 s with a quarter of a GB.
func TestWaitingIsCountedByHand(t *testing.T) {
	w := waits(prices{queueRequests: 1, schedules: 10, invocations: 1, gbSecond: 0.00001, readUnits: 1, writeUnits: 1})
	require.InDelta(t, 3*5*730*180/1e6, w.polls, 1e-9)
	require.InDelta(t, 730*60/1e6*(10+1+0.25+33+2), w.sweeps, 1e-9)
	require.InDelta(t, 730*60/1e6*(10+1+0.25+1), w.quiet, 1e-9)
}

// TestUploadsAreCountedByHand: a GB in two parts is begun, sent, listed and joined, looked at, and
// fetched once.
func TestUploadsAreCountedByHand(t *testing.T) {
	got := sentObject{mb: 1024, puts: 5, gets: 2}.cost(prices{puts: 1e6, gets: 1e5, bytesKept: 2, out: 3})
	require.InDelta(t, 5+0.1, got.sent, 1e-9)
	require.InDelta(t, 2, got.kept, 1e-9)
	require.InDelta(t, 0.1+3, got.fetched, 1e-9)
}

// TestTheLogIsCountedWithARead: the goal of a single read leaves the log out, and the next row has it.
func TestTheLogIsCountedWithARead(t *testing.T) {
	c := costs(t)
	for _, p := range regions {
		without, err := goals[3].cost(c, p)
		require.NoError(t, err)
		with, err := goals[4].cost(c, p)
		require.NoError(t, err)
		require.InDelta(t, busy.cost(p), with-without, 1e-9, p.name)
	}
}

// TestTheUploadServiceIsCountedByHand: an hour has a load balancer, a quarter of a processor, half a GB and an
// address.
func TestTheUploadServiceIsCountedByHand(t *testing.T) {
	p := prices{balancer: 1, processor: 8, taskMemory: 4, address: 0.5, alarm: 10, secret: 7}
	require.InDelta(t, 730*(1+2+2+0.5)+30+7, uploadService(p), 1e-9)
	require.InDelta(t, 28, uploadService(regions[0]), 0.5)
	c := costs(t)
	for _, g := range goals {
		if g.name == "the same with `uploadService`" {
			with, err := g.cost(c, regions[1])
			require.NoError(t, err)
			without, err := idle(c, regions[1])
			require.NoError(t, err)
			require.InDelta(t, uploadService(regions[1]), with-without, 1e-9)
			require.Zero(t, g.most, "an option is not judged")
			return
		}
	}
	require.Fail(t, "no row of the upload service")
}

// TestWhatIsLeftOfTheGoalIsShown with the price of a queue, so that a new worker is no surprise.
func TestWhatIsLeftOfTheGoalIsShown(t *testing.T) {
	c := costs(t)
	require.Equal(t, "0.39 in us and 0.29 in eu", c.left())
	require.Contains(t, c.withoutRequests(), "One more polled queue costs 0.26, and 0.20 more for its two metrics in alarms; below the first goal, 0.39 in us and 0.29 in eu are left.")
	c.shape.alarms += 3
	require.Equal(t, "0.09 in us and -0.01 in eu", c.left())
}

// TestHoldingSlidesAreCountedByHand: a queue is polled by five requests at once for 20 s, and three metrics are
// watched. Goals and months are without the option.
func TestHoldingSlidesAreCountedByHand(t *testing.T) {
	require.InDelta(t, 5*730*180/1e6+3*0.1, slidesIdle(prices{queueRequests: 1, alarm: 0.1}), 1e-9)
	require.Contains(t, costs(t).withoutRequests(), "More a month: `holdingSlides` 0.56, for a queue and 3 metrics in alarms,")
}

func TestLimitsAreCountedByHand(t *testing.T) {
	mean := figure{read: 4, written: 2, ms: 50}
	met := map[string]float64{}
	for _, q := range quotas {
		met[q.name] = q.first / q.each(mean)
	}
	require.Equal(t, map[string]float64{
		"a new on-demand table, read units a second; it doubles by itself with use":               3_000,
		"a new on-demand table, write units a second; it doubles by itself with use":              2_000,
		"the stage's `throttleRate`, requests a second of one method, as the mix's most frequent": 1_250, // 40 %
		"on-demand read units a second of a table":                                                10_000,
		"on-demand write units a second of a table":                                               20_000,
		"API Gateway, requests a second of an account":                                            10_000,
		"Lambda, concurrent executions of an account, at most ten requests a second for each":     10_000,
	}, met)
}

func TestAMonthWithoutRequestsCostsWhatIsFixed(t *testing.T) {
	c := costs(t)
	for _, p := range regions {
		idle, err := c.monthly(load{in: few}, p)
		require.NoError(t, err)
		require.InDelta(t, c.shape.alarms*p.alarm+c.shape.dashboards*p.dashboard+p.secret+keptGB*(p.storage+p.backup)+waits(p).total(),
			idle.total(), 1e-9)
		busy, err := c.monthly(load{perHour: 1000, in: few}, p)
		require.NoError(t, err)
		require.Greater(t, busy.total(), idle.total())
	}
}

func TestTheTablesAreReplacedAndNothingElse(t *testing.T) {
	path := filepath.Join(t.TempDir(), "operations.md")
	require.NoError(t, os.WriteFile(path, []byte("before\n"+begin+"old\n"+end+"after\n"), 0o600))
	require.NoError(t, run(project, path))
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	tables, err := costs(t).render()
	require.NoError(t, err)
	require.Equal(t, "before\n"+begin+tables+end+"after\n", string(text))

	require.NoError(t, os.WriteFile(path, []byte("no place\n"), 0o600))
	require.ErrorContains(t, run(project, path), "has no place for the tables")
}

func TestFirstSearchesCostMore(t *testing.T) {
	c := costs(t)
	warm, err := c.monthly(load{perHour: 10, in: few}, regions[0])
	require.NoError(t, err)
	cold, err := c.monthly(load{perHour: 10, cold: 1, in: few}, regions[0])
	require.NoError(t, err)
	searches := 7300 * (0.25*295 + 0.1499*217)
	require.InDelta(t, searches/million*regions[0].readUnits, cold.table-warm.table, 1e-9)
}
