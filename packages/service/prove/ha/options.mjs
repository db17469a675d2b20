import { parseArgs } from 'node:util';
import { FAULTS, SHORT } from './faults.mjs';

const NAME_WIDTH = Math.max(...FAULTS.map(({ name }) => name.length));

export const HELP = `npm run prove -- ha [options]

Three nodes of the service on a Patroni cluster of three, under load, put through faults. After each: what was acknowledged
is asked for again on another node, and compared. Exit code 1 if anything was lost or doubled, or a caller saw 500001.

  --only NAME     this fault alone; may be given several times
  --short         ${SHORT.join(', ')}: once each
  --out FILE      the table goes there too
  --logs DIR      keep what the servers and the nodes have logged

${FAULTS.map(({ name, about, times }) => `  ${name.padEnd(NAME_WIDTH)}  ${about}${times > 1 ? `, ${times} times` : ''}`).join('\n')}

Needs Linux, and Debian's patroni, etcd-server, python3-etcd, haproxy and postgresql-15. As root it installs what is missing.
`;

export class UsageError extends Error {}

/** What to play, in order, and where to write it. Undefined: help was asked for. */
export function readOptions(args) {
  const values = parse(args);
  if (values.help) return undefined;
  const unknown = values.only?.find((name) => !FAULTS.some((fault) => fault.name === name));
  if (unknown !== undefined) throw new UsageError(`there is no fault "${unknown}"`);
  if (values.only !== undefined && values.short) throw new UsageError('either --only or --short');
  const wanted = values.only ?? (values.short ? SHORT : undefined);
  const faults = FAULTS.filter(({ name }) => wanted?.includes(name) ?? true);
  const plays = faults.flatMap((fault) => repeat(fault, values.short ? 1 : fault.times));
  return { plays, out: values.out, logs: values.logs };
}

function repeat(fault, times) {
  return Array.from({ length: times }, (_, turn) => ({
    ...fault,
    title: times === 1 ? fault.about : `${fault.about} (${turn + 1} of ${times})`,
  }));
}

function parse(args) {
  try {
    return parseArgs({
      args,
      options: {
        only: { type: 'string', multiple: true },
        short: { type: 'boolean', default: false },
        out: { type: 'string' },
        logs: { type: 'string' },
        help: { type: 'boolean', default: false },
      },
    }).values;
  } catch (error) {
    throw new UsageError(error.message);
  }
}
