/** The fault rules set by control calls. If several rules match a request, the latest one decides. */
export interface FaultBook<Rule, Occasion> {
  set(rule: Rule): void;
  clear(): void;
  /** Returns the rule for this request, or undefined. Counts the request, so call it exactly once per request. */
  take(occasion: Occasion): Rule | undefined;
}

/**
 * Creates the rules. A rule applies to `times` requests. If `times` is undefined, the rule applies to all requests
 * until the rules are cleared.
 */
export function createFaultBook<Rule extends { readonly times?: number }, Occasion>(
  applies: (rule: Rule, occasion: Occasion) => boolean,
): FaultBook<Rule, Occasion> {
  let rules: { readonly rule: Rule; left: number }[] = [];
  return {
    set(rule) {
      rules.unshift({ rule, left: rule.times ?? Number.POSITIVE_INFINITY });
    },
    clear() {
      rules = [];
    },
    take(occasion) {
      const found = rules.find(({ rule }) => applies(rule, occasion));
      if (found === undefined) return undefined;
      found.left -= 1;
      if (found.left <= 0) rules = rules.filter((one) => one !== found);
      return found.rule;
    },
  };
}
