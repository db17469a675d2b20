import { createFiguresJob } from '../../src/engine/jobs/figures.js';
import type { Role } from '../../src/operator/people/roles.js';
import type { UncheckedSql } from '../../src/platform/db/database.js';
import { type RefundStage, refundStage } from '../refunds/support.js';
import { type ConsoleClient, consoleClient } from './support.js';

// biome-ignore lint/suspicious/noExplicitAny: tests look into answers freely
export type Answer = Record<string, any>;

/** Starts a service at the real time, with clients for the console's reading operations by role. */
export async function readStage() {
  const on = await refundStage();
  const { service } = on;
  const { database } = service.fresh;
  service.clock.set(Date.now());
  const people = createPeople(on);
  return {
    ...on,
    /** Reads a path of the console as an operator of `role`. Throws with the status and the detail if it is refused. */
    async ask<T = Answer>(path: string, query: Record<string, string> = {}, role: Role = 'support') {
      const client = await people.of(role);
      const asked = new URLSearchParams(query).toString();
      const { status, body } = await client.get(asked === '' ? path : `${path}?${asked}`);
      if (status !== 200) throw new Error(`${status}: ${body.detail ?? JSON.stringify(body)}`);
      return body as T;
    },
    sql: <Row>(text: UncheckedSql, values: readonly unknown[] = []) => database.query<Row>(text, values),
    /** Runs the figures job one minute after its last run, by the service's clock. */
    count() {
      service.clock.advance(60_000);
      return createFiguresJob({ database, clock: service.clock })();
    },
  };
}

/** Operators of each role, who sign in again when the clock was moved by ten minutes or more. */
function createPeople({ service }: RefundStage) {
  const signedIn = new Map<Role, { readonly at: number; readonly client: ConsoleClient }>();
  return {
    async of(role: Role): Promise<ConsoleClient> {
      const now = service.clock.now();
      const known = signedIn.get(role);
      if (known && Math.abs(now - known.at) < 600_000) return known.client;
      const client = await consoleClient(service, role);
      signedIn.set(role, { at: now, client });
      return client;
    },
  };
}
