package award

import (
	"strings"
	"time"

	"lectern/shared/apierr"
	"lectern/shared/resource"
	"lectern/shared/wire"
)

// PromoCode is a code that lowers the fee of a submission.
type PromoCode struct {
	resource.Header
	ProgramID    string     `json:"program_id" format:"uuid" doc:"The program's id."`
	Code         string     `json:"code" doc:"The code, whatever its case."`
	DiscountType string     `json:"discount_type" enum:"percentage,flat" doc:"What amount means."`
	Amount       int        `json:"amount" doc:"Percent, or cents of the program's currency."`
	MaxUses      *int       `json:"max_uses" doc:"How many submissions may use the code; null for any number."`
	UsedCount    int        `json:"used_count" doc:"How many submissions use the code that are submitted or wait for the fee, and are neither withdrawn nor deleted."`
	StartsAt     *wire.Time `json:"starts_at" doc:"From when on the code can be used."`
	ExpiresAt    *wire.Time `json:"expires_at" doc:"Until when the code can be used."`
	IsActive     bool       `json:"is_active" doc:"Whether the code can be used at all."`
}

// PromoCodeDraft has the properties of a promo code that a client may write.
type PromoCodeDraft struct {
	Code         wire.Opt[string]    `json:"code,omitzero" create:"required" maxLength:"64" pattern:"^\\S(.*\\S)?$" patternDescription:"a text without blanks at its ends" nullable:"false" doc:"The code, unique in the program whatever its case."`
	DiscountType wire.Opt[string]    `json:"discount_type,omitzero" create:"required" enum:"percentage,flat" nullable:"false" doc:"What amount means."`
	Amount       wire.Opt[int]       `json:"amount,omitzero" create:"required" minimum:"1" maximum:"100000000" nullable:"false" doc:"Percent up to 100, or cents."`
	MaxUses      wire.Opt[int]       `json:"max_uses,omitzero" minimum:"1" maximum:"1000000" doc:"How many submissions may use the code."`
	StartsAt     wire.Opt[wire.Time] `json:"starts_at,omitzero" doc:"From when on the code can be used."`
	ExpiresAt    wire.Opt[wire.Time] `json:"expires_at,omitzero" doc:"Until when, after starts_at."`
	IsActive     wire.Opt[bool]      `json:"is_active,omitzero" nullable:"false" doc:"Whether the code can be used at all; true by default."`
}

const percentage = "percentage"

// uses is the name of the number that submissions add to a promo code.
const uses = "uses"

// PromoCodes is the kind of the promo codes.
var PromoCodes = &resource.Kind[PromoCode, *PromoCode, PromoCodeDraft]{
	Name: promoCodeKind, Title: "Promo code", Many: "promo codes", Max: 500, Parent: inProgram,
	Unique: func(p *PromoCode) string { return strings.ToLower(p.Code) }, UniqueField: "code",
	Sums: []string{submissionKind}, MayDelete: keepUsed,
	Counts: func(p *PromoCode, n map[string]int) { p.UsedCount = n[uses] },
}

// Apply writes the draft into the promo code.
func (d PromoCodeDraft) Apply(e resource.Edit[*PromoCode]) error {
	p := e.Record
	if e.New {
		p.ProgramID, p.IsActive = e.Parent, true
	}
	d.Code.Into(&p.Code)
	d.DiscountType.Into(&p.DiscountType)
	d.Amount.Into(&p.Amount)
	d.MaxUses.IntoPointer(&p.MaxUses)
	d.StartsAt.IntoPointer(&p.StartsAt)
	d.ExpiresAt.IntoPointer(&p.ExpiresAt)
	d.IsActive.Into(&p.IsActive)
	if p.DiscountType == percentage && p.Amount > 100 {
		return apierr.Invalid("amount", "amount of a percentage must not be over 100.")
	}
	return checkPeriod("starts_at", "expires_at", p.StartsAt, p.ExpiresAt, d.ExpiresAt.Sent)
}

// keepUsed refuses to delete a promo code that submissions use without force.
func keepUsed(d resource.Deletion[*PromoCode]) error {
	return confirm("used", d.Children[uses], "The promo code is used by %d submissions.")
}

// checkTime refuses the code at a time at which it cannot be used.
func (p *PromoCode) checkTime(now time.Time) error {
	if !p.IsActive || p.StartsAt != nil && now.Before(p.StartsAt.Time) || p.ExpiresAt != nil && !now.Before(p.ExpiresAt.Time) {
		return apierr.Invalid("promo_code", "The promo code cannot be used at this time.")
	}
	return nil
}

// checkUses refuses the code after as many uses as it may have.
func (p *PromoCode) checkUses(used int) error {
	if p.MaxUses != nil && used >= *p.MaxUses {
		return apierr.Conflict("PROMO_CODE_USED_UP", "The promo code was used as often as it can be.").Field("promo_code")
	}
	return nil
}

// discounted returns the rest of a fee.
func (p *PromoCode) discounted(fee int) int {
	if p.DiscountType == percentage {
		return fee - (fee*p.Amount+50)/100
	}
	return max(0, fee-p.Amount)
}
