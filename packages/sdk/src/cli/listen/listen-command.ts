import { eventTypes, formatTime, parseTime } from '@perennial/wire';
import { Option } from 'commander';
import { createClient, readChannel } from '../channel-file.js';
import { type Call, type CommandFacts, listOption } from '../frame/command.js';
import { EXIT, UsageError } from '../frame/io.js';
import { readReceiverUrl } from '../pushes/send-push.js';
import { findBeginning, forwardRefused, type ListenDeps, listenForEvents } from './listener.js';
import { lockFile } from './lock.js';
import { createReporter } from './reporter.js';
import { ListenState, stateFileFor } from './state.js';

export const LISTEN: CommandFacts = {
  name: 'listen',
  summary: "Forward the channel's events to a receiver on this machine, with their real signature (sandbox only)",
  options: [
    new Option('--forward <url>', 'address of the receiver').makeOptionMandatory(),
    listOption('--events <type,...>', 'only events of these types', eventTypes),
    new Option(
      '--since <time>',
      'start with events of this time, as "2026-01-31 08:00:00" in UTC+8, even if already forwarded',
    ),
    new Option('--again', 'first resend the events that the receiver refused'),
    new Option('--state <file>', "file that stores the progress; default: a file beside the channel's file"),
  ],
  notes: `The first run forwards events from now on. Later runs continue where the last one ended: no event is missed or sent twice. It waits
while the receiver or the service is unreachable. An event that the receiver does not answer with HTTP 200 and {"code":"0"} within 5 s
is shown as not accepted, and the next one follows. Press Ctrl-C to stop.`,
  examples: [
    'listen --forward http://localhost:3000/events',
    'listen --forward http://localhost:3000/events --events order.status.changed --since "2026-01-31 08:00:00"',
    'listen --forward http://localhost:3000/events --again',
  ],
  run: listen,
};

async function listen(call: Call): Promise<number> {
  const { io, given } = call;
  const url = readReceiverUrl(given['forward']);
  const since = readSince(given['since']);
  const channel = readChannel(call);
  const file: string = given['state'] ?? stateFileFor(channel, url);
  const reporter = createReporter(io, given['json'] === true);
  const deps = {
    client: createClient(io, channel, { retries: 0 }),
    url,
    reporter,
    stop: io.watchStop(),
    eventTypes: given['events'],
  };
  const unlock = lockFile(io, file);
  try {
    const state = await openState(deps, file, since);
    if (state === undefined) return EXIT.ok;
    state.write();
    reporter.started({ url, file });
    if (given['again']) await forwardRefused(deps, state);
    await listenForEvents(deps, state);
    state.write();
    reporter.ended(state.listRefused(), 'the same command with --again');
    return EXIT.ok;
  } finally {
    unlock();
  }
}

/** Opens or creates the state. Returns undefined if the process is stopped before the start position is known. */
async function openState(deps: ListenDeps, file: string, since: string | undefined): Promise<ListenState | undefined> {
  const known = ListenState.read(file);
  if (since !== undefined) return ListenState.begin(file, since);
  if (known !== undefined) return known;
  const beginning = await findBeginning(deps);
  if (beginning === undefined) return undefined;
  const state = ListenState.begin(file, beginning.from);
  for (const push of beginning.known) state.add(push);
  return state;
}

function readSince(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const time = parseTime(text);
  if (time !== undefined) return formatTime(time);
  throw new UsageError('--since must be a time such as "2026-01-31 08:00:00" in UTC+8, or 2026-01-31T00:00:00Z');
}
