import { pino } from 'pino';
import { expect, it } from 'vitest';
import { askAboutPendingRefunds } from '../../src/engine/recovery/refunds.js';
import { refundStage } from './support.js';

it('refunds that hang at one institution hold up none of another', async () => {
  const stage = await refundStage();
  const { database } = stage.service.fresh;
  stage.bank.onRefund = async () => ({ kind: 'unknown' });
  const orderNo = await stage.paidOrder();
  const other = await stage.paidOrder();
  for (let n = 0; n < 65; n += 1) await stage.refund({ orderNo, cycleNo: 1, amountCent: 1 });
  await stage.refund({ orderNo: other, cycleNo: 1, amountCent: 100 });
  await database.query(`update refunds set payment_channel_code = 'OTHER' where order_no = $1`, [other]);
  await database.query('update refunds set ask_at = now()');

  // Nobody answers a question about the first institution's, and each is given up only after its deadline.
  let hanging = 0;
  let answer = () => {};
  const silence = new Promise<void>((resolve) => {
    answer = resolve;
  });
  stage.institution.queryRefund = async (request) => {
    if (!request.refundNo.startsWith(`R${orderNo}`)) return stage.bank.onQuery(request);
    hanging += 1;
    await silence;
    hanging -= 1;
    return { kind: 'unknown' };
  };
  stage.bank.onRefund = async (request) => stage.bank.book(request);
  const deps = {
    database,
    gateways: stage.operator.gateways,
    clock: stage.service.clock,
    log: pino({ level: 'silent' }),
  };
  const [usual] = await database.query<{ code: string }>(
    'select payment_channel_code as code from refunds where order_no = $1 limit 1',
    [orderNo],
  );
  let isStopping = false;
  const first = askAboutPendingRefunds({ ...deps, stopping: () => isStopping }, usual?.code);
  expect(await askAboutPendingRefunds(deps, 'OTHER')).toBe(1);
  expect((await stage.queryPeriod(other)).refundAmountCent).toBe(100);
  expect(hanging).toBe(64);

  // Told to stop, it leases none of what is left.
  isStopping = true;
  answer();
  expect(await first).toBe(64);
  await stage.service.close();
});
