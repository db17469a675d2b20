import { describe, expect, it } from 'vitest';
import { attached, control, debitOf, ledgerOf } from './support.js';

describe('control and ledger', () => {
  it('do not exist unless asked for', async () => {
    const { institution } = await attached({ control: false });
    expect((await fetch(`${institution.url}/ledger`)).status).toBe(404);
    expect((await control(institution, { action: 'clear' })).status).toBe(404);
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
