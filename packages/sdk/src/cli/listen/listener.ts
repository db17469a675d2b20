import type { EventsPullData, PulledPush } from '@perennial/wire';
import type { PerennialClient } from '../../client.js';
import { waitFor } from '../../clock.js';
import { PerennialConnectionError, PerennialError } from '../../errors.js';
import { CommandError } from '../frame/io.js';
import { describePushAnswer, type SeenAnswer, sendPush } from '../pushes/send-push.js';
import type { Reporter } from './reporter.js';
import { type Known, type ListenState, overlapBefore } from './state.js';

export interface ListenDeps {
  readonly client: PerennialClient;
  readonly url: URL;
  readonly reporter: Reporter;
  readonly stop: AbortSignal;
  /** Undefined means all. */
  readonly eventTypes: readonly string[] | undefined;
}

/** The shortest delay between two polls. A slow poll is followed by a longer delay, up to LONGEST_PAUSE_MS. */
const PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 5_000;

/**
 * Returns the time from which a new listener polls, by the service's clock. Also returns the events already written
 * after this time, which the listener skips.
 */
export async function findBeginning(deps: ListenDeps): Promise<{ from: string; known: Known[] } | undefined> {
  const now = await pull(deps, { size: 1 });
  if (now === undefined) return undefined;
  const from = overlapBefore(now.readAt);
  const known: Known[] = [];
  for await (const { pushes } of pages(deps, from)) known.push(...pushes);
  return deps.stop.aborted ? undefined : { from, known };
}

/** Forwards new events until the command is stopped. */
export async function listenForEvents(deps: ListenDeps, state: ListenState): Promise<void> {
  const { stop } = deps;
  while (!stop.aborted) {
    const began = performance.now();
    await forwardNew(deps, state);
    const took = performance.now() - began;
    await waitFor(Math.max(PAUSE_MS, Math.min(took * 2, LONGEST_PAUSE_MS)), stop).catch(() => undefined);
  }
}

/** Resends the events that the receiver has refused. */
export async function forwardRefused(deps: ListenDeps, state: ListenState): Promise<void> {
  const refused = state.listRefused().toSorted((one, other) => (one.writtenAt < other.writtenAt ? -1 : 1));
  const left = new Map(refused.map(({ eventId, writtenAt }) => [eventId, writtenAt]));
  while (left.size > 0 && !deps.stop.aborted) await forwardOldest(deps, state, left);
}

/**
 * Sends the oldest events in `left`, which is sorted by time. Reads whole pages from the oldest event on, because
 * single events cannot be pulled. Removes the events that it has sent and the events that the service no longer has.
 */
async function forwardOldest(deps: ListenDeps, state: ListenState, left: Map<string, string>): Promise<void> {
  const { url, reporter, stop } = deps;
  const [oldest = ''] = left.values();
  for await (const { pushes, pulledAt } of pages(deps, oldest)) {
    for (const push of pushes) {
      if (left.get(push.eventId) !== push.writtenAt) continue;
      const answer = await forward(url, push, pulledAt, reporter, stop);
      if (answer === undefined) return;
      reporter.forwarded(push, answer);
      state.settle(push, answer.kind === 'accepted');
      left.delete(push.eventId);
    }
    const end = pushes.at(-1)?.writtenAt ?? oldest;
    for (const [eventId, writtenAt] of left) if (writtenAt < end) left.delete(eventId);
    const [next] = left.values();
    if (next === undefined || next > end) return;
  }
  if (!stop.aborted) left.clear();
}

/**
 * Forwards all events of the chosen types that are not forwarded yet. Returns early if a push has become too old, so
 * that it is pulled again.
 */
async function forwardNew(deps: ListenDeps, state: ListenState): Promise<void> {
  const { url, reporter, stop, eventTypes } = deps;
  let first: string | undefined;
  for await (const { pushes, readAt, pulledAt } of pages(deps, state.from)) {
    first ??= readAt;
    for (const push of pushes) {
      if (state.has(push) || !(eventTypes?.includes(push.eventType) ?? true)) continue;
      const answer = await forward(url, push, pulledAt, reporter, stop);
      if (answer === undefined) return;
      reporter.forwarded(push, answer);
      state.settle(push, answer.kind === 'accepted');
      // Events are sorted by time of writing, so all events before this one are forwarded.
      state.advance(push.writtenAt, first);
    }
  }
  if (first === undefined || stop.aborted) return;
  const { from } = state;
  state.advance(first, first);
  if (state.from !== from) state.write();
}

/**
 * The greatest age of a pulled push that is still sent. A push is signed when it is pulled, and receivers refuse old
 * signatures.
 */
const MAX_AGE_MS = 60_000;
/**
 * The number of broken connections after which a push counts as seen. With fewer, the receiver may just be restarting.
 */
const MAX_BROKEN = 3;

/**
 * Sends a push until the receiver has seen it, and waits while the receiver is unreachable. Returns undefined if the
 * command is stopped or the push has become too old.
 */
async function forward(
  url: URL,
  push: PulledPush,
  pulledAt: number,
  reporter: Reporter,
  stop: AbortSignal,
): Promise<SeenAnswer | undefined> {
  let broken = 0;
  for (let pause = 250; !stop.aborted; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
    if (performance.now() - pulledAt > MAX_AGE_MS) return undefined;
    const answer = await sendPush(url, push);
    if (answer.kind === 'broken') broken += 1;
    if (answer.kind !== 'unreachable' && (answer.kind !== 'broken' || broken === MAX_BROKEN)) {
      reporter.receiverIsBack();
      return answer;
    }
    reporter.receiverIsAway(describePushAnswer(answer));
    await waitFor(pause, stop).catch(() => undefined);
  }
  return undefined;
}

interface PulledPage extends EventsPullData {
  readonly pulledAt: number;
}

/** Yields all pages. Ends early if the command is stopped. */
async function* pages(deps: ListenDeps, from: string): AsyncGenerator<PulledPage, void, undefined> {
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const page = await pull(deps, cursor === undefined ? { from } : { from, cursor });
    if (page === undefined) return;
    yield page;
    cursor = page.nextCursor;
  }
}

/** Pulls a page of events. Retries while the service is unavailable. Returns undefined if the command is stopped. */
async function pull(
  { client, url, reporter, stop }: ListenDeps,
  question: { readonly from?: string; readonly cursor?: string; readonly size?: number },
): Promise<PulledPage | undefined> {
  for (let pause = 250; !stop.aborted; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
    const pulledAt = performance.now();
    try {
      const page = await client.sandbox.events.pull({ path: url.pathname, ...question }, { signal: stop });
      reporter.serviceIsBack();
      return { ...page, pulledAt };
    } catch (error) {
      if (stop.aborted) return undefined;
      if (!isPassing(error)) throw explain(error);
      reporter.serviceIsAway((error as Error).message);
    }
    await waitFor(pause, stop).catch(() => undefined);
  }
  return undefined;
}

const isPassing = (error: unknown): boolean =>
  (error instanceof PerennialConnectionError &&
    // With these statuses, an unreadable answer may come from a proxy while the service is down.
    (error.reason !== 'unreadable-answer' || (error.httpStatus ?? 0) >= 500 || error.httpStatus === 429)) ||
  (error instanceof PerennialError && error.retryable);

function explain(error: unknown): unknown {
  if (!(error instanceof PerennialError) || error.name !== 'PATH_NOT_FOUND') return error;
  return new CommandError('events can be pulled only in a sandbox: in production they are sent to the callback URL');
}
