import { useEffect, useRef } from 'react';

/** The element clicked last. For a menu item it is the menu's button, because the item disappears with its menu. */
function findOpener(): HTMLElement | null {
  const pressed = document.activeElement as HTMLElement | null;
  const menu = pressed?.closest('[role="menu"]');
  return menu ? document.getElementById(menu.getAttribute('aria-labelledby') ?? '') : pressed;
}

/** Runs after other code that moves the focus on closing. */
const LOOK_AFTER_MS = 30;

/**
 * Returns the focus to the element that opened a dialog. Mantine does so only for dialogs that stay mounted while
 * closed, and most of ours do not.
 */
export function useOpenerFocus(isOpen = true): void {
  const opener = useRef<HTMLElement | null>(null);
  const wasOpen = useRef(false);
  // Read during rendering, because afterwards the focus is inside the dialog.
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
