import { spawn } from 'node:child_process';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, it } from 'vitest';
import { packageRoot } from '../support/processes.js';
import { type ReceiverAnswer, signedPush, startReceiver } from './receiver.js';

const SECRET = Buffer.alloc(32, 7).toString('base64');

/** A program that sends one push and closes the client. */
const PROGRAM = `
  const { createPushClient } = await import(process.argv[1]);
  const sender = createPushClient({ allowLocalhost: true, deadlineMs: Number(process.argv[3]) });
  const { outcome } = await sender.push(process.argv[2], () => JSON.parse(process.argv[4]));
  sender.close();
  console.log(outcome);
`;

it.each<[ReceiverAnswer, number, string]>([
  ['accept', 5_000, 'ACCEPTED'],
  ['hang', 1_000, 'TIMEOUT'],
  ['trickle', 1_000, 'TIMEOUT'],
  ['huge', 5_000, 'REFUSED'],
  ['reset', 5_000, 'UNREACHABLE'],
])(
  'a program exits after it has pushed to a receiver that does "%s" and closed the client',
  async (answer, deadlineMs, outcome) => {
    const receiver = await startReceiver({ secrets: { app: SECRET }, answer });
    const module = pathToFileURL(path.join(packageRoot, 'dist/delivery/transport/push-client.js')).href;
    const args = [module, receiver.url, String(deadlineMs), JSON.stringify(signedPush('app', SECRET))];
    const program = spawn(process.execPath, ['--input-type=module', '-e', PROGRAM, ...args]);
    let written = '';
    program.stdout.on('data', (text) => (written += text));
    program.stderr.on('data', (text) => (written += text));
    const code = await new Promise((resolve) => program.once('close', resolve));
    expect([code, written]).toEqual([0, `${outcome}\n`]);
    await receiver.close();
  },
);
