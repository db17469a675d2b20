/**
 * The question who somebody is. Whatever asks for a proof waits here; the dialog listens and settles it. Several that ask at
 * the same time wait for one answer.
 */
type Settle = (given: boolean) => void;

let waiting: Settle[] = [];
let show: (asked: boolean) => void = () => undefined;

export const listenForProof = (listener: (asked: boolean) => void): (() => void) => {
  show = listener;
  return () => {
    show = () => undefined;
  };
};

export function askForProof(): Promise<boolean> {
  return new Promise((settle) => {
    waiting.push(settle);
    show(true);
  });
}

export function settleProof(given: boolean): void {
  const settled = waiting;
  waiting = [];
  show(false);
  for (const settle of settled) settle(given);
}
