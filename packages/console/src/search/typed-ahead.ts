/** What was typed before there was a field to type into. */
export interface TypedAhead {
  readonly text: string;
  /** Enter came last: what the text finds is opened once it is found. */
  readonly isEntered: boolean;
}

export const NOTHING_TYPED: TypedAhead = { text: '', isEntered: false };

type Key = Pick<KeyboardEvent, 'key' | 'ctrlKey' | 'metaKey' | 'altKey' | 'isComposing'>;

/** What is typed after one more key. Undefined when the key is none of the text: shortcuts are left to whoever they are for. */
export function typeAhead(before: TypedAhead, { key, ctrlKey, metaKey, altKey, isComposing }: Key) {
  if (ctrlKey || metaKey || altKey || isComposing) return undefined;
  if (key === 'Enter') return { ...before, isEntered: true };
  if (key === 'Backspace') return { text: [...before.text].slice(0, -1).join(''), isEntered: false };
  return [...key].length === 1 ? { text: before.text + key, isEntered: false } : undefined;
}

/** Keeps what is typed from the press that asks for the search until its field has the focus, however long its files take. */
export interface KeyKeeper {
  /** Escape ends it, and is told. */
  begin(onEscape: () => void): void;
  end(): TypedAhead;
}

export function createKeyKeeper(): KeyKeeper {
  let typed = NOTHING_TYPED;
  let stop: (() => void) | undefined;
  const end = () => {
    stop?.();
    stop = undefined;
    const kept = typed;
    typed = NOTHING_TYPED;
    return kept;
  };
  return {
    begin(onEscape) {
      if (stop) return;
      const keep = (event: KeyboardEvent) => {
        if (event.key === 'Escape') {
          end();
          return onEscape();
        }
        const after = typeAhead(typed, event);
        if (!after) return;
        typed = after;
        event.preventDefault();
        event.stopPropagation();
      };
      addEventListener('keydown', keep, { capture: true });
      stop = () => removeEventListener('keydown', keep, { capture: true });
    },
    end,
  };
}
