import type { Checked } from '../../../bridge-check/check-bridge.js';
import type { Verdict } from '../../../bridge-check/findings.js';
import { indent, paragraphs, type SafeText, safeLines, safeText } from '../../../operations/command/safe-text.js';
import { table } from '../../../operations/command/table.js';

/**
 * Returns false for a broken rule, an option without effect or an unrefunded debit; if strict, also for an untested
 * rule.
 */
export function isGood({ rules, left, useless }: Checked, isStrict: boolean): boolean {
  if (left.length > 0 || useless.length > 0) return false;
  return rules.every(({ verdict }) => verdict === 'holds' || (verdict === 'untried' && !isStrict));
}

export function checkedText({ rules, useless, ...money }: Checked): SafeText {
  const headings = [...new Set(rules.map(({ heading }) => heading))];
  const groups = headings.map((heading) => {
    const lines = rules.filter((one) => one.heading === heading).map(verdictText);
    return safeText`${heading}\n${indent(joinLines(lines))}`;
  });
  return paragraphs([...groups, leftText(money), ...uselessText(useless), safeText`${sumUp(rules)}`]);
}

function verdictText({ rule, says, verdict, why = '', advice = '' }: Verdict): SafeText {
  switch (verdict) {
    case 'holds':
      return safeText`ok    ${rule}: ${says}`;
    case 'untried':
      return safeText`-     ${rule}: ${says}\n      could not be tried: ${why}`;
    case 'broken':
      return safeText`FAIL  ${rule}: ${says}\n      seen: ${why}\n      ${advice}`;
  }
}

function joinLines(texts: readonly SafeText[]): SafeText {
  return texts.reduce((before, text) => safeText`${before}\n${text}`);
}

function leftText({ left, debited, prefix }: Pick<Checked, 'left' | 'debited' | 'prefix'>): SafeText {
  if (left.length === 0) {
    const became = debited === 0 ? 'Nothing was debited.' : 'All that was debited was given back.';
    return safeLines([`${became} The numbers begin with ${prefix}.`]);
  }
  const rows = left.map(({ attemptNo, institutionNo, why }) => [attemptNo, institutionNo, why]);
  return safeText`Not given back, look at the institution:\n${indent(table(['DEBIT', 'AGREEMENT', 'WHY'], rows))}`;
}

function uselessText(useless: Checked['useless']): SafeText[] {
  if (useless.length === 0) return [];
  return [joinLines(useless.map(({ option, why }) => safeText`FAIL  ${option} was given and was of no use: ${why}`))];
}

function sumUp(rules: readonly Verdict[]): string {
  const count = (wanted: Verdict['verdict']) => rules.filter(({ verdict }) => verdict === wanted).length;
  return `${count('holds')} of ${rules.length} rules hold; broken: ${count('broken')}; could not be tried: ${count('untried')}`;
}
