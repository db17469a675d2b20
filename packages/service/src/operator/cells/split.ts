import { setTimeout as delay } from 'node:timers/promises';
import type { Clock } from '../../platform/clock.js';
import { type Transactional, Unavailable } from '../../platform/db/database.js';
import { OperatorError } from '../operator.js';
import * as sql from './split-sql.js';

/**
 * Moves cells from a server to its replica, which is promoted. Every step reads from the servers whether it is done, so
 * a split that was interrupted anywhere is continued by running it again. Reasons: docs/decisions/0037-cells.md.
 */

export const SPLIT_STEPS = ['fence', 'wait', 'promote', 'close copies', 'open', 'switch', 'verify'] as const;
export type SplitStep = (typeof SPLIT_STEPS)[number];

/** A cell to move, and the name of its database on both servers. */
export interface MovedCell {
  readonly cell: number;
  readonly database: string;
}

export interface SplitPlan {
  readonly cells: readonly MovedCell[];
  /** The server that has the cells. A maintenance database, not through the cells' listener. */
  readonly from: Transactional;
  /** Its replica. */
  readonly to: Transactional;
  /** Promotes the replica. Unset: pg_promote(). */
  readonly promote?: (() => Promise<void>) | undefined;
  /** Makes the listener of a cell lead to the new server. Unset: the operator does so while the step waits. */
  readonly switchListener?: ((cell: number) => Promise<void>) | undefined;
  /** Throws if the listener of a cell could not be switched. Asked before the first step, because the cell is away until the switch. */
  readonly checkListener?: ((cell: number) => Promise<void>) | undefined;
  /** Connects to a cell as its nodes do. Returns the start time of the server that answers. */
  readonly reach: (cell: number) => Promise<string>;
  readonly clock: Clock;
  /** Longest wait of a step. */
  readonly waitMs: number;
  readonly say: (line: string) => void;
}

type Named = Awaited<ReturnType<typeof sql.listDatabases>>[number];

interface ServerState extends Awaited<ReturnType<typeof sql.readServer>> {
  readonly databases: readonly Named[];
}

interface State {
  /** Undefined if the old server does not answer. */
  readonly old: ServerState | undefined;
  readonly new: ServerState;
}

async function readServerState(server: Transactional): Promise<ServerState> {
  return { ...(await sql.readServer(server)), databases: await sql.listDatabases(server) };
}

async function readState({ from, to }: SplitPlan): Promise<State> {
  const old = await readServerState(from).catch((error: unknown) => {
    if (error instanceof Unavailable) return undefined;
    throw error;
  });
  const promoted = await readServerState(to).catch((error: unknown) => {
    if (error instanceof Unavailable) throw new OperatorError(`the server of --to cannot be reached: ${error.message}`);
    throw error;
  });
  return { old, new: promoted };
}

const FENCED = 'perennial cell split: fenced ';
const OPENED = 'perennial cell split: opened ';

/** Returns the split's id in a mark, or undefined if the database has no such mark. */
const idIn = (database: Named | undefined, mark: string): string | undefined =>
  database?.mark?.startsWith(mark) ? database.mark.slice(mark.length) : undefined;

const find = (server: ServerState | undefined, name: string): Named | undefined =>
  server?.databases.find((one) => one.name === name);

const ofAll = (plan: SplitPlan, server: ServerState | undefined, check: (database: Named) => boolean): boolean =>
  plan.cells.every(({ database }) => {
    const found = find(server, database);
    return found !== undefined && check(found);
  });

const hasMark = (plan: SplitPlan, server: ServerState | undefined, mark: string): boolean =>
  ofAll(plan, server, (one) => idIn(one, mark) !== undefined);

/** Returns true if the cells were opened on the new server: from then on there is no way back. */
const isOpened = (plan: SplitPlan, { new: promoted }: State): boolean =>
  !promoted.isReplica && hasMark(plan, promoted, OPENED) && ofAll(plan, promoted, ({ isOpen }) => isOpen);

const isFenced = (plan: SplitPlan, server: ServerState | undefined): boolean =>
  hasMark(plan, server, FENCED) && ofAll(plan, server, ({ isOpen, sessions }) => !isOpen && sessions === 0);

/** Returns true if the new server has the mark of the current fence, and so every commit of the cells. */
const hasEverything = (plan: SplitPlan, { old, new: promoted }: State): boolean =>
  plan.cells.every(({ database }) => {
    const arrived = idIn(find(promoted, database), FENCED);
    const written = idIn(find(old, database), FENCED);
    return arrived !== undefined && (old === undefined || arrived === written);
  });

/** The databases on the new server that do not move. */
const copiesOn = (plan: SplitPlan, { new: promoted }: State): Named[] =>
  promoted.databases.filter(({ name }) => !plan.cells.some(({ database }) => database === name));

const isCopyClosed = (plan: SplitPlan, state: State): boolean =>
  copiesOn(plan, state).every(({ isOpen, sessions }) => !isOpen && sessions === 0);

async function isSwitched({ cells, reach }: SplitPlan, { new: promoted }: State): Promise<boolean> {
  const reached = await Promise.all(cells.map(({ cell }) => reach(cell).catch(() => undefined)));
  return reached.every((startedAt) => startedAt === promoted.startedAt);
}

/** How to recognize that a step is done, and how to do it. */
interface StepRules {
  isDone(plan: SplitPlan, state: State): boolean | Promise<boolean>;
  act(plan: SplitPlan, state: State): Promise<void>;
  readonly what: string;
}

const RULES: Readonly<Record<SplitStep, StepRules>> = {
  fence: {
    what: 'the old server refuses connections to the cells',
    // The replica's marks suffice only if the old server has died since: an operator may have opened it by hand.
    isDone: (plan, state) =>
      isOpened(plan, state) || (state.old ? isFenced(plan, state.old) : hasEverything(plan, state)),
    act: fence,
  },
  wait: {
    what: 'the replica has everything',
    isDone: (plan, state) => isOpened(plan, state) || hasEverything(plan, state),
    act: (plan) => poll(plan, 'the replica has not replayed everything', async (state) => hasEverything(plan, state)),
  },
  promote: {
    what: 'the replica is a primary',
    isDone: (_plan, state) => !state.new.isReplica,
    async act(plan) {
      // Until its copies are closed, the new server would store and lose what their sessions write.
      await sql.makeReadOnly(plan.to, true);
      await (plan.promote ? plan.promote() : sql.promote(plan.to));
      await poll(plan, 'the replica is not promoted', async (state) => !state.new.isReplica);
    },
  },
  'close copies': {
    what: 'the new server refuses connections to all other databases, and has no session there',
    // Not repeated after the opening: the new server may have got other databases since.
    isDone: (plan, state) => isOpened(plan, state) || (!state.new.isReplica && isCopyClosed(plan, state)),
    // Otherwise sessions that read the replica would write to the copies after the opening.
    act: (plan, state) =>
      closeDatabases(
        plan,
        plan.to,
        copiesOn(plan, state).map(({ name }) => name),
      ),
  },
  open: {
    what: 'the new server accepts connections to the cells',
    isDone: isOpened,
    async act(plan, state) {
      await sql.makeReadOnly(plan.to, false);
      for (const { database } of plan.cells) {
        const id = idIn(find(state.new, database), FENCED) ?? idIn(find(state.new, database), OPENED);
        await plan.to.transaction(async (tx) => {
          await sql.markDatabase(tx, database, `${OPENED}${id}`);
          await sql.allowConnections(tx, database, true);
        });
      }
    },
  },
  switch: {
    what: 'the cells’ listeners lead to the new server',
    isDone: isSwitched,
    async act(plan) {
      const { cells, switchListener, say } = plan;
      if (switchListener) for (const { cell } of cells) await switchListener(cell);
      else say('make the listeners of the cells lead to the new server now');
      await poll(plan, 'the "database" of CELLS_FILE does not lead to the new server', (state) =>
        isSwitched(plan, state),
      );
    },
  },
  verify: {
    what: 'the cells work on the new server, and nowhere else',
    isDone: () => false,
    async act(plan, state) {
      const { old } = state;
      if (old && !isFenced(plan, old))
        throw new OperatorError('the old server is not fenced any more: fence it at once');
      if (!isOpened(plan, state)) throw new OperatorError('the cells are not open on the new server');
      if (!(await isSwitched(plan, state))) throw new OperatorError('the listeners do not lead to the new server');
    },
  },
};

/** Fences the cells. The mark comes last: a server that shows it has every commit of the cells. */
async function fence(plan: SplitPlan, { old }: State): Promise<void> {
  if (!old) {
    throw new OperatorError(
      'the old server does not answer, and the replica may lack its last commits: start the old server, or fail over without a split',
    );
  }
  const names = plan.cells.map(({ database }) => database);
  await closeDatabases(plan, plan.from, names);
  const id = new Date(plan.clock.now()).toISOString();
  for (const name of names) await sql.markDatabase(plan.from, name, `${FENCED}${id}`);
}

/** Refuses connections to the databases of a server, and ends their sessions. */
async function closeDatabases(plan: SplitPlan, server: Transactional, names: readonly string[]): Promise<void> {
  await server.transaction(async (tx) => {
    await sql.allowWrites(tx);
    for (const name of names) await sql.allowConnections(tx, name, false);
  });
  let quiet = 0;
  // Twice, because a session that was admitted before may not be listed yet.
  await poll(plan, `sessions of ${names.join(', ')} do not end`, async () => {
    const ended = await sql.endSessions(server, names);
    quiet = ended.length === 0 ? quiet + 1 : 0;
    return quiet === 2;
  });
}

const POLL_MS = 50;

/** Waits until `isDone`. An unreachable new server is waited for: it restarts when it is promoted by some tools. */
async function poll(plan: SplitPlan, late: string, isDone: (state: State) => Promise<boolean>): Promise<void> {
  const end = plan.clock.now() + plan.waitMs;
  for (;;) {
    const state = await readState(plan).catch((error: unknown) => {
      if (error instanceof OperatorError) return undefined;
      throw error;
    });
    if (state && (await isDone(state))) return;
    if (plan.clock.now() > end) {
      throw new OperatorError(
        `${late} after ${plan.waitMs / 1000} s: run the same command again, or with --cancel to go back`,
      );
    }
    await delay(POLL_MS);
  }
}

const MAX_LAG_BYTES = 64e6;

/** Returns what prevents a split from being begun or continued. */
export async function findObstacles(plan: SplitPlan): Promise<string[]> {
  const state = await readState(plan);
  const { old, new: replica } = state;
  const found: string[] = [];
  if (old?.isCell || replica.isCell) found.push('--from and --to must name a maintenance database, such as postgres');
  for (const { cell } of plan.cells) {
    try {
      await plan.checkListener?.(cell);
    } catch (error) {
      if (!(error instanceof OperatorError)) throw error;
      found.push(error.message);
    }
  }
  for (const { cell, database } of plan.cells) {
    for (const [server, name] of [
      [old, 'old'],
      [replica, 'new'],
    ] as const) {
      const its = find(server, database);
      if (server && !its) found.push(`the ${name} server has no database ${database} of cell ${cell}`);
      if (its && !its.isOwned) found.push(`the role on the ${name} server does not own the database ${database}`);
    }
  }
  const fenced = plan.cells.flatMap(({ database }) => find(old, database) ?? []);
  const copies = isOpened(plan, state) ? [] : copiesOn(plan, state);
  for (const { name, foreignSessions } of [...fenced, ...copies]) {
    if (foreignSessions > 0) {
      found.push(`the role may not end ${foreignSessions} sessions of ${name}: connect as superuser`);
    }
  }
  if (old && old.system !== replica.system) found.push('the server of --to is not a replica of the old server');
  if (old && old.startedAt === replica.startedAt) found.push('--from and --to are the same server');
  if (old?.isReplica) found.push('the server of --from is itself a replica');
  if (!replica.isReplica && !isOpened(plan, state)) {
    if (ofAll(plan, old, ({ isOpen }) => isOpen)) {
      found.push('the server of --to is no replica any more, and the old server is in use: make a new replica');
    } else if (!hasEverything(plan, state) && !hasMark(plan, replica, OPENED)) {
      found.push('the server of --to was promoted before it had everything: make a new replica, after --cancel');
    }
  }
  if (isOpened(plan, state) && old && !hasSameSplit(plan, state)) {
    found.push('both servers have these cells from different splits: find out which one is in use');
  }
  if (replica.isReplica && !plan.promote && replica.isPatronis) {
    found.push('Patroni runs the new server, and would undo pg_promote(): give --promote-command');
  } else if (replica.isReplica && !plan.promote && !replica.mayPromote) {
    found.push('the role on the new server may not call pg_promote(): connect as superuser, or give --promote-command');
  }
  if (replica.isReplica && old) {
    const lag = await sql.countBytesBetween(plan.from, old.position ?? '0/0', replica.position ?? '0/0');
    if (lag > MAX_LAG_BYTES && !isFenced(plan, old)) {
      found.push(`the replica is ${Math.round(lag / 1e6)} MB behind: wait until it has caught up`);
    }
    if (!isFenced(plan, old) && !(await sql.isStreaming(plan.to))) {
      found.push('the replica does not stream from the old server: its log names the reason');
    }
    if (await sql.waitsForReplica(plan.from, await sql.readStreamName(plan.to))) {
      found.push(
        'commits of the old server wait for this replica: remove it from synchronous_standby_names, or the cells that stay will hang',
      );
    }
  }
  return found;
}

/** Returns true if the old server was fenced by the split that opened the cells on the new one. */
const hasSameSplit = (plan: SplitPlan, { old, new: promoted }: State): boolean =>
  plan.cells.every(({ database }) => idIn(find(old, database), FENCED) === idIn(find(promoted, database), OPENED));

export interface StepReport {
  readonly step: SplitStep;
  readonly what: string;
  /** `todo` only in a dry run, or after `until`. */
  readonly state: 'was done' | 'done' | 'todo';
}

/** Returns the steps with their states, without doing anything. */
export async function describeSplit(plan: SplitPlan): Promise<StepReport[]> {
  const state = await readState(plan);
  const reports: StepReport[] = [];
  for (const step of SPLIT_STEPS) {
    const isDone = await RULES[step].isDone(plan, state);
    const isAfterTodo = reports.some((one) => one.state === 'todo');
    reports.push({ step, what: RULES[step].what, state: isDone && !isAfterTodo ? 'was done' : 'todo' });
  }
  return reports;
}

/** Performs the steps that are not done, up to and including `until`. Throws before the first if there is an obstacle. */
export async function runSplit(plan: SplitPlan, until: SplitStep = 'verify'): Promise<StepReport[]> {
  const [obstacle] = await findObstacles(plan);
  if (obstacle !== undefined) throw new OperatorError(obstacle);
  const reports: StepReport[] = [];
  for (const step of SPLIT_STEPS) {
    const { isDone, act, what } = RULES[step];
    const isLater = SPLIT_STEPS.indexOf(step) > SPLIT_STEPS.indexOf(until);
    if (isLater) {
      reports.push({ step, what, state: 'todo' });
      continue;
    }
    const state = await readState(plan);
    const wasDone = await isDone(plan, state);
    if (!wasDone) {
      plan.say(`${step} …`);
      await act(plan, state);
    }
    reports.push({ step, what, state: wasDone ? 'was done' : 'done' });
  }
  return reports;
}

/**
 * Opens the cells on the old server again. Refuses if they were opened on the new one, or if that is unknown because the
 * replica does not answer. `isReplicaLost`: the operator says that the replica will never be used. The marks go first,
 * on both servers: otherwise a later split could take them for its own, and lose what is stored from now on.
 */
export async function cancelSplit(plan: SplitPlan, isReplicaLost: boolean): Promise<void> {
  const names = plan.cells.map(({ database }) => database);
  const replica = isReplicaLost ? undefined : await readServerState(plan.to);
  const wasOpened = names.some((name) => {
    const its = find(replica, name);
    return replica?.isReplica === false && (its?.isOpen === true || idIn(its, OPENED) !== undefined);
  });
  if (wasOpened) {
    throw new OperatorError('the cells were opened on the new server: go back by a split in the other direction');
  }
  if (replica) await sql.makeReadOnly(plan.to, false);
  for (const name of names) await sql.markDatabase(plan.from, name, null);
  if (replica?.isReplica) {
    await poll(plan, 'the replica still shows the marks', async (state) =>
      names.every((name) => find(state.new, name)?.mark == null),
    );
  } else if (replica) {
    for (const name of names) await sql.markDatabase(plan.to, name, null);
  }
  for (const name of names) await sql.allowConnections(plan.from, name, true);
}
