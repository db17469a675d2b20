import { createExpiryQueue, type ExpiryQueue } from '../expiry-queue.js';
import { LinkedList, type Place } from '../linked-list.js';
import type { Answer, WantedAnswer } from './answer.js';
import type { Connection } from './connection.js';
import { Deadline, DeadlinePassed } from './deadline.js';
import { createIdleConnections, USUAL_IDLE_MS } from './idle-connections.js';
import { connectToPeer, DIRECT, type PeerAccess } from './peer-access.js';
import type { Request } from './request.js';

/** Thrown if the service has closed this client, so that no answer can arrive. */
export class ClientClosed extends Error {}

/** Maximum time in ms to keep an idle connection, even if the other end keeps it longer. */
const LONGEST_IDLE_MS = 60_000;
/**
 * An idle connection is no longer used when less than this time (ms) remains until its announced end. So a request
 * rarely meets a connection that the other end has closed.
 */
const CLOSE_MARGIN_MS = 1_000;

interface Call {
  /** The call's place in the list `waiting` or `inFlight`. */
  place: Place<Call> | undefined;
  readonly request: Request;
  readonly wanted: WantedAnswer;
  readonly deadline: Deadline;
  readonly onEnd: (answer: Answer | undefined, error?: unknown) => void;
}

export interface PostClientOptions {
  /** Maximum number of connections. Each carries one request at a time; further requests wait in a queue. */
  readonly maxConnections: number;
  /** Default: no client certificate, Node's authorities, no proxy. */
  readonly peers?: PeerAccess | undefined;
}

/** Creates a client that sends requests to the server of one URL, which an operator has configured. */
export function createPostClient(url: URL, { maxConnections, peers = DIRECT }: PostClientOptions) {
  const { origin } = url;
  const idle = createIdleConnections(LONGEST_IDLE_MS);
  const waiting = new LinkedList<Call>();
  const inFlight = new LinkedList<Call>();
  const deadlines = new Map<number, ExpiryQueue<Deadline>>();
  let isClosed = false;

  function deadlinesAfter(ms: number): ExpiryQueue<Deadline> {
    const known = deadlines.get(ms);
    if (known) return known;
    const queue = createExpiryQueue<Deadline>(ms, (deadline) => deadline.cancelStep(new DeadlinePassed()));
    deadlines.set(ms, queue);
    return queue;
  }

  function start(call: Call): void {
    call.place = inFlight.append(call);
    const kept = idle.take(origin);
    if (kept) {
      kept.holdProcess(true);
      sendOn(kept, call);
    } else {
      connectToPeer(url, peers, call.deadline).then(
        (connection) => sendOn(connection, call),
        (error) => end(call, undefined, error),
      );
    }
  }

  function sendOn(connection: Connection, call: Call): void {
    call.deadline.cancelStep = (why) => {
      connection.close();
      end(call, undefined, why);
    };
    connection.send(call.request, call.wanted, (answer, error) => {
      if (answer) keepOrClose(connection, answer);
      end(call, answer, error);
    });
  }

  function keepOrClose(connection: Connection, { keepAlive, keptMs }: Answer): void {
    if (!keepAlive || isClosed) {
      connection.close();
      return;
    }
    connection.holdProcess(false);
    idle.keep(origin, connection, keptMs === undefined ? USUAL_IDLE_MS : keptMs - CLOSE_MARGIN_MS);
  }

  function end(call: Call, answer: Answer | undefined, error?: unknown): void {
    leave(inFlight, call);
    call.onEnd(answer, error);
    const next = waiting.removeFirst();
    if (next) start(next);
  }

  function startOrWait(call: Call): void {
    if (inFlight.size < maxConnections) {
      start(call);
      return;
    }
    call.place = waiting.append(call);
    call.deadline.cancelStep = (why) => {
      leave(waiting, call);
      call.onEnd(undefined, why);
    };
  }

  return {
    /**
     * Sends a request once, over a kept or a new connection. If there is no answer, rejects; the request may have
     * arrived nevertheless. The deadline includes the wait for a free connection.
     */
    post: (request: Request, wanted: WantedAnswer, deadlineMs: number): Promise<Answer> =>
      new Promise((resolve, reject) => {
        if (isClosed) throw new ClientClosed();
        const deadline = new Deadline(performance.now() + deadlineMs);
        const queue = deadlinesAfter(deadlineMs);
        const expiring = queue.add(deadline);
        const onEnd = (answer: Answer | undefined, error?: unknown) => {
          queue.delete(expiring);
          if (answer) resolve(answer);
          else reject(error);
        };
        startOrWait({ place: undefined, request, wanted, deadline, onEnd });
      }),
    close(): void {
      isClosed = true;
      for (const { deadline } of [...waiting.toArray(), ...inFlight.toArray()]) deadline.cancelStep(new ClientClosed());
      idle.close();
    },
  };
}

export type PostClient = ReturnType<typeof createPostClient>;

function leave(list: LinkedList<Call>, { place }: Call): void {
  if (place) list.remove(place);
}
