package batteries_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestTheStoryOfAnOrganizer is the year of somebody who runs two conferences, told
// sentence by sentence. After each of them every read of people, sessions, sponsors
// and exhibitors, on both events and in the organization, must say what is so.
func TestTheStoryOfAnOrganizer(t *testing.T) {
	o := newOrganizer(t, "spring", "autumn")
	spring, autumn := o.venues[0], o.venues[1]

	o.tells("I invite four people to the spring event, and two to the autumn one, of whom I know Ann already.", func() {
		spring.invite("Ann", "Ben", "Cem", "Dee")
		autumn.invite("Eve", "Ann")
	})
	o.tells("I put them on sessions, in different roles.", func() {
		spring.programme("Opening", "", "Ben speaker", "Ann chairperson")
		spring.programme("Pages that load", "Web", "Dee moderator", "Ann speaker", "Ben speaker")
		spring.programme("Who owns this column?", "Data", "Cem panelist", "Ann moderator", "Dee panelist")
		spring.part("Pages that load", "A demonstration", "Cem speaker")
		autumn.programme("What changed since spring", "Web", "Ann speaker", "Eve chairperson")
	})
	o.tells("Dee speaks in Ann's place, and Ann moderates in hers; nobody demonstrates.", func() {
		spring.recastTo("Pages that load", "Ann moderator", "Ben speaker", "Dee speaker")
		spring.recastTo("A demonstration")
	})
	o.tells("Ann changes her employer and so her address; both events know at once.", func() {
		spring.moves("Ann", "ann@new.example")
	})
	o.tells("Her old address is free, and Fay takes it.", func() {
		o.people["Fay"] = &acquaintance{email: o.people["Ann"].former[0]}
		o.people["Ann"].former = nil
		autumn.invite("Fay")
		autumn.recastTo("What changed since spring", "Fay moderator", "Ann speaker", "Eve chairperson")
	})
	o.tells("Ben falls ill, and leaves the spring event.", func() { spring.leaves("Ben") })
	o.tells("His sessions change meanwhile, and keep his place.", func() {
		spring.Put(200, spring.billed("Opening").id, object{"capacity": 300})
	})
	o.tells("Inviting him again is refused, for he is to be restored.", func() {
		refused := spring.Do(409, http.MethodPost, "/contacts/create", object{"email": "BEN@story.example"})
		require.Equal(t, o.people["Ben"].id, refused.At("details.id"))
		require.Equal(t, true, refused.At("details.deleted"))
	})
	o.tells("He is well again, and is restored.", func() { spring.returns("Ben") })
	o.tells("Ann leaves the autumn event, and stays at the spring one.", func() { autumn.leaves("Ann") })

	o.tells("A company sponsors the spring event, another one exhibits there.", func() {
		spring.signs("sponsors", "Ropeworks", "Dee", "Ann")
		spring.signs("exhibitors", "Sailmakers", "Cem")
		spring.thanks("Opening", "Ropeworks")
	})
	o.tells("The sponsor takes a stand, too: the same account in its second role.", func() {
		spring.signs("exhibitors", "Ropeworks")
	})
	o.tells("A sponsor of the spring event is none of the autumn one until it signs there.", func() {
		autumn.signs("sponsors", "Ropeworks")
	})
	o.tells("It gives up sponsoring in spring, and keeps its stand.", func() { spring.resigns("sponsors", "Ropeworks") })
	o.tells("Its first contact leaves.", func() { spring.leaves("Dee") })
	o.tells("It sponsors again after all, and its contact is back.", func() {
		spring.renews("sponsors", "Ropeworks")
		spring.returns("Dee")
	})
	o.tells("It gives up its stand, and stays sponsor.", func() { spring.resigns("exhibitors", "Ropeworks") })
}
