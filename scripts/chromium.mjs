// The browser that the tests drive: the system's Chromium, installed from Debian when it is missing.
import { findProgram, install, isProgram } from './debian.mjs';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
const ON_MACOS = '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome';

function found() {
  const named = [process.env['CHROMIUM'], ON_MACOS].find((place) => place !== undefined && isProgram(place));
  return named ?? findProgram(...NAMES);
}

/** Its path. Without it the browser tests cannot run, and then the tests have not passed. */
export function chromium() {
  const there = found();
  if (there !== undefined) return there;
  install('chromium');
  const now = found();
  if (now === undefined) {
    process.stderr.write('perennial: the browser tests need Chromium: install it, or set CHROMIUM to its path\n');
    process.exit(1);
  }
  return now;
}
