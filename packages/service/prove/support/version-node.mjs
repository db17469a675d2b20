// A node of some version of the service, from the compiled code of its checkout: version-node.mjs ROOT. Its events may go to
// this machine. Settings come from the environment as usual.
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const root = process.argv[2];
const load = (file) => import(pathToFileURL(path.join(root, 'packages/service/dist', file)).href);
const { systemClock } = await load('clock.js');
const { openDatabaseFromSettings } = await load('db/open.js');
const { createLog } = await load('log.js');
const { provisionDemo } = await load('operator/demo.js');
const { createService } = await load('service.js');
const { readSettings } = await load('settings.js');

const settings = readSettings();
const log = createLog(settings.logLevel);
const opened = await openDatabaseFromSettings(settings, { role: 'service', log: () => {} });
const baseUrl = `http://127.0.0.1:${settings.port}`;
const service = createService({
  ...settings,
  ...opened,
  clock: systemClock,
  log,
  publicUrl: () => 'https://pay.example',
  localCallbacks: true,
});
const operator = { ...opened, environment: settings.environment, actor: 'prove' };
await provisionDemo(operator, { dataDir: settings.dataDir, baseUrl });
await service.server.listen({ host: '127.0.0.1', port: settings.port });
process.stdout.write(`${JSON.stringify({ ready: '0', port: settings.port })}\n`);
process.once('SIGTERM', async () => {
  await service.stop();
  await opened.close();
  process.exit(0);
});
