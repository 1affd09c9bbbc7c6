package events

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTheListsAreWellFormed(t *testing.T) {
	require.NoError(t, Check(Workers, Rules))
	for _, o := range []Options{{}, {Transcriber: true}, {Slides: true}, Every} {
		require.NoError(t, Check(With(o)))
	}
	require.True(t, NewChanges.complete())
}

func TestEveryMistakeInTheListsIsNamed(t *testing.T) {
	require.NoError(t, Check([]Worker{
		{"publisher", 256, 60, Stream, "", 0, 0, false}, {"matcher", 512, 30, Queue, "webhooks", 10, 2, false},
		{"sweeper", 256, 50, Schedule, "rate(1 minute)", 0, 0, false}, {"ingester", 128, 900, Log, "api", 0, 0, false},
	}, []Rule{{"webhooks", Pattern{"detail-type": []string{"session.updated"}}, "webhooks", false}}))

	fits := Pattern{"source": []string{"lectern"}}
	err := Check([]Worker{
		{"publisher", 256, 60, Stream, "us", 0, 0, false}, {"publisher", 64, 0, "table", "", 0, 0, false}, {"Big", 20_000, 901, Queue, "", 11, 1, false},
		{"sweeper", 256, 60, Schedule, "", 0, 0, false},
	}, []Rule{
		{"a-b", nil, "webhooks", false}, {"inner", Pattern{"detail": Pattern{}}, "", false}, {"none", Pattern{"source": []string{}}, "", false},
		{"text", Pattern{"source": "lectern"}, "", false}, {"twice", fits, "", false}, {"twice", fits, "", false},
	})
	require.Equal(t, []string{
		"worker publisher reads the stream of the table, which has no name",
		"worker publisher needs a name of its own",
		"worker publisher has a memory that Lambda does not offer",
		"worker publisher has a time that Lambda does not offer",
		"worker publisher has no known source",
		"worker Big needs a name of its own",
		"worker Big has a memory that Lambda does not offer",
		"worker Big has a time that Lambda does not offer",
		"worker Big needs the name of its queue",
		"worker Big takes a number of messages that SQS does not offer",
		"worker Big has fewer instances than SQS can be limited to",
		"worker sweeper needs its schedule",
		"rule a-b needs a name of its own",
		"rule a-b has a field without a value in its pattern",
		"rule a-b has a queue that no worker reads",
		"rule inner has a field without a value in its pattern",
		"rule inner has a queue that no worker reads",
		"rule none has a field without a value in its pattern",
		"rule none has a queue that no worker reads",
		"rule text has a field without a value in its pattern",
		"rule text has a queue that no worker reads",
		"rule twice has a queue that no worker reads",
		"rule twice needs a name of its own",
		"rule twice has a queue that no worker reads",
	}, strings.Split(strings.ReplaceAll(err.Error(), "events: ", ""), "\n"))
}

// TestOptionsHaveWorkersOfTheirOwn, and leave the lists of every region as they are.
func TestOptionsHaveWorkersOfTheirOwn(t *testing.T) {
	for o, added := range map[Options][]string{
		{}: nil, {Transcriber: true}: {Transcriber}, {Slides: true}: {Slides}, {Scanner: true}: nil, Every: {Transcriber, Slides},
	} {
		workers, rules := With(o)
		require.Equal(t, Workers, workers[:len(Workers)])
		require.Equal(t, Rules, rules[:len(Rules)])
		var names []string
		for _, w := range workers[len(Workers):] {
			names = append(names, w.Name)
		}
		require.Equal(t, added, names)
		require.True(t, Every.Has(o))
		require.Equal(t, o == Every, o.Has(Every))
		require.True(t, o.Has(Options{}))
	}
	require.False(t, Options{Slides: true}.Has(Options{Transcriber: true}))
	require.False(t, Options{Transcriber: true, Slides: true}.Has(Options{Scanner: true}))
}
