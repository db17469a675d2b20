// Installs the packed service as the image and the Debian package contain it.
import { mkdirSync } from 'node:fs';
import { run, runNpm } from '../run.mjs';

/** Unpacks the file perennial-server-VERSION.tgz in a folder, with the pinned versions of its dependencies. */
export function installServer(tarball, folder) {
  mkdirSync(folder, { recursive: true });
  run('tar', ['-xzf', tarball, '--strip-components=1', '--no-same-owner', '-C', folder], 'tar');
  // Leaves out the embedded database, which is optional: an installation has a DATABASE_URL.
  runNpm(['ci', '--omit=dev', '--omit=optional', '--loglevel=error'], 'npm ci', { cwd: folder });
}
