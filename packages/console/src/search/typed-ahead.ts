/** What was typed before the search field existed. */
export interface TypedAhead {
  readonly text: string;
  /** True if Enter was the last key: the first result is then opened as soon as it is found. */
  readonly isEntered: boolean;
}

export const NOTHING_TYPED: TypedAhead = { text: '', isEntered: false };

type Key = Pick<KeyboardEvent, 'key' | 'ctrlKey' | 'metaKey' | 'altKey' | 'isComposing'>;

/** Adds a key to what was typed before. Returns undefined if the key types nothing, as a shortcut does. */
export function typeAhead(before: TypedAhead, { key, ctrlKey, metaKey, altKey, isComposing }: Key) {
  if (ctrlKey || metaKey || altKey || isComposing) return undefined;
  if (key === 'Enter') return { ...before, isEntered: true };
  if (key === 'Backspace') return { text: [...before.text].slice(0, -1).join(''), isEntered: false };
  return [...key].length === 1 ? { text: before.text + key, isEntered: false } : undefined;
}

/** Buffers the keys that are typed between the search shortcut and the focus of the search field. */
export interface KeyKeeper {
  /** Starts buffering. Calls `onEscape` if Escape ends it. */
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
