/** Questions that other processes were asked, until they are answered, or for so long: such a process may hang, or be gone. */
export function createAnswersInTime(withinMs: number) {
  const waiting = new Map<number, (answer: unknown) => void>();
  let last = 0;
  return {
    /** Undefined if there was no answer in time. */
    ask(send: (id: number) => void): Promise<unknown> {
      last += 1;
      const id = last;
      return new Promise((resolve) => {
        const end = (answer: unknown) => {
          clearTimeout(timer);
          waiting.delete(id);
          resolve(answer);
        };
        const timer = setTimeout(end, withinMs, undefined);
        waiting.set(id, end);
        send(id);
      });
    },
    settle(id: number, answer: unknown): void {
      waiting.get(id)?.(answer);
    },
  };
}
