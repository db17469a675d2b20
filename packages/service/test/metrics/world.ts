import { importCodes, setFulfilment } from '../../src/operator/provisioning/benefits.js';
import { storeBackup } from '../../src/platform/installation/backups-sql.js';
import type { ServiceDeps } from '../../src/service.js';
import { stage } from '../orders/support.js';
import { until } from '../support/processes.js';
import { sampleValue, scrape } from '../support/scrape.js';

/** Starts a node that also runs the engine, with three codes of a benefit in its pool. */
export async function seenNode(more: Partial<ServiceDeps> = {}) {
  const on = await stage({ engine: true, testLimits: { readingSeconds: 0.05 }, ...more });
  const { operator, clock, baseUrl } = on.service;
  const node = {
    ...on,
    scrape: () => scrape(baseUrl),
    /** Resolves when the metric has this value. */
    async reads(name: string, value: number, labels?: Record<string, string>) {
      await until(`${name} is ${value}`, async () => sampleValue(await scrape(baseUrl), name, labels) === value);
    },
  };
  await setFulfilment(operator, { benefitCode: 'COUPON', kind: 'pool' });
  async function* file() {
    yield Buffer.from('one\ntwo\nthree\n');
  }
  await importCodes({ ...operator, clock }, { benefitCode: 'COUPON', file: file() });
  await storeBackup(on.service.fresh.database);
  await on.channel.call('products/list', {});
  await node.reads('perennial_http_requests_total', 1, { endpoint: '/openapi/v1/products/list', code: '0' });
  await node.reads('perennial_benefit_codes_left', 3, { benefit: 'COUPON' });
  return node;
}

export type SeenNode = Awaited<ReturnType<typeof seenNode>>;
