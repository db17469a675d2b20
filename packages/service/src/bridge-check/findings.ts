import { RULES, type Rule, type RuleName } from './rules.js';

/** `broken`: a breach was seen. `untried`: the rule could not be tested, or no answer showed whether it holds. */
export type VerdictKind = 'holds' | 'broken' | 'untried';

export interface Verdict extends Pick<Rule, 'heading' | 'says'> {
  readonly rule: RuleName;
  readonly verdict: VerdictKind;
  /** The breach, or the reason why the rule could not be tested. */
  readonly why?: string;
  readonly advice?: string;
}

/** Thrown if a rule cannot be tested. The message gives the reason. */
export class NotTried extends Error {}
/** Thrown if no further rule can be tested, for example because the bridge no longer answers. */
export class BridgeGone extends Error {}

/**
 * The observations of each rule. A single breach breaks the rule. A rule without a breach holds if at least one
 * observation complies with it, and none of its trials was abandoned.
 */
export class Findings {
  readonly #kept = new Set<RuleName>();
  readonly #breaches = new Map<RuleName, string[]>();
  readonly #untried = new Map<RuleName, string>();

  judge(rule: RuleName, isKept: boolean, seen: string): boolean {
    if (isKept) this.#kept.add(rule);
    else this.#breaches.set(rule, [...(this.#breaches.get(rule) ?? []), seen]);
    return isKept;
  }

  /** Records why a rule could not be tested. Keeps the first reason, which is reported only if no breach is seen. */
  leave(rule: RuleName, why: string): void {
    if (!this.#untried.has(rule)) this.#untried.set(rule, why);
  }

  isBroken(rule: RuleName): boolean {
    return this.#breaches.has(rule);
  }

  verdicts(): Verdict[] {
    return RULES.map((rule) => this.#verdictOf(rule));
  }

  #verdictOf({ name, heading, says, advice }: Rule): Verdict {
    const about = { rule: name, heading, says };
    const [first, ...more] = this.#breaches.get(name) ?? [];
    if (first !== undefined) {
      const others = more.length === 0 ? '' : ` (and ${more.length} more)`;
      return { ...about, verdict: 'broken', why: `${first}${others}`, advice };
    }
    const why = this.#untried.get(name) ?? 'nothing was seen of it';
    // A rule whose trial was abandoned halfway does not count as kept.
    if (this.#kept.has(name) && !this.#untried.has(name)) return { ...about, verdict: 'holds' };
    return { ...about, verdict: 'untried', why };
  }
}
