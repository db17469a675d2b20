import { beginSession } from '../dist/console/sessions/sign-in.js';
import { OPERATIONS } from '../dist/operations/table.js';
import { findPerson, insertPerson } from '../dist/operator/people/people-sql.js';
import { VIEWER } from './rows.mjs';

/** Creates an operator with the lowest role. Returns the cookie of a session and the paths to request. */
export async function createViewer({ database, vault }) {
  const name = 'bench-viewer';
  await insertPerson(database, { name, role: 'viewer', by: 'bench' });
  const visitor = { address: '127.0.0.1', userAgent: 'bench' };
  const deps = { database, vault, clock: { now: () => Date.now() } };
  const token = await beginSession(deps, await findPerson(database, name), visitor, { by: 'password' });
  // Files have no Content-Length, which the load generator needs.
  const gets = OPERATIONS.filter(({ method, path }) => method === 'GET' && !/csv|export/.test(path));
  const paths = gets.map(({ path }) => `/console/api${path.replaceAll(/\{\w+\}/g, '1')}`);
  return { cookie: `perennial=${token}`, paths };
}

const REQUESTS = 2000;

/** Returns the service as a target beside the viewer's load, which has its own process. */
export async function besideViewer({ running, channel, baseUrl }, service) {
  const load = running.startLoad();
  await load('prepare', { row: VIEWER.name, channel, count: REQUESTS });
  const port = Number(new URL(baseUrl).port);
  const measure = async (row, seconds) => {
    const viewing = load('run', { port, connections: VIEWER.connections, seconds: seconds + 1, again: true });
    const [measured] = await Promise.all([service.measure(row, seconds), viewing]);
    return measured;
  };
  return { warm: measure, measure };
}

/** Returns the service without the viewer's load. Prepares new requests, because each is accepted once. */
export function quietTarget({ load, channel }, service) {
  const measure = async (row, seconds) => {
    const measured = await service.measure(row, seconds);
    await load('prepare', { row: row.name, channel, count: Math.ceil(measured.rate * seconds * 2) + 1000 });
    return measured;
  };
  return { name: 'quiet', measure };
}
