import os from 'node:os';
import { describe, expect, it } from 'vitest';
import { isLoopback } from '../../src/institution/control.js';
import { attached, control, debitOf, ledgerOf } from './support.js';

/** An address of this machine that is not its loopback, if it has one. */
function outsideAddress(): string | undefined {
  const all = Object.values(os.networkInterfaces()).flatMap((list) => list ?? []);
  return all.find(({ family, internal }) => family === 'IPv4' && !internal)?.address;
}

describe('control and ledger', () => {
  it('do not exist unless asked for', async () => {
    const { institution } = await attached({ control: false });
    expect((await fetch(`${institution.url}/ledger`)).status).toBe(404);
    expect((await control(institution, { action: 'clear' })).status).toBe(404);
  });

  it.skipIf(outsideAddress() === undefined)('are refused from outside, while the bridge is served', async () => {
    const { institution, gateway } = await attached({ host: '0.0.0.0' });
    const { port } = new URL(institution.url);
    const outside = { url: `http://${outsideAddress()}:${port}` };
    expect((await fetch(`${outside.url}/ledger`)).status).toBe(403);
    expect((await control(outside, { action: 'set', fault: 'decline-final' })).status).toBe(403);
    expect((await fetch(`${outside.url}/debit`, { method: 'POST' })).status).toBe(401);
    expect(await gateway.debit(debitOf('1'))).toMatchObject({ kind: 'success' });
    expect((await ledgerOf({ url: `http://127.0.0.1:${port}` })).debits).toHaveLength(1);
  });

  it.each([
    ['127.0.0.1', true],
    ['127.8.9.10', true],
    ['::1', true],
    ['::ffff:127.0.0.1', true],
    ['10.0.0.1', false],
    ['::ffff:10.0.0.1', false],
    ['128.0.0.1', false],
    ['fe80::1', false],
    ['', false],
    [undefined, false],
  ])('take %s for this machine: %s', (address, expected) => {
    expect(isLoopback(address)).toBe(expected);
  });

  it.each(['x-forwarded-for', 'forwarded', 'origin'])('are refused to whoever comes with %s', async (header) => {
    const { institution } = await attached();
    expect((await fetch(`${institution.url}/ledger`, { headers: { [header]: 'x' } })).status).toBe(403);
  });

  it.each([
    [{}, 'action'],
    [{ action: 'set', fault: 'no-such' }, 'fault'],
    [{ action: 'set', fault: 'delay', operation: 'no-such' }, 'operation'],
    [{ action: 'set', fault: 'decline-final', operation: 'refund' }, 'debit alone'],
    [{ action: 'set', fault: 'delay', times: 0 }, 'times'],
    [{ action: 'set', fault: 'delay', tail: 4 }, 'tail'],
    [{ action: 'set', fault: 'delay', number: 4 }, 'number'],
    [{ action: 'settle' }, 'attemptNo'],
    [{ action: 'end-agreement' }, 'institutionNo'],
    [{ action: 'delays', delays: { settleMs: -1 } }, 'delays'],
    [{ action: 'delays', delays: { naps: 1 } }, 'delays'],
  ])('say what is wrong with %j', async (body, expected) => {
    const { institution } = await attached();
    const response = await control(institution, body);
    expect(response.status).toBe(400);
    expect(JSON.stringify(await response.json())).toContain(expected);
  });

  it('end an agreement', async () => {
    const { institution, gateway } = await attached();
    await control(institution, { action: 'end-agreement', institutionNo: 'SHARED-8888' });
    expect(await gateway.debit(debitOf('1'))).toMatchObject({ kind: 'declined', decline: 'agreement-invalid' });
    expect((await ledgerOf(institution)).canceledAgreements).toEqual(['SHARED-8888']);
  });
});
