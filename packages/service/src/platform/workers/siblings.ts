import type { Counted, Question } from './messages.js';

/** The processes that serve one port together, as one of them sees the others. */
export interface Siblings {
  /** Whether enough of them serve for requests to be sent here. */
  areEnough(): boolean;
  /** /metrics of all of them. */
  scrape(): Promise<string>;
  /** What any of them has said about a request that it refused. */
  findRefused(requestId: string): Promise<unknown>;
  /** Has this process answer what the others ask. */
  answerWith(own: OwnKnowledge): void;
}

/** What one process knows, and the others may ask for. */
export interface OwnKnowledge {
  countedHere(): Promise<Counted>;
  findRefusedHere(requestId: string): unknown;
}

export async function answerQuestion(own: OwnKnowledge | undefined, question: Question): Promise<unknown> {
  if (question.about === 'metrics') return own?.countedHere();
  return own?.findRefusedHere(question.requestId);
}

/** Half of them: one that is being replaced takes no node out of service, and one of many cannot serve what is meant for all. */
export const countEnough = (workers: number): number => Math.ceil(workers / 2);
