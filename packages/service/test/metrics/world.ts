import { importCodes, setFulfilment } from '../../src/operator/provisioning/benefits.js';
import { storeBackup } from '../../src/platform/installation/backups-sql.js';
import type { ServiceDeps } from '../../src/service.js';
import { type Stage, stage } from '../orders/support.js';
import { until } from '../support/processes.js';
import { type Metric, sampleValue, scrape } from '../support/scrape.js';

/** A node that also does what no request asks for, with three codes of a benefit in its pool. */
export interface SeenNode extends Stage {
  scrape(): Promise<Map<string, Metric>>;
  /** Comes back when a reading says so. */
  reads(name: string, value: number, labels?: Record<string, string>): Promise<void>;
}

export async function seenNode(more: Partial<ServiceDeps> = {}): Promise<SeenNode> {
  const on = await stage({ engine: true, testLimits: { readingSeconds: 0.05 }, ...more });
  const { operator, clock, baseUrl } = on.service;
  const node: SeenNode = {
    ...on,
    scrape: () => scrape(baseUrl),
    async reads(name, value, labels) {
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
