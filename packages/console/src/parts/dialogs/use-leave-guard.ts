import { useBlocker } from '@tanstack/react-router';
import { useRef, useState } from 'react';

/**
 * While mounted, blocks Back and closing the tab, for content that is shown only once. `isHeld` becomes true when the
 * operator tries to leave. `release` allows leaving.
 */
export function useLeaveGuard(): { readonly isHeld: boolean; release(): void } {
  const isReleased = useRef(false);
  const [isHeld, setHeld] = useState(false);
  useBlocker({
    shouldBlockFn: () => {
      setHeld(!isReleased.current);
      return !isReleased.current;
    },
    enableBeforeUnload: () => !isReleased.current,
  });
  return {
    isHeld,
    release() {
      isReleased.current = true;
    },
  };
}
