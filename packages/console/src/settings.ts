/** What this browser remembers of a person's taste. A browser may refuse to: then each visit begins anew. */
type Setting = 'language' | 'color-scheme';
const key = (name: Setting) => `perennial-console-${name}`;

export function readSetting(name: Setting): string | null {
  try {
    return localStorage.getItem(key(name));
  } catch {
    return null;
  }
}

export function writeSetting(name: Setting, value: string): void {
  try {
    localStorage.setItem(key(name), value);
  } catch {
    // Refused: it holds until the page is closed.
  }
}

export const settingKey = key;
