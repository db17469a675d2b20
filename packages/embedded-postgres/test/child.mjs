// A separate process that holds an embedded database open until its standard input ends. Uses the built package (npx
// tsc -b), because Node 20 cannot run TypeScript.
import { FolderInUse, openEmbedded } from '../dist/index.js';

const [dataDir, role, description] = process.argv.slice(2);
const say = (line) => process.stdout.write(`${line}\n`);
try {
  const database = await openEmbedded({ dataDir, role, log: () => undefined, ...(description ? { description } : {}) });
  say(database.url);
  process.stdin.resume();
  process.stdin.once('end', async () => {
    await database.release();
    process.exit(0);
  });
} catch (error) {
  say(`error ${error instanceof FolderInUse ? 'FolderInUse' : error.name}: ${error.message}`);
  process.exit(1);
}
