import { performance } from 'node:perf_hooks';

/** Lets this process answer commands one at a time, each with its result, duration and CPU time. */
export function answer(commands) {
  process.on('message', async ({ command, ...options }) => {
    const since = performance.now();
    const before = process.cpuUsage();
    try {
      const result = await commands[command](options);
      const { user, system } = process.cpuUsage(before);
      process.send({ result: { value: result, seconds: (performance.now() - since) / 1000, cpu: user + system } });
    } catch (error) {
      process.send({ error: error.stack });
    }
  });
  // The bench has ended, so this process is no longer needed.
  process.once('disconnect', () => process.exit());
}
