import { aligned, factsText } from '../table.mjs';

const ms = (value) => (value === undefined ? '-' : value.toFixed(0));

/**
 * Returns the ratios of an overloaded node: the rate it still serves relative to the sustained rate, and the share of
 * the bystander's requests that it serves.
 */
export function ratiosOf({ results }) {
  return results
    .filter(({ failure }) => failure === undefined)
    .flatMap(({ row, served, sustained, bystander }) => [
      { row, of: 'what is sustained', ratio: served.rate / sustained.rate },
      { row, of: 'what a bystander sends', ratio: bystander.served.count / bystander.sent },
    ]);
}

export function report({ facts, seconds, times, connections, proxy, isPinned, results }) {
  const head = ['row', 'sustained/s', 'p99 ms', 'offered/s', 'served/s', 'of sustained', 'p50 ms', 'p99 ms'];
  const more = ['refused/s', 'p50 ms', 'p99 ms', 'others', 'bystander', 'unheard', 'normal after ms'];
  const lines = results.map(cellsOf);
  const goals = ['goal', '', '', '', '', '0.90', '', '2000', '', '', '50', '0', 'all', '0', '3000'];
  return `${factsText({ ...facts, postgres: 'embedded', logLevel: 'warn' })}
${aligned([[...head, ...more], ...lines, goals])}
${times} times what ${'`'}sustained${'`'} was, for ${seconds} s, by callers who do not wait for one another and hang up after 10 s, with ${connections}
open connections${proxy ? ', through haproxy' : ''}${isPinned ? `; callers${proxy ? ' and haproxy' : ''} have a core of their own` : ''}.
served: code 0. refused: 503001. others: any other answer, or none. bystander: another channel's orders that were created
meanwhile. unheard: orders that were stored though their callers heard no code 0. normal after: how long after another
flood something was still refused, or took more than a second, at half of what can be sustained.
`;
}

function cellsOf({ row, failure, sustained, offered, served, refused, limited, others, bystander, ...rest }) {
  if (failure !== undefined) return { label: row, note: `failed: ${failure}` };
  return [
    row,
    sustained.rate.toFixed(0),
    ms(sustained.p99),
    String(offered),
    served.rate.toFixed(0),
    (served.rate / sustained.rate).toFixed(2),
    ms(served.p50),
    ms(served.p99),
    refused.rate.toFixed(0),
    ms(refused.p50),
    ms(refused.p99),
    String(others + limited.count),
    `${bystander.served.count} of ${bystander.sent}`,
    String(rest.unheard),
    ms(rest.recoveredMs),
  ];
}
