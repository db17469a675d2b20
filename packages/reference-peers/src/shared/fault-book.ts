/** What a rule of any peer has. */
interface FaultRule {
  /** How many requests it is for. Undefined: all, until the rules are cleared. */
  readonly times?: number;
}

/** The rules that control calls have set. The latest one that applies to a request decides. */
export interface FaultBook<Rule extends FaultRule, Occasion> {
  set(rule: Rule): void;
  clear(): void;
  /** The rule for this request, undefined when none applies. Counts the request, so it is asked exactly once for each. */
  take(occasion: Occasion): Rule | undefined;
}

export function createFaultBook<Rule extends FaultRule, Occasion>(
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

type RuleFields<Operation, Name extends string> = { operation?: Operation; times?: number } & {
  [Text in Name]?: string;
};

/** The optional fields of a rule as a control call gives them, or a text that says what is wrong with one of them. */
export function readRuleFields<Operation extends string, Name extends string>(
  given: Readonly<Record<string, unknown>>,
  operations: readonly Operation[],
  names: readonly Name[],
): RuleFields<Operation, Name> | string {
  const operation = operations.find((one) => one === given['operation']);
  if (given['operation'] !== undefined && operation === undefined) {
    return `operation must be one of ${operations.join(', ')}`;
  }
  const texts: Partial<Record<Name, string>> = {};
  for (const name of names) {
    const text = given[name];
    if (text !== undefined && typeof text !== 'string') return `${name} must be a string`;
    if (text !== undefined) texts[name] = text;
  }
  const { times } = given;
  if (times !== undefined && !(Number.isSafeInteger(times) && Number(times) > 0)) return 'times must be 1 or more';
  return {
    ...texts,
    ...(operation === undefined ? {} : { operation }),
    ...(times === undefined ? {} : { times: Number(times) }),
  } as RuleFields<Operation, Name>;
}
