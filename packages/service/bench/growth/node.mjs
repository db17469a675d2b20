// A process that serves requests without the engine and runs the console's search. The engine's work is measured in
// other rows.
import { search } from '../../dist/operator/search/search.js';
import { systemClock as clock } from '../../dist/platform/clock.js';
import { openDatabaseFromSettings } from '../../dist/platform/installation/open-database.js';
import { createLog } from '../../dist/platform/log/log.js';
import { readSettings } from '../../dist/platform/settings.js';
import { createService } from '../../dist/service.js';
import { answer } from '../renewals/answer.mjs';

/** Concurrent searches. */
const SEARCHING = 8;

let opened;
let service;

answer({
  async open({ url, dataDir }) {
    const settings = readSettings({ DATA_DIR: dataDir, DATABASE_URL: url });
    opened = await openDatabaseFromSettings(settings, { role: 'service', log: () => undefined });
    service = createService({
      database: opened.database,
      vault: opened.vault,
      clock,
      log: createLog('warn'),
      environment: settings.environment,
      publicUrl: () => 'http://127.0.0.1',
      trustedProxies: [],
      engine: false,
    });
    return service.server.listen({ host: '127.0.0.1', port: 0 });
  },
  /** Searches for each text once. Every text must be found. */
  async search({ texts }) {
    const operator = { ...opened, environment: 'sandbox', actor: 'bench', clock };
    const left = [...texts];
    const lane = async () => {
      for (let q = left.pop(); q !== undefined; q = left.pop()) {
        const found = await search(operator, { q }, 'support');
        if (!JSON.stringify(found).includes(q)) throw new Error(`${q} was not found`);
      }
    };
    await Promise.all(Array.from({ length: SEARCHING }, lane));
    return texts.length;
  },
  async close() {
    await service.stop();
    await opened.close?.();
  },
});
