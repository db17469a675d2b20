import { useBlocker } from '@tanstack/react-router';
import { useRef, useState } from 'react';

/**
 * Keeps the browser's Back button and a closed tab from dropping what is shown only once, as long as the component is there. `isHeld`:
 * somebody has tried to leave. `release` lets them go.
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
