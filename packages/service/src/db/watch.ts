import type { Socket } from 'node:net';
import pg from 'pg';
import { type Backend, STARTED_AT } from './session.js';

export interface WatchOptions {
  /** How a connection of the watch's own is made. */
  readonly config: pg.ClientConfig;
  /** Told when the database falls silent, and when it answers again. */
  readonly onSilence?: ((isSilent: boolean) => void) | undefined;
}

/**
 * Time is counted in turns of a timer. A process that was stopped, or too busy to read its sockets, has one turn when it goes
 * on, and not all that it has missed: nobody is given up for what is waiting to be read.
 */
const TURN_MS = 500;
const turnsIn = (ms: number) => Math.ceil(ms / TURN_MS);

/** A statement that takes longer is reason to ask whether the database answers at all, and a question is given as long. */
const SUSPICIOUS = turnsIn(2_000);

/** Statements that wait for an answer, and the limit of each. A connection has one at a time. */
export interface Watch {
  begin(client: pg.ClientBase, limitMs: number): void;
  end(client: pg.ClientBase): void;
  /** Neither a statement nor a new connection is answered: whoever comes need not wait to find out. */
  readonly isSilent: boolean;
  stop(): void;
}

/**
 * The database's own limits hold while it runs. One that is frozen, or behind a network that swallows everything, keeps its
 * sockets open and says nothing, so each statement is given up here too, some time after the database would have done it. Its
 * connection is destroyed: a late answer must not be taken for that of the next statement.
 */
export function watchStatements(
  { config, onSilence }: WatchOptions,
  giveUp: (client: pg.ClientBase) => Backend | undefined,
): Watch {
  const underWay = new Map<pg.ClientBase, { readonly since: number; readonly limit: number }>();
  /** Processes that still work, or wait, for a statement that was given up. */
  const abandoned: Backend[] = [];
  let turn = 0;
  let isSilent = false;
  /** Statements of an age are asked about once for each so many turns. */
  let heardAt = 0;
  let asking: { readonly client: pg.Client; readonly since: number } | undefined;

  const timer = setInterval(() => {
    turn += 1;
    let isSuspicious = false;
    for (const [client, { since, limit }] of underWay) {
      const age = turn - since;
      if (age > limit || (isSilent && age > SUSPICIOUS)) {
        underWay.delete(client);
        destroy(client);
        const backend = giveUp(client);
        if (backend) abandoned.push(backend);
      } else isSuspicious ||= age > SUSPICIOUS;
    }
    if (asking) {
      if (turn - asking.since > SUSPICIOUS) {
        destroy(asking.client);
        asking = undefined;
        tell(true);
      }
    } else if (isSilent || abandoned.length > 0 || (isSuspicious && turn - heardAt > SUSPICIOUS)) void ask();
  }, TURN_MS);
  timer.unref();

  /** Any answer will do, a refusal too: then everybody hears it for himself. */
  async function ask(): Promise<void> {
    const client = new pg.Client(config);
    const question = { client, since: turn };
    asking = question;
    client.on('error', () => undefined);
    try {
      await client.connect();
      const ended = abandoned.splice(0);
      await client.query(END_BACKENDS, [ended.map(({ pid }) => pid), ended.map(({ startedAt }) => startedAt)]);
    } catch {
      // If it was destroyed above, nobody asks about it any more.
    }
    void client.end().catch(() => undefined);
    if (asking !== question) return;
    asking = undefined;
    heardAt = turn;
    tell(false);
  }

  function tell(now: boolean): void {
    if (now === isSilent) return;
    isSilent = now;
    onSilence?.(now);
  }

  return {
    begin(client, limitMs) {
      if (limitMs > 0) underWay.set(client, { since: turn, limit: turnsIn(limitMs) });
    },
    end: (client) => void underWay.delete(client),
    get isSilent() {
      return isSilent;
    },
    stop() {
      clearInterval(timer);
      if (asking) destroy(asking.client);
      asking = undefined;
    },
  };
}

/**
 * A commit that waits for a replica does not notice that its client is gone, whatever the statement's limits: such processes
 * would pile up until there are no connections left. And what a frozen one was about to do it does not do when it goes on.
 */
const END_BACKENDS = `select pg_terminate_backend(a.pid) from pg_stat_activity a
  where (a.pid, ${STARTED_AT}) in (select * from unnest($1::integer[], $2::bigint[]))`;

/** Without a word to the server, which does not listen. Everything that waits on the connection fails with it. */
function destroy(client: pg.ClientBase): void {
  (client as unknown as { readonly connection: { readonly stream: Socket } }).connection.stream.destroy();
}
