import { useEffect, useRef } from 'react';

/** What was pressed last. An item goes with its menu, so for one of those it is the button of the menu. */
function findOpener(): HTMLElement | null {
  const pressed = document.activeElement as HTMLElement | null;
  const menu = pressed?.closest('[role="menu"]');
  return menu ? document.getElementById(menu.getAttribute('aria-labelledby') ?? '') : pressed;
}

/** After what else moves the focus when something closes. */
const LOOK_AFTER_MS = 30;

/**
 * Whoever closes a dialog with the keyboard goes on where it was opened. The dialogs of Mantine see to that only where they stay
 * in the page while they are closed, and most of ours do not.
 */
export function useOpenerFocus(isOpen = true): void {
  const opener = useRef<HTMLElement | null>(null);
  const wasOpen = useRef(false);
  // While it is rendered: once it is there, the focus is in it.
  if (isOpen && !wasOpen.current) opener.current = findOpener();
  wasOpen.current = isOpen;
  useEffect(() => {
    if (!isOpen) return;
    return () => {
      setTimeout(() => {
        const { activeElement, body } = document;
        if (activeElement === null || activeElement === body) opener.current?.focus({ preventScroll: true });
      }, LOOK_AFTER_MS);
    };
  }, [isOpen]);
}
