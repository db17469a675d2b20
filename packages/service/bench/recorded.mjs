import { createLog } from '../dist/platform/log/log.js';
import { createService } from '../dist/service.js';
import { send, signedRequest } from './signed.mjs';

/**
 * Sends two requests of a row through the service's own code in this process. The first request fills the node's caches
 * (channel, product, order numbers). Returns the second request with its statements and their values, so that the
 * reference sends exactly what the service sends.
 */
export async function recordRequest({ row, channel, beside }) {
  const statements = [];
  const service = createService({
    database: recording(beside.database, statements),
    vault: beside.vault,
    clock: { now: Date.now },
    log: createLog('silent'),
    environment: beside.operator.environment,
    publicUrl: () => 'http://127.0.0.1',
    trustedProxies: [],
    engine: false,
  });
  try {
    const baseUrl = await service.server.listen({ host: '127.0.0.1', port: 0 });
    await send(baseUrl, signedRequest(row, channel));
    statements.length = 0;
    const request = signedRequest(row, channel);
    const { data } = JSON.parse(await send(baseUrl, request));
    return { request, data, statements };
  } finally {
    await service.stop();
  }
}

/** Returns the database with a record of all its statements. */
function recording(database, statements) {
  const noting = (queryable) => (statement, values) => {
    statements.push({ text: typeof statement === 'string' ? statement : statement.text, values: values ?? [] });
    return queryable.query(statement, values);
  };
  return {
    query: noting(database),
    async transaction(work) {
      statements.push({ text: 'begin', values: [] });
      const result = await database.transaction((tx) => work({ query: noting(tx) }));
      statements.push({ text: 'commit', values: [] });
      return result;
    },
    get connections() {
      return database.connections;
    },
    close: async () => undefined,
  };
}
