import cluster, { type Worker } from 'node:cluster';
import type { Logger } from 'pino';
import { PlainError } from '../plain-error.js';
import { createAnswersInTime } from './answers-in-time.js';
import { watchHandedOver } from './lost-connection.js';
import type { Counted, FromPrimary, FromWorker, Listening, Question, WorkerStart } from './messages.js';
import { createNodeMetrics } from './node-metrics.js';
import { createPending } from './pending.js';
import { pauseBefore } from './replacement.js';

export interface WorkersOptions {
  readonly count: number;
  /** The file that a worker runs. */
  readonly program: string;
  readonly start: Omit<WorkerStart, 'worker'>;
  readonly log: Logger;
}

/** The processes that serve the port, as the process sees them that has started them. */
export interface Workers {
  /** Everything is there but the listeners. Throws what the first of them says that cannot start. */
  readonly prepared: Promise<void>;
  /** Lets them listen, and resolves when all of them serve. */
  listen(): Promise<Listening>;
  /** Lets them finish what they are at. Resolves when all have ended, with whether all of them ended well. */
  stop(): Promise<boolean>;
}

/** A place for one worker after another. */
interface Place {
  readonly worker: number;
  process: Worker | undefined;
  state: 'starting' | 'prepared' | 'serving' | 'ended';
  startedAt: number;
  /** How often in a row one has ended soon after its start. */
  soon: number;
  again: NodeJS.Timeout | undefined;
}

/** How a worker has ended, as the log has it. */
interface WorkerEnd {
  readonly worker: number;
  readonly pid: number | undefined;
  readonly exitCode: number;
  readonly signal: string | undefined;
}

/** A worker that is busy answers late; one that hangs does not hold up a scrape. */
const ANSWER_MS = 2_000;

export function startWorkers({ count, program, start, log }: WorkersOptions): Workers {
  cluster.schedulingPolicy = cluster.SCHED_RR;
  cluster.setupPrimary({ exec: program, args: [] });
  const places = Array.from({ length: count }, (_, index): Place => {
    return { worker: index + 1, process: undefined, state: 'starting', startedAt: 0, soon: 0, again: undefined };
  });
  const prepared = createPending<void>();
  const served = createPending<Listening>();
  const ended = createPending<void>();
  let mayListen = false;
  let hasServed = false;
  let isStopping = false;
  let endedWell = true;

  const countServing = () => places.filter(({ state }) => state === 'serving').length;
  const answers = createAnswersInTime(ANSWER_MS);
  const metrics = createNodeMetrics(() => ({ wanted: count, serving: countServing() }));

  for (const place of places) fork(place);

  function fork(place: Place): void {
    const child = cluster.fork();
    Object.assign(place, { process: child, state: 'starting', startedAt: performance.now() });
    child.on('message', (message: FromWorker) => hear(place, child, message));
    const closeLost = watchHandedOver(child);
    child.on('exit', (code, signal) => {
      closeLost();
      noteEnd(place, child, code, signal);
    });
    // What it could not be told is known by its end.
    child.on('error', () => undefined);
  }

  function welcome({ worker }: Place, child: Worker): void {
    tell(child, { kind: 'start', start: { ...start, worker } });
    if (mayListen) tell(child, { kind: 'listen' });
    if (isStopping) tell(child, { kind: 'stop' });
  }

  function hear(place: Place, child: Worker, message: FromWorker): void {
    if (message.kind === 'answer') answers.settle(message.id, message.answer);
    else if (message.kind === 'question') void answer(child, message.id, message.question);
    else if (message.kind === 'failed') fail(new PlainError(message.message));
    else if (message.kind === 'here') welcome(place, child);
    else if (message.kind === 'prepared') notePrepared(place);
    else noteServing(place, child, message.listening);
  }

  function notePrepared(place: Place): void {
    place.state = 'prepared';
    if (places.every(({ state }) => state === 'prepared')) prepared.resolve();
  }

  function noteServing(place: Place, child: Worker, listening: Listening): void {
    place.state = 'serving';
    log.info({ worker: place.worker, pid: child.process.pid }, 'a worker serves');
    tellServing();
    if (countServing() < count) return;
    hasServed = true;
    served.resolve(listening);
  }

  /** At a start the whole node fails with the first of its workers. Later on it is tried again. */
  function fail(error: Error): void {
    if (hasServed) log.error({ err: error, cause: 'a worker cannot start' }, 'a worker cannot start');
    prepared.reject(error);
    served.reject(error);
  }

  function noteEnd(place: Place, child: Worker, code: number, signal: string): void {
    metrics.leave(child.id);
    if (isStopping && place.state === 'serving' && code !== 0) endedWell = false;
    Object.assign(place, { process: undefined, state: 'ended' });
    tellServing();
    if (isStopping) endIfLast();
    else replace(place, { worker: place.worker, pid: child.process.pid, exitCode: code, signal: signal || undefined });
  }

  function replace(place: Place, end: WorkerEnd): void {
    metrics.countEnd();
    if (!hasServed) fail(new PlainError(`a worker ended before it served (${end.signal ?? end.exitCode})`));
    const lived = performance.now() - place.startedAt;
    const next = pauseBefore(place.soon, lived);
    const fields = { ...end, seconds: Math.round(lived / 1000), againIn: next.ms / 1000 };
    log.warn(fields, 'a worker has ended, and another follows');
    place.soon = next.soon;
    place.again = setTimeout(fork, next.ms, place);
  }

  const tellServing = () => tellAll({ kind: 'serving', count: countServing() });

  function tellAll(message: FromPrimary): void {
    for (const { process } of places) if (process) tell(process, message);
  }

  async function answer(child: Worker, id: number, question: Question): Promise<void> {
    tell(child, { kind: 'result', id, result: await askAll(question) });
  }

  async function askAll(question: Question): Promise<unknown> {
    const asked = places.flatMap(({ process, worker, state }) =>
      process && state !== 'starting' ? [{ process, worker }] : [],
    );
    const heard = await Promise.all(
      asked.map(async ({ process, worker }) => ({
        id: process.id,
        worker,
        answer: await answers.ask((id) => tell(process, { kind: 'question', id, question })),
      })),
    );
    if (question.about === 'refused') return heard.find(({ answer }) => answer !== undefined)?.answer;
    return metrics.merge(
      new Map(heard.map(({ id, worker, answer }) => [id, { worker, counted: answer as Counted | undefined }])),
    );
  }

  function endIfLast(): void {
    if (places.every(({ process }) => process === undefined)) ended.resolve();
  }

  return {
    prepared: prepared.promise,
    listen() {
      mayListen = true;
      tellAll({ kind: 'listen' });
      return served.promise;
    },
    async stop() {
      isStopping = true;
      for (const { again } of places) clearTimeout(again);
      tellAll({ kind: 'stop' });
      endIfLast();
      await ended.promise;
      return endedWell;
    },
  };
}

/** To one that has just ended it is said in vain. */
function tell(child: Worker, message: FromPrimary): void {
  if (child.isConnected()) child.send(message);
}
