// Finds regular expressions that can take more than linear time for some text. A pattern that a request reaches must
// not: one text of a kilobyte could stop a node.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { visitRegExpAST } from '@eslint-community/regexpp';
import {
  Chars,
  getFirstConsumedChar,
  getFirstConsumedCharAfter,
  isPotentiallyEmpty,
  toUnicodeSet,
} from 'regexp-ast-analysis';
import { parseSync, Visitor } from 'rolldown/utils';
import { analyse } from 'scslre';

const REPORTS = {
  Move: 'scans the rest of the text from each place where it could begin',
  Self: 'a repetition can divide the same characters in several ways',
  Trade: 'two repetitions can divide the same characters in several ways',
};
/** A group that repeats at most this number of times is not a loop. */
const FEW = 8;

/** Returns why the pattern can take super-linear time. Returns nothing if it cannot. */
export function findSuperLinear(source, flags) {
  if (!/[*+{]/.test(source)) return [];
  const { reports, parsed } = analyse({ source, flags });
  const found = new Set(reports.map(({ type }) => REPORTS[type]));
  visitRegExpAST(parsed.pattern, {
    onQuantifierEnter(loop) {
      if (loop.max > FEW && isGroup(loop.element) && hasChoice(loop, parsed.flags)) found.add(REPORTS.Self);
      if (loop.max === Number.POSITIVE_INFINITY && canRestart(loop, parsed.flags)) found.add(REPORTS.Move);
    },
  });
  return [...found];
}

const isGroup = ({ type }) => type === 'Group' || type === 'CapturingGroup';

/**
 * Returns true unless the next character alone decides how the group of a loop continues. A loop with such a choice can
 * take exponential time, which scslre finds only for a repeated single character.
 */
function hasChoice(loop, flags) {
  let found = isPotentiallyEmpty(loop.element, flags);
  const checkAlternatives = ({ alternatives }) => {
    const firsts = alternatives.map((one) => getFirstConsumedChar(one, 'ltr', flags).char);
    if (firsts.some((one, index) => firsts.slice(0, index).some((other) => !one.isDisjointWith(other)))) found = true;
  };
  visitRegExpAST(loop.element, {
    onGroupEnter: checkAlternatives,
    onCapturingGroupEnter: checkAlternatives,
    onQuantifierEnter(inner) {
      const next = getFirstConsumedCharAfter(inner, 'ltr', flags).char;
      const again = getFirstConsumedChar(inner.element, 'ltr', flags).char;
      if (inner.min !== inner.max && !again.isDisjointWith(next)) found = true;
    },
  });
  return found;
}

/**
 * Returns true if a text that the loop consumes can contain what precedes the loop, so that a search begins at each such
 * place again. scslre finds this only if one repeated character matches what precedes.
 */
function canRestart(loop, flags) {
  if (flags.sticky || !canFailAfter(loop, flags)) return false;
  const chars = charsOf(loop.element, flags);
  let node = loop;
  for (; node.parent.type !== 'Pattern'; node = node.parent) {
    if (node.parent.type !== 'Alternative') continue;
    const before = node.parent.elements.slice(0, node.parent.elements.indexOf(node));
    if (!before.every((one) => canConsist(one, chars, flags))) return false;
  }
  return true;
}

function canFailAfter(node, flags) {
  if (node.type === 'Pattern') return false;
  const { parent } = node;
  if (parent.type === 'Assertion') return true;
  const after = parent.type === 'Alternative' ? parent.elements.slice(parent.elements.indexOf(node) + 1) : [];
  return (
    after.some((one) => one.type === 'Assertion' || !isPotentiallyEmpty(one, flags)) || canFailAfter(parent, flags)
  );
}

/** Returns true if the node can match a text of these characters only. */
function canConsist(node, chars, flags) {
  switch (node.type) {
    case 'Group':
    case 'CapturingGroup':
      return node.alternatives.some(({ elements }) => elements.every((one) => canConsist(one, chars, flags)));
    case 'Quantifier':
      return node.min === 0 || canConsist(node.element, chars, flags);
    case 'Assertion':
      return canHold(node, chars, flags);
    case 'Backreference':
      return true;
    default:
      return !chars.isDisjointWith(toUnicodeSet(node, flags).chars);
  }
}

/** Returns true if the assertion can be true between two of these characters. */
function canHold({ kind, negate, alternatives }, chars, flags) {
  if (kind === 'start') return flags.multiline && !chars.isDisjointWith(Chars.lineTerminator(flags));
  if (kind === 'word')
    return negate || !(chars.isSubsetOf(Chars.word(flags)) || chars.isDisjointWith(Chars.word(flags)));
  if (kind !== 'lookbehind' || !negate) return true;
  return !alternatives.some(
    ({ elements }) => elements.length === 1 && chars.isSubsetOf(toUnicodeSet(elements[0], flags).chars),
  );
}

/** Returns all characters that the node can consume. */
function charsOf(node, flags) {
  let chars = Chars.empty(flags);
  const add = (one) => {
    const isWhole = one.parent.type === 'Alternative' || one.parent.type === 'Quantifier';
    if (isWhole) chars = chars.union(toUnicodeSet(one, flags).chars);
  };
  visitRegExpAST(node, { onCharacterEnter: add, onCharacterSetEnter: add, onCharacterClassEnter: add });
  return chars;
}

/** Returns a line for each such pattern in the sources under the root. Leaves out tests, proofs and benchmarks. */
export function lintPatterns(root) {
  const files = execFileSync('git', ['ls-files', '*.ts', '*.tsx', '*.mts', '*.js', '*.mjs'], {
    cwd: root,
    encoding: 'utf8',
  });
  const sources = files.split('\n').filter((file) => file !== '' && !/(?:^|\/)(?:test|prove|bench)\//.test(file));
  return sources.flatMap((file) => lintFile(file, readFileSync(path.join(root, file), 'utf8')));
}

function lintFile(file, text) {
  const lines = [];
  const check = ({ start }, source, flags) => {
    const line = text.slice(0, start).split('\n').length;
    for (const why of findSuperLinear(source, flags)) lines.push(`${file}:${line} /${source}/${flags} ${why}`);
  };
  new Visitor({
    Literal(node) {
      if (node.regex) check(node, node.regex.pattern, node.regex.flags);
    },
    // A pattern of a JSON schema.
    Property({ key, value }) {
      if (key.name === 'pattern' && typeof value.value === 'string') check(value, value.value, 'u');
    },
  }).visit(parseSync(file, text).program);
  return lines;
}
