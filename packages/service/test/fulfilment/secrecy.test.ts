import { expect, it } from 'vitest';
import { setFulfilment } from '../../src/operator/provisioning/benefits.js';
import { dump } from '../operator/support.js';
import { ofFile } from '../orders/stage-of-file.js';
import { localSupplier, supplied } from './suppliers.js';
import { claimStage } from './support.js';

const on = ofFile(claimStage);

it('no code is readable in the database or the log, from its import or creation on', async () => {
  const supplier = await localSupplier(on.service.clock);
  const codes: (string | undefined)[] = ['POOL-SECRET-1', 'POOL-SECRET-2'];
  const claimOne = async (position: number) => {
    const benefit = await on.benefit(position);
    await on.node.claim(on.node.channel, benefit);
    codes.push(await on.codeOf(benefit));
    return benefit;
  };

  await claimOne(1);
  await setFulfilment(on.operator, { benefitCode: 'COUPON', kind: 'pool' });
  await on.import('COUPON', 'POOL-SECRET-1\nPOOL-SECRET-2\n');
  await expect(on.import('COUPON', 'POOL-SECRET-3\u0000\n')).rejects.toThrow(/^(?!.*SECRET)/);
  await claimOne(2);
  await supplied(on.operator, 'VIP_PASS', supplier.url);
  await claimOne(1);
  for (const fault of ['answer-lost', 'bad-code', 'wrong-claim', 'refuse', 'oversized-answer']) {
    await supplier.fault(fault, { times: 1 });
    await on.node.claim(on.node.channel, await on.benefit(1));
  }
  await on.database.query('update claims set ask_at = now() where ask_at is not null');
  await on.node.ask('VIP_PASS');
  codes.push(...(await supplier.handedOut()).map(({ code }) => code));

  expect(codes).toHaveLength(2 + 3 + 6);
  const everything = (await dump(on.database)) + on.log.text();
  expect(on.log.text()).toContain('no answer of the supplier');
  for (const code of codes) {
    expect(code).toBeDefined();
    expect(everything).not.toContain(code);
    expect(everything).not.toContain(
      Buffer.from(code ?? '')
        .toString('base64')
        .replace(/=+$/, ''),
    );
  }
});
