import { useEffect, useRef } from 'react';

/** Returns the element that opened the dialog. Instead of a menu item, which disappears, returns the menu's button. */
function findOpener(): HTMLElement | null {
  const pressed = document.activeElement as HTMLElement | null;
  const menu = pressed?.closest('[role="menu"]');
  return menu ? document.getElementById(menu.getAttribute('aria-labelledby') ?? '') : pressed;
}

/** The delay before the focus is checked: long enough for other code to move the focus after the dialog has closed. */
const LOOK_AFTER_MS = 30;

/**
 * Returns the focus to the element that opened a dialog. Mantine does this only for dialogs that stay mounted while
 * closed. Most dialogs here are unmounted when they close.
 */
export function useOpenerFocus(isOpen = true): void {
  const opener = useRef<HTMLElement | null>(null);
  const wasOpen = useRef(false);
  // The opener is read during rendering, because after rendering the focus is already inside the dialog.
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
