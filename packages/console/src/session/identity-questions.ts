type Answer = (given: boolean) => void;

/**
 * A question to the person at the page. Requests that need the answer wait for it; a dialog listens and settles it. Several that ask at
 * the same time wait for one answer.
 */
export interface Question {
  /** Returns what ends the listening. */
  listen(listener: (isAsked: boolean) => void): () => void;
  /** False if the person would rather not, or if no dialog listens. */
  ask(): Promise<boolean>;
  settle(given: boolean): void;
}

function createQuestion(): Question {
  let waiting: Answer[] = [];
  let show: ((isAsked: boolean) => void) | undefined;
  const settle = (given: boolean) => {
    const settled = waiting;
    waiting = [];
    show?.(false);
    for (const answer of settled) answer(given);
  };
  return {
    listen(listener) {
      show = listener;
      return () => {
        settle(false);
        show = undefined;
      };
    },
    ask: () =>
      new Promise((answer) => {
        if (!show) return answer(false);
        waiting.push(answer);
        show(true);
      }),
    settle,
  };
}

/** Who somebody is, before what moves money or shows a secret. */
export const identityQuestion = createQuestion();

/** Who somebody is, after their session has ended. */
export const signInQuestion = createQuestion();
