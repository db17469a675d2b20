/** Settings that this browser remembers. If the browser refuses to store them, each visit begins with the defaults. */
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
    // The browser refuses to store it: the setting lasts until the page is closed.
  }
}

export const settingKey = key;
