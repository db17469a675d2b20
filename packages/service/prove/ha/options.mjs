import { parseArgs } from 'node:util';
import { FAULTS, SHORT } from './faults.mjs';
import { isRoot } from './programs.mjs';

const CALLERS = 24;
const NAME_WIDTH = Math.max(...FAULTS.map(({ name }) => name.length));

export const HELP = `npm run prove -- ha [options]

Three nodes of the service on a Patroni cluster of three, under load, put through faults. After each: what was acknowledged
is asked for again on another node, and compared. Exit code 1 if anything was lost, doubled or wrong, or a caller saw 500001.

  --only NAME     this fault alone; may be given several times
  --short         ${SHORT.join(', ')}: once each
  --callers N     how many callers send at a time, about 1.5 requests a second each; ${CALLERS} unless given
  --out FILE      the table goes there too
  --logs DIR      keep what the servers and the nodes have logged

${FAULTS.map(({ name, about, times }) => `  ${name.padEnd(NAME_WIDTH)}  ${about}${times > 1 ? `, ${times} times` : ''}`).join('\n')}

Needs Linux, openssl and Debian's patroni, etcd-server, python3-etcd, haproxy, postgresql-15 and libfaketime.
As root it installs what is missing. Only root can give a server a disk of its own, so without root disk-full is not played.
`;

export class UsageError extends Error {}

/** Returns what to play, in order, and where to write the report. Returns undefined if help was requested. */
export function readOptions(args) {
  const values = parse(args);
  if (values.help) return undefined;
  const unknown = values.only?.find((name) => !FAULTS.some((fault) => fault.name === name));
  if (unknown !== undefined) throw new UsageError(`there is no fault "${unknown}"`);
  if (values.only !== undefined && values.short) throw new UsageError('either --only or --short');
  const { out, logs } = values;
  const callers = readCount('--callers', values.callers, CALLERS);
  const wanted = values.only ?? (values.short ? SHORT : undefined);
  const faults = FAULTS.filter(({ name, needsRoot }) => wanted?.includes(name) ?? (isRoot() || !needsRoot));
  if (faults.some(({ needsRoot }) => needsRoot) && !isRoot()) throw new UsageError('disk-full needs root');
  const plays = faults.flatMap((fault) => repeat(fault, values.short ? 1 : fault.times));
  return { plays, callers, out, logs };
}

function readCount(name, text, otherwise) {
  if (text === undefined) return otherwise;
  if (!/^[1-9]\d{0,2}$/.test(text)) throw new UsageError(`${name} must be 1 to 999, but is "${text}"`);
  return Number(text);
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
        callers: { type: 'string' },
        out: { type: 'string' },
        logs: { type: 'string' },
        help: { type: 'boolean', default: false },
      },
    }).values;
  } catch (error) {
    throw new UsageError(error.message);
  }
}
