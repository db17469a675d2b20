import { parseArgs } from 'node:util';
import { isRoot } from './programs.mjs';

/** Returns the lines of a help text that describe the options and the faults. */
export function describeOptions({ faults, short, callers }) {
  const width = Math.max(...faults.map(({ name }) => name.length));
  return `  --only NAME     this fault alone; may be given several times
  --short         ${short.join(', ')}${short.length > 1 ? ': once each' : ' alone'}
  --callers N     how many callers send at a time, about 1.5 requests a second each; ${callers} unless given
  --out FILE      the table goes there too
  --logs DIR      keep what the servers and the nodes have logged

${faults.map(({ name, about, times }) => `  ${name.padEnd(width)}  ${about}${times > 1 ? `, ${times} times` : ''}`).join('\n')}
`;
}

export class UsageError extends Error {}

/**
 * Returns what to play of these faults, in order, and where to write the report. Returns undefined if help was
 * requested.
 */
export function readOptions(args, { faults: all, short, callers: usualCallers }) {
  const values = parse(args);
  if (values.help) return undefined;
  const unknown = values.only?.find((name) => !all.some((fault) => fault.name === name));
  if (unknown !== undefined) throw new UsageError(`there is no fault "${unknown}"`);
  if (values.only !== undefined && values.short) throw new UsageError('either --only or --short');
  const { out, logs } = values;
  const callers = readCount('--callers', values.callers, usualCallers);
  const wanted = values.only ?? (values.short ? short : undefined);
  const faults = all.filter(({ name, needsRoot }) => wanted?.includes(name) ?? (isRoot() || !needsRoot));
  if (faults.some(({ needsRoot }) => needsRoot) && !isRoot()) throw new UsageError('disk-full needs root');
  const plays = faults.flatMap((fault) => repeat(fault, values.short ? 1 : fault.times));
  return { plays, callers, out, logs };
}

function readCount(name, text, otherwise) {
  if (text === undefined) return otherwise;
  if (!/^[1-9]\d{0,2}$/.test(text)) throw new UsageError(`${name} must be 1 to 999, but is "${text}"`);
  return Number(text);
}

function repeat(fault, times = 1) {
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
