import { exec } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { type Io, UsageError } from '../frame/io.js';

const run = promisify(exec);

/** Returns how many effects the receiver has recorded for an event. */
export type CountEffects = (eventId: string) => Promise<number>;

const POLL_MS = 100;
const TIMEOUT_MS = 10_000;

/** Returns a counter that asks an address, with the id in the query, or runs a command, with the id in EVENT_ID. */
export function createEffectsCounter(source: string, env: Io['env']): CountEffects {
  return async (eventId) => {
    const text = await (/^https?:\/\//.test(source)
      ? ask(source, eventId)
      : runCommand(source, { ...env, EVENT_ID: eventId }));
    if (/^\d{1,15}$/.test(text)) return Number(text);
    throw new UsageError(`--effects must give a number, such as 1, but gave ${JSON.stringify(text.slice(0, 100))}`);
  };
}

async function ask(address: string, eventId: string): Promise<string> {
  const url = new URL(address);
  url.searchParams.set('eventId', eventId);
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS) });
    if (response.ok) return (await response.text()).trim();
    throw new Error(`HTTP ${response.status}`);
  } catch (error) {
    throw new UsageError(`--effects cannot be read: ${(error as Error).message}`);
  }
}

async function runCommand(command: string, env: Io['env']): Promise<string> {
  try {
    const { stdout } = await run(command, { env, timeout: TIMEOUT_MS });
    return stdout.trim();
  } catch (error) {
    throw new UsageError(`--effects failed: ${(error as Error).message.trim()}`);
  }
}

/** Counts the effects of an event. Waits for the first effect, because a receiver may process events later. */
export async function waitForEffects(count: CountEffects, eventId: string, waitMs: number): Promise<number> {
  const end = performance.now() + waitMs;
  for (;;) {
    const effects = await count(eventId);
    if (effects > 0 || performance.now() >= end) return effects;
    await delay(POLL_MS);
  }
}
