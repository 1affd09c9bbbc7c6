package board_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
	"lectern/shared/agenda/board"
	"lectern/shared/agenda/conflict"
	"lectern/tools/judge/instance"
)

// TestTheScoreByDifferenceIsTheFullScore after each of many random moves, also of moves into conflicts.
func TestTheScoreByDifferenceIsTheFullScore(t *testing.T) {
	seed := it.Seed(t)
	for i := range it.Size(200, 2_000) {
		draw := it.Source(seed, i)
		p := instance.Wild(draw)
		b := board.New(p)
		require.Equal(t, instance.Score(p, nil), b.Score, "problem %d", i)
		for range 50 {
			s := it.OneOf(draw, b.Sessions)
			if places := b.Places(s); s.Fixed || len(places) == 0 || draw.IntN(4) == 0 {
				if !s.Fixed {
					b.Move(s, board.Nowhere)
				}
			} else {
				b.Move(s, it.OneOf(draw, places))
			}
			require.Equal(t, instance.Score(p, placed(b)), b.Score, "problem %d", i)
		}
	}
}

// placed returns the sessions to place that have a place.
func placed(b *board.Board) (all []*conflict.Session) {
	for _, s := range b.Sessions {
		if !s.Fixed && s.At != board.Nowhere {
			placed := *s.Session
			placed.Starts, placed.Ends = time.UnixMilli(s.At.Start).UTC(), time.UnixMilli(s.EndAt(s.At)).UTC()
			placed.Room = s.At.Room.ID
			all = append(all, &placed)
		}
	}
	return all
}
