import { RULES, type Rule, type RuleName } from './rules.js';

/** `broken`: something else was seen. `untried`: it could not be tried, or its answers said nothing. */
export type VerdictKind = 'holds' | 'broken' | 'untried';

export interface Verdict extends Pick<Rule, 'heading' | 'says'> {
  readonly rule: RuleName;
  readonly verdict: VerdictKind;
  /** What was seen instead, or why it could not be tried. */
  readonly why?: string;
  readonly advice?: string;
}

/** A rule cannot be tried; the message says why. */
export class NotTried extends Error {}
/** The bridge has gone: nothing else can be tried. */
export class BridgeGone extends Error {}

/** What was seen of each rule. One breach is enough; without any, one time that it was kept. */
export class Findings {
  readonly #kept = new Set<RuleName>();
  readonly #breaches = new Map<RuleName, string[]>();
  readonly #untried = new Map<RuleName, string>();

  judge(rule: RuleName, isKept: boolean, seen: string): boolean {
    if (isKept) this.#kept.add(rule);
    else this.#breaches.set(rule, [...(this.#breaches.get(rule) ?? []), seen]);
    return isKept;
  }

  /** Why it could not be tried, unless something was seen of it. The first reason counts. */
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
    // A rule that was left in the midst of its trial was kept only so far.
    if (this.#kept.has(name) && !this.#untried.has(name)) return { ...about, verdict: 'holds' };
    return { ...about, verdict: 'untried', why };
  }
}
