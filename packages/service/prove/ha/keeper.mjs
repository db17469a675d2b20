// Waits for the end of its parent. If the parent ends without a message, even by kill -9, this process ends everything
// that the parent started, because Patroni and PostgreSQL would otherwise keep running.
import { endEverything } from './ending.mjs';

let kept;
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => undefined);
process.on('message', (message) => {
  if (message.done) process.exit(0);
  kept = message;
});
process.once('disconnect', async () => {
  if (kept !== undefined) await endEverything(kept);
  process.exit(0);
});
