import pg from 'pg';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createThrottledLines } from '../../src/http/limits/throttled-lines.js';
import { DatabaseUnresponsive, HeldUp, Unavailable } from '../../src/platform/db/database.js';
import { capturedLog } from '../support/captured-log.js';

const away = () => new Unavailable('database unavailable: ECONNREFUSED', { cause: new Error('ECONNREFUSED') });

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe('lines with one cause', () => {
  it('are one at the start, one a minute with the count, and one at the end', async () => {
    const { log, lines } = capturedLog();
    for (let second = 0; second < 150; second += 1) {
      log.warn({ err: away(), job: 'billing' }, 'a background job failed and will be run again');
      log.error({ err: away(), requestId: `r-${second}` }, 'fault');
      await vi.advanceTimersByTimeAsync(1_000);
    }
    await vi.advanceTimersByTimeAsync(120_000);
    const cause = 'the database is away';
    expect(lines()).toMatchObject([
      { level: 'warn', cause, job: 'billing', err: { message: 'database unavailable: ECONNREFUSED' } },
      { level: 'warn', cause, msg: 'still failing', times: 120, seconds: 60 },
      { level: 'warn', cause, msg: 'still failing', times: 240, seconds: 120 },
      { level: 'warn', cause, msg: 'recovered', times: 300, seconds: 149 },
    ]);
    log.error({ err: away(), requestId: 'later' }, 'fault');
    expect(lines().at(-1)).toMatchObject({ msg: 'fault', requestId: 'later', cause });
  });

  it('are counted separately by cause and kind of error', () => {
    const { log, lines } = capturedLog();
    for (let n = 0; n < 10; n += 1) {
      log.warn({ cause: 'bridge at http://a', why: 'ECONNRESET' }, 'no answer');
      log.warn({ cause: 'bridge at http://b', why: 'ECONNRESET' }, 'no answer');
      log.warn({ cause: 'job billing', err: new TypeError('x') }, 'a job failed');
      log.warn({ cause: 'job billing', err: Object.assign(new Error('x'), { code: '42P01' }) }, 'a job failed');
    }
    expect(lines().map(({ cause }) => cause)).toEqual([
      'bridge at http://a',
      'bridge at http://b',
      'job billing: TypeError',
      'job billing: 42P01',
    ]);
  });

  it('an unresponsive database has the same cause as an unreachable one', () => {
    const { log, lines } = capturedLog();
    for (let n = 0; n < 10; n += 1) {
      log.error({ err: new DatabaseUnresponsive(), requestId: `r-${n}` }, 'fault');
      log.warn(
        { err: n % 2 === 0 ? new DatabaseUnresponsive() : away(), cause: `job ${n}` },
        'a background job failed',
      );
    }
    expect(lines()).toMatchObject([{ msg: 'fault', requestId: 'r-0', cause: 'the database is away' }]);
  });

  it('problems that an operator must repair are logged besides an outage', () => {
    const { log, lines } = capturedLog();
    const refused = (code: string) =>
      new Unavailable(code, { cause: Object.assign(new pg.DatabaseError('no', 0, 'error'), { code }) });
    for (const err of [away(), refused('57P01'), refused('25006'), refused('42501'), refused('25006')]) {
      log.error({ err }, 'fault');
    }
    const cause = 'the database is away';
    expect(lines().map((line) => line.cause)).toEqual([cause, `${cause}: 25006`, `${cause}: 42501`]);
  });

  it('other faults have a line each, with their request id', () => {
    const { log, lines } = capturedLog();
    const faults = [new Error('a bug'), new HeldUp('55P03', { cause: new Error() }), new Unavailable('no word')];
    for (const [n, err] of [...faults, ...faults].entries()) log.error({ err, requestId: `r-${n}` }, 'fault');
    expect(lines().map(({ requestId }) => requestId)).toEqual(['r-0', 'r-1', 'r-2', 'r-3', 'r-4', 'r-5']);
  });

  it('summaries contain no secrets either', async () => {
    const { log, text } = capturedLog();
    for (let n = 0; n < 3; n += 1) log.warn({ cause: 'x', token: 'sesame', err: new Error('"sesame"') }, 'no answer');
    await vi.advanceTimersByTimeAsync(120_000);
    expect(text()).not.toContain('sesame');
    expect(text()).toContain('recovered');
  });
});

describe('lines that are held back', () => {
  function noting() {
    const written: string[] = [];
    const held = createThrottledLines();
    const line = (who: string) =>
      held.write(
        who,
        () => written.push(who),
        (more) => written.push(`${who}: ${more} more`),
      );
    return { written, line };
  }

  it('are counted, and the count is written at the end of the minute', () => {
    const { written, line } = noting();
    for (const who of ['a', 'a', 'b', 'a']) line(who);
    expect(written).toEqual(['a', 'b']);
    vi.advanceTimersByTime(60_000);
    expect(written).toEqual(['a', 'b', 'a: 2 more']);
    line('b');
    expect(written).toEqual(['a', 'b', 'a: 2 more', 'b']);
  });

  it('of more than a thousand clients in a minute share one', () => {
    const { written, line } = noting();
    for (let n = 0; n < 2_000; n += 1) line(String(n));
    expect(written).toHaveLength(1_001);
  });
});
