/** The rules that control calls have set. The latest one that applies to a request decides. */
export interface FaultBook<Rule, Occasion> {
  set(rule: Rule): void;
  clear(): void;
  /** The rule for this request, undefined when none applies. Counts the request, so it is asked exactly once for each. */
  take(occasion: Occasion): Rule | undefined;
}

/** `times` of a rule: how many requests it is for. Undefined: all, until the rules are cleared. */
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
