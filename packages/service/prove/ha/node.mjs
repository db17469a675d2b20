// A node of the service, put together as main.ts does it, with one difference: events may go to this machine although the
// database is not an embedded one. That is decided here, by what is handed to createService, and there is no setting for it.
import { systemClock } from '../../dist/platform/clock.js';
import { openDatabaseFromSettings } from '../../dist/platform/installation/open-database.js';
import { createLog } from '../../dist/platform/log/log.js';
import { readSettings } from '../../dist/platform/settings.js';
import { createService } from '../../dist/service.js';

const settings = readSettings();
const log = createLog(settings.logLevel);
// Nothing has to be saved here: that is the point.
for (const signal of ['SIGTERM', 'disconnect']) process.once(signal, () => process.exit(0));

const opened = await openDatabaseFromSettings(settings, {
  role: 'service',
  log: (line) => log.warn(line),
  onIdleError: (err) => log.warn({ err }, 'a database connection broke'),
});
const service = createService({
  ...settings,
  ...opened,
  clock: systemClock,
  log,
  publicUrl: () => settings.publicUrl,
  localCallbacks: true,
});
await service.server.listen({ host: settings.host, port: settings.port });
process.send({ ready: true });
