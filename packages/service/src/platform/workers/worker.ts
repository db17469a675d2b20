import { createAnswersInTime } from './answers-in-time.js';
import type { FromPrimary, FromWorker, Listening, Question, WorkerStart } from './messages.js';
import { createPending } from './pending.js';
import { answerQuestion, countEnough, type OwnKnowledge, type Siblings } from './siblings.js';

/** The primary, as a worker sees it. When it is gone, Node ends the worker. */
export interface Primary {
  readonly start: Promise<WorkerStart>;
  readonly mayListen: Promise<void>;
  tellPrepared(): void;
  tellServing(listening: Listening): void;
  /** Resolves when the primary has heard it. */
  tellFailed(message: string): Promise<void>;
}

/** As long as the primary waits for the others, and a little more. */
const RESULT_MS = 3_000;

/** `onStop`: the whole node stops. */
export function joinPrimary(workers: number, onStop: () => void): Primary & { readonly siblings: Siblings } {
  const start = createPending<WorkerStart>();
  const mayListen = createPending<void>();
  const results = createAnswersInTime(RESULT_MS);
  let own: OwnKnowledge | undefined;
  let serving = 0;
  // Terminals and supervisors tell every process of the group. The primary hears it too, and says what is to be done.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);

  process.on('message', (message: FromPrimary) => {
    if (message.kind === 'start') start.resolve(message.start);
    else if (message.kind === 'listen') mayListen.resolve();
    else if (message.kind === 'stop') onStop();
    else if (message.kind === 'serving') serving = message.count;
    else if (message.kind === 'result') results.settle(message.id, message.result);
    else void answer(message.id, message.question);
  });

  async function answer(id: number, question: Question): Promise<void> {
    tell({ kind: 'answer', id, answer: await answerQuestion(own, question) });
  }

  tell({ kind: 'here' });
  const ask = (question: Question) => results.ask((id) => tell({ kind: 'question', id, question }));

  return {
    start: start.promise,
    mayListen: mayListen.promise,
    tellPrepared: () => tell({ kind: 'prepared' }),
    tellServing: (listening) => tell({ kind: 'serving', listening }),
    async tellFailed(message) {
      const failed: FromWorker = { kind: 'failed', message };
      await new Promise((resolve) => process.send?.(failed, undefined, undefined, resolve) ?? resolve(undefined));
    },
    siblings: {
      areEnough: () => serving >= countEnough(workers),
      async scrape() {
        const text = await ask({ about: 'metrics' });
        if (typeof text !== 'string') throw new Error('the primary did not answer');
        return text;
      },
      findRefused: (requestId) => ask({ about: 'refused', requestId }),
      answerWith(knowledge) {
        own = knowledge;
      },
    },
  };
}

/** When the primary has just ended, this process is about to. */
function tell(message: FromWorker): void {
  if (process.connected) process.send?.(message);
}
