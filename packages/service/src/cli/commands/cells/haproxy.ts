import { connect } from 'node:net';
import { text as readAll } from 'node:stream/consumers';
import { OperatorError } from '../../../operator/operator.js';

/** Sends one command to haproxy's runtime socket, a path or host:port. Throws if haproxy answers anything unexpected. */
export async function askHaproxy(socket: string, command: string, expected = /^\s*$/): Promise<string> {
  const [, host, port] = /^([^/]+):(\d{1,5})$/.exec(socket) ?? [];
  const connection = host === undefined ? connect(socket) : connect(Number(port), host);
  connection.setTimeout(5_000, () => connection.destroy(new Error('no answer within 5 s')));
  connection.end(`${command}\n`);
  const answer = await readAll(connection).catch((error: Error) => {
    throw new OperatorError(`haproxy cannot be reached over ${socket}: ${error.message}`);
  });
  if (expected.test(answer)) return answer.trim();
  throw new OperatorError(`haproxy refused "${command.split('\n')[0]}": ${answer.trim()}`);
}

/** Replaces a map in one step, so that no request finds half of it. Needs haproxy 2.4. */
export async function replaceMap(socket: string, file: string, lines: readonly string[]): Promise<void> {
  const prepared = await askHaproxy(socket, `prepare map ${file}`, /New version created: (\d+)/);
  const version = prepared.replace(/^.*New version created: /s, '');
  // A few hundred lines at a time, because haproxy's buffer has 16 KB.
  for (let at = 0; at < lines.length; at += 100) {
    await askHaproxy(socket, `add map @${version} ${file} <<\n${lines.slice(at, at + 100).join('\n')}\n`);
  }
  await askHaproxy(socket, `commit map @${version} ${file}`);
}
