import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import path from 'node:path';

/** The service as `npm start` runs it, on a database of its own. */
export async function startService({ root, dataDir }) {
  const child = spawn(process.execPath, [path.join(root, 'packages/service/dist/program/main.js')], {
    env: {
      PATH: process.env['PATH'],
      DATA_DIR: dataDir,
      PORT: '0',
      LOG_LEVEL: 'error',
      REDEEM_OPENS_PER_MINUTE: '100000',
    },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let said = '';
  child.stderr.on('data', (text) => {
    said += text;
  });
  for (;;) {
    const [, baseUrl] = /Interface\s+(http:\S+)\/openapi/.exec(said) ?? [];
    if (baseUrl && said.includes('demo-channel.json')) {
      const channel = JSON.parse(await readFile(path.join(dataDir, 'demo-channel.json'), 'utf8'));
      return { baseUrl, dataDir, channel, stop: () => end(child) };
    }
    if (child.exitCode !== null) throw new Error(`the service has ended: ${said}`);
    await Promise.race([once(child.stderr, 'data'), once(child, 'exit')]);
  }
}

export async function end(child) {
  if (child.exitCode !== null) return;
  child.kill('SIGTERM');
  await once(child, 'exit');
}
