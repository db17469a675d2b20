import { useEffect, useId, useSyncExternalStore } from 'react';

interface OpenDialog {
  readonly id: string;
  readonly level: number;
}

let open: readonly OpenDialog[] = [];
const listeners = new Set<() => void>();

function change(to: readonly OpenDialog[]): void {
  open = to;
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

/** Returns the id of the topmost dialog: of the dialogs on the highest level, the one opened last. */
const topmost = () =>
  open.reduce<OpenDialog | undefined>((top, one) => (top && top.level > one.level ? top : one), undefined)?.id;

/**
 * Returns whether Escape should close this dialog. Without this check, Mantine would also close the dialogs behind it.
 */
export function useIsTopmost(isOpen: boolean, level: number): boolean {
  const id = useId();
  useEffect(() => {
    if (!isOpen) return undefined;
    change([...open, { id, level }]);
    return () => change(open.filter((one) => one.id !== id));
  }, [isOpen, id, level]);
  return useSyncExternalStore(subscribe, topmost) === id;
}
