import { now } from '../clock.ts';

/** What only a person does to a page. */
const SIGNS = ['pointerdown', 'pointermove', 'keydown', 'wheel', 'touchstart', 'focus'] as const;

/** For so long after the last sign somebody counts as being there. */
const ATTENDED_MS = 60_000;

let lastSignAt = now();

/** To be called once, when the page starts. */
export function watchForSigns(page: Pick<EventTarget, 'addEventListener'>): void {
  const note = () => {
    lastSignAt = now();
  };
  for (const sign of SIGNS) page.addEventListener(sign, note, { capture: true, passive: true });
}

/**
 * Whether nobody is there: what the page then asks for, it asks for by itself. The service does not let that keep a session
 * alive, so a page that was left open ends half an hour after its person has left.
 */
export const isUnattended = (): boolean => now() - lastSignAt > ATTENDED_MS;
