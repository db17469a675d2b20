import { execFileSync } from 'node:child_process';

/**
 * What a run of any kind came to, in one shape: of each row its figures and its ratios to what it was measured beside, of which
 * more is always better, or why it failed.
 */
export function documentOf({ kind, options, result, ratios }) {
  const { facts, results, ...more } = result;
  return {
    kind,
    commit: commitOf(),
    at: new Date().toISOString(),
    facts,
    options: { ...options, rows: [...options.rows].map((row) => row.name ?? row) },
    rows: results.map(({ row, failure, ...figures }) =>
      failure === undefined ? { row, ratios: ratiosOf(ratios, row), figures } : { row, failure },
    ),
    more,
  };
}

const ratiosOf = (ratios, row) =>
  Object.fromEntries(
    ratios.filter((one) => one.row === row && Number.isFinite(one.ratio)).map(({ of, ratio }) => [of, ratio]),
  );

/** Of the code that was measured. */
function commitOf() {
  const git = (...args) =>
    execFileSync('git', args, { cwd: import.meta.dirname, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  try {
    const isChanged = git('status', '--porcelain', '--untracked-files=no') !== '';
    return `${git('rev-parse', '--short', 'HEAD').trim()}${isChanged ? ' and changes' : ''}`;
  } catch {
    return 'unknown';
  }
}
