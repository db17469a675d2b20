// Waits for the end of the process that started it. If that ends without a word, even by kill -9, what it had started is
// ended here: Patroni and PostgreSQL would run on.
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
