import type { MetricObjectWithValues, MetricValue } from 'prom-client';

/** What one process has counted, as prom-client writes it down. */
export type Counted = readonly MetricObjectWithValues<MetricValue<string>>[];

/** What a worker is given by the primary, beside the environment that both have. */
export interface WorkerStart {
  /** From 1 on. One that takes the place of another has its number. */
  readonly worker: number;
  readonly nodeId: string;
  /** With the password: never by the environment, which others can read. */
  readonly databaseUrl: string;
}

/** The addresses that the servers of a node really listen on. */
export interface Listening {
  readonly url: string;
  /** The address of /metrics and /healthz. */
  readonly operations: string;
  /** The address of the console, if it has one of its own. */
  readonly console: string | undefined;
}

/** What one worker may want to know of all of them. */
export type Question =
  | { readonly about: 'metrics' }
  /** What was said about a request that one of them refused. */
  | { readonly about: 'refused'; readonly requestId: string };

export type FromPrimary =
  | { readonly kind: 'start'; readonly start: WorkerStart }
  | { readonly kind: 'listen' }
  | { readonly kind: 'stop' }
  /** How many workers serve, whenever that changes. */
  | { readonly kind: 'serving'; readonly count: number }
  | { readonly kind: 'question'; readonly id: number; readonly question: Question }
  /** To what this worker has asked. */
  | { readonly kind: 'result'; readonly id: number; readonly result: unknown };

export type FromWorker =
  /** It listens to messages. What is said to a worker before that is lost. */
  | { readonly kind: 'here' }
  /** Everything is there but the listeners. */
  | { readonly kind: 'prepared' }
  | { readonly kind: 'serving'; readonly listening: Listening }
  /** It cannot start, and ends: one line for people. */
  | { readonly kind: 'failed'; readonly message: string }
  | { readonly kind: 'question'; readonly id: number; readonly question: Question }
  | { readonly kind: 'answer'; readonly id: number; readonly answer: unknown };
