import { execFileSync } from 'node:child_process';

/**
 * Returns a run's result in one format for all kinds: for each row its figures and ratios (a higher ratio is better),
 * or the reason for its failure.
 */
export function documentOf({ kind, commit, options, result, ratios }) {
  const { facts, results, ...more } = result;
  return {
    kind,
    commit,
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

/** Returns the commit of the measured code. */
export function commitOf() {
  const git = (...args) =>
    execFileSync('git', args, { cwd: import.meta.dirname, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  try {
    const isChanged = git('status', '--porcelain', '--untracked-files=no') !== '';
    return `${git('rev-parse', '--short', 'HEAD').trim()}${isChanged ? ' and changes' : ''}`;
  } catch {
    return 'unknown';
  }
}
