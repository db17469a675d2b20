import { expect, it } from 'vitest';
import { KEY } from '../institution/support.js';
import { freePort } from '../support/free-port.js';
import { AGREEMENTS, BadBridge, RUNS, type Sin } from './bad-bridge.js';
import { type Checked, cardFile, checkBridge, restarter } from './support.js';

function checkSinful(...sins: readonly Sin[]): Promise<Checked> {
  const bridge = new BadBridge(KEY);
  for (const sin of sins) bridge.sins.add(sin);
  return check(bridge);
}

/** Runs check-bridge with an option for every rule, but with `--restart` only for some faults. */
async function check(bridge: BadBridge, ...more: readonly string[]): Promise<Checked> {
  const { sins } = bridge;
  await bridge.start();
  try {
    const port = await freePort();
    bridge.noticeUrl = `http://127.0.0.1:${port}/gateway/v1/notices/BAD`;
    const { good, retryable, final, ended, pending, foreign, cancelable } = AGREEMENTS;
    return await checkBridge(
      bridge.url,
      ...['--agreement', good, '--pending', pending, '--foreign', foreign, '--cancel-agreement', cancelable],
      ...['--declines', `RETRYABLE=${retryable}`, '--declines', `FINAL=${final}`],
      ...['--declines', `AGREEMENT_INVALID=${ended}`, '--listen', String(port)],
      ...['--card-file', await cardFile({ bankCode: 'ICBC' }), '--sms-code', '123456', '--wrong-sms-code', '000000'],
      // The seconds to wait for results and notices. Only a missing result or notice takes this long.
      ...['--wait', '3', ...more],
      // Restarts only where it matters, because the command is a new process, which takes longer than the rest.
      ...(sins.size === 0 || sins.has('forgets at a restart')
        ? ['--restart', await restarter(async () => bridge.restart())]
        : []),
    );
  } finally {
    await bridge.stop();
  }
}

it('a bridge without a fault keeps every rule, and nothing is left to refund', async () => {
  const { code, broken, untried, left, rules } = await checkSinful();
  expect({ code, broken, untried, left }).toEqual({ code: 0, broken: [], untried: [], left: [] });
  expect(rules.length).toBeGreaterThan(60);
});

it('a bridge that answers PENDING first keeps every rule too, whatever the result', async () => {
  const bridge = new BadBridge(KEY);
  bridge.answersLater = true;
  const { code, left, rules } = await check(bridge);
  expect(rules.filter(({ verdict }) => verdict !== 'holds')).toEqual([]);
  expect({ code, left }).toEqual({ code: 0, left: [] });
});

it('a bridge with another currency is not tested further, and nothing is debited', async () => {
  const bridge = new BadBridge(KEY);
  bridge.currency = 'EUR';
  const { code, broken, rules, left } = await check(bridge);
  expect({ code, broken, left }).toEqual({ code: 1, broken: ['currency-same'], left: [] });
  expect(rules.find(({ rule }) => rule === 'currency-same')?.why).toBe('the bridge has EUR, and --currency is CNY');
  expect(rules.find(({ rule }) => rule === 'debit-repeated')).toMatchObject({
    ...{ verdict: 'untried', why: 'the bridge has another currency' },
  });
  expect(await check(bridge, '--currency', 'eur')).toMatchObject({ code: 0, broken: [], untried: [] });
});

it('a bridge that predates currencies counts as CNY', async () => {
  const bridge = new BadBridge(KEY);
  bridge.isOlder = true;
  const checked = await check(bridge);
  expect(checked).toMatchObject({ code: 0, broken: [], untried: ['currency-same', 'currency-other'] });
  const inEuro = await check(bridge, '--currency', 'EUR');
  expect(inEuro).toMatchObject({ code: 1, broken: ['currency-same'], left: [] });
});

it.each(RUNS.map((run) => ({ names: Object.keys(run).join('; '), run })))('$names', async ({ run }) => {
  const { code, broken, untried, left } = await checkSinful(...(Object.keys(run) as Sin[]));
  expect(broken.toSorted()).toEqual(Object.values(run).flat().toSorted());
  expect(code).toBe(1);
  // The pending debit was tested by a query, even if no notice came.
  if ('sends no notice' in run) expect(untried).not.toContain('pending');
  // The report lists a debit that may still be at the institution: its answer was not usable, but the debit may have
  // been made.
  if ('signs no answer' in run) expect(left[0]).toMatchObject({ why: 'its outcome is unknown' });
});
