import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { MAX_BODY_BYTES, PATH_PREFIX } from '@perennial/wire';
import { expect, it, onTestFinished } from 'vitest';
import { testService } from '../support/service.js';

/** The service reads everything that curl sends, because a client that is still writing would not see the refusal. */
it.each([
  ['that waits for 100 Continue', []],
  ['that does not', ['--header', 'Expect:']],
  ['that sends chunks', ['--header', 'Transfer-Encoding: chunked']],
])('400003 for a body that is too large: curl %s reads the answer', async (_what, more) => {
  const service = await testService();
  const folder = await mkdtemp(path.join(os.tmpdir(), 'perennial-body-'));
  onTestFinished(async () => {
    await service.close();
    await rm(folder, { recursive: true, force: true });
  });
  const large = JSON.stringify({ orderNo: 'x'.repeat(MAX_BODY_BYTES) });
  await writeFile(path.join(folder, 'body'), large);
  const channel = await service.channel();
  const headers = channel.signedHeaders('orders/query', Buffer.from(large), { token: await channel.getToken() });
  const { stdout } = await promisify(execFile)('curl', [
    ...['--silent', '--show-error', '--data-binary', `@${path.join(folder, 'body')}`],
    ...Object.entries(headers).flatMap(([name, value]) => ['--header', `${name}: ${value}`]),
    ...more,
    `${service.baseUrl}${PATH_PREFIX}orders/query`,
  ]);
  expect(JSON.parse(stdout).code).toBe('400003');
});
