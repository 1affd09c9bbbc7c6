// Package awards is the Awards tag group: the award programs of an organization, with categories, rounds, promo
// codes, submissions and reviews.
package awards

import (
	"slices"

	"lectern/shared/api"
	"lectern/shared/auth"
	"lectern/shared/award"
	"lectern/shared/ratelimit"
	"lectern/shared/resource"
)

// Paths of the collections.
const (
	programs   = "/v1/organization/{orgId}/awards/programs"
	program    = programs + "/{programId}"
	categories = program + "/categories"

	// programID is the name of a program's id in a path.
	programID = "programId"
)

// Group declares every route of the tag group.
var Group = api.NewGroup("Awards", start, slices.Concat(
	resource.Of(award.Programs, routes(resource.Routes{
		Path: programs, ID: programID, One: "AwardProgram", Many: "AwardPrograms",
		About: "A program takes submissions while it is `open` and the time is between `opens_at` and `closes_at`. It begins with the round " +
			"\"Submissions and Review\". More programs than the plan of the organization has are a 403 `PLAN_LIMIT_REACHED`. " +
			"To delete a program with submissions is a 409 `CONFIRMATION_REQUIRED` without `force=true`.",
		OwnLimit: true,
		Example:  `{"name": "Product of the year", "status": "open", "payment": {"collect": "on_submission", "base_fee_cents": 9500}}`,
	}), (*service).store),
	resource.Of(award.Categories, routes(resource.Routes{
		Path: categories, ID: "categoryId", Parent: programID, One: "AwardCategory", Many: "AwardCategories",
		About:   aboutCategories + "A list has the categories at the top, each with its `subcategories`.",
		Example: `{"name": "Software", "description": "What runs on a computer."}`,
	}), (*service).store),
	resource.Of(award.Categories, routes(resource.Routes{
		Path: categories + "/{categoryId}/subcategories", ID: "subcategoryId", Parent: programID, Within: "categoryId",
		One: "AwardSubcategory", Many: "AwardSubcategories",
		About:   aboutCategories + "A list has the categories directly below the one of the path.",
		Example: `{"name": "Games"}`,
	}), (*service).store),
	resource.Of(award.Rounds, routes(resource.Routes{
		Path: program + "/rounds", ID: "roundId", Parent: programID, One: "AwardRound", Many: "AwardRounds",
		About: "A round is a stage of a program with a scorecard. `type` cannot change. The round that was made with the program cannot be " +
			"deleted: 422 `DEFAULT_ROUND`. To delete a round with assignments of reviewers is a 409 `CONFIRMATION_REQUIRED` without `force=true`. " +
			"The total of a review is the sum of the points of each answer times the weight of the question, to two decimals.",
		Keeps:   "The round that was made with the program is a 422 `DEFAULT_ROUND`, also with `force=true`.",
		Example: `{"name": "Finals", "type": "review_only", "scorecard": [{"question": "How new is it?", "type": "scale_5", "weight": 2}]}`,
	}), (*service).store),
	resource.Of(award.PromoCodes, routes(resource.Routes{
		Path: program + "/promo-codes", ID: "promoCodeId", Parent: programID, One: "AwardPromoCode", Many: "AwardPromoCodes",
		About: "A promo code lowers the fee of a submission. The same code twice in a program, whatever its case, is a 409 `DUPLICATE_CODE`. " +
			"To delete a used code is a 409 `CONFIRMATION_REQUIRED` without `force=true`.",
		Example: `{"code": "EARLY", "discount_type": "percentage", "amount": 20, "max_uses": 100}`,
	}), (*service).store),
	submissionRoutes, reviewRoutes,
))

const aboutCategories = "Categories form a tree of up to three levels. To delete a category with submissions is a 409 " +
	"`CONFIRMATION_REQUIRED` without `force=true`; a category with subcategories also needs `cascade=true`, which deletes them too. "

// readers and writers are the scopes of the group.
var (
	readers = auth.Scopes{auth.ReadAwards}
	writers = auth.Scopes{auth.WriteAwards}
)

// routes adds the scopes, rate limits and methods that all routes of the group have. A list has pages. POST creates, and
// PATCH updates, beside PUT.
func routes(r resource.Routes) resource.Routes {
	r.Read, r.Reads = readers, ratelimit.None
	r.Write, r.Writes = writers, ratelimit.AwardWrites
	r.Paged, r.Post, r.Patch = true, true, true
	return r
}

type service struct{ records resource.Store }

func start(env api.Env) *service { return &service{resource.NewStore(env)} }

func (s *service) store() resource.Store { return s.records }
