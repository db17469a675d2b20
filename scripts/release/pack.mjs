// node scripts/release/pack.mjs --out DIR: writes the published packages as DIR/NAME-VERSION.tgz, from this checkout.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { prepare } from '../prepare.mjs';

const { values } = parseArgs({ options: { out: { type: 'string' } } });
if (values.out === undefined) throw new Error('--out DIR is missing');
const out = path.resolve(values.out);
await prepare();
// Imported only here, because it reads what `prepare` installs.
const { PUBLISHED, pack, stage } = await import('./stage.mjs');
const folder = mkdtempSync(path.join(os.tmpdir(), 'perennial-pack-'));
try {
  mkdirSync(out, { recursive: true });
  for (const [name] of PUBLISHED) {
    await stage(name, path.join(folder, name));
    process.stdout.write(`${path.join(out, pack(path.join(folder, name), out))}\n`);
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
