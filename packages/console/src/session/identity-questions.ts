type Answer = (given: boolean) => void;

/**
 * A question to the operator. A dialog listens for it and settles it. Requests that need the answer wait for it;
 * several requests share one answer.
 */
export interface Question {
  /** Registers the dialog and returns a function that unregisters it. */
  listen(listener: (isAsked: boolean) => void): () => void;
  /** Asks and waits. Resolves to false if the operator declines or no dialog listens. */
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

/** Asks the operator to confirm their identity before a sensitive action, for example one that moves money. */
export const identityQuestion = createQuestion();

/** Asks the operator to sign in again after their session has ended. */
export const signInQuestion = createQuestion();
