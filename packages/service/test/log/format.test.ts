import { describe, expect, it } from 'vitest';
import { createLog, type LogOptions } from '../../src/platform/log/log.js';

function written(options: LogOptions, write: (log: ReturnType<typeof createLog>) => void): string {
  const lines: string[] = [];
  const log = createLog('info', { write: (line) => void lines.push(line) }, options);
  write(log);
  return lines.join('');
}

describe('LOG_FORMAT=pretty', () => {
  it('is one readable line', () => {
    const line = written({ node: 'a-1', format: 'pretty' }, (log) => log.info({ code: '0', ms: 2.5 }, 'request'));
    expect(line).toMatch(/^\d\d:\d\d:\d\d\.\d{3} {2}INFO {3}request {2}code=0 {2}ms=2\.5\n$/);
  });

  it('shows the kind and the stack of an error, redacts as usual, and escapes control characters', () => {
    const text = written({ format: 'pretty' }, (log) =>
      log.error({ err: new TypeError('bad "sesame"'), token: 'sesame', appId: '\u001b[31mred\n' }, 'fault'),
    );
    expect(text).toMatch(/ERROR {2}fault {2}token=\[redacted\] .*TypeError: bad "…"\n +at .*format\.test/s);
    expect(text).not.toContain('sesame');
    expect(text).toContain('appId=\\u{1b}[31mred\\u{a}');
  });
});
