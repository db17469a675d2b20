import type { Logger } from 'pino';
import { createLog } from '../../src/platform/log/log.js';

export interface CapturedLog {
  readonly log: Logger;
  text(): string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into lines freely
  lines(): any[];
}

/** Returns the service's log at trace level, kept in memory. */
export function capturedLog(): CapturedLog {
  let written = '';
  const log = createLog('trace', {
    write(line) {
      written += line;
    },
  });
  return {
    log,
    text: () => written,
    lines: () =>
      written
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line)),
  };
}
