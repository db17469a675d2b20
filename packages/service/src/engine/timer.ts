import type { Logger } from 'pino';

/** Runs a job periodically, never twice at the same time. Logs a run that fails. */
export function runEvery(
  seconds: number,
  name: string,
  log: Logger,
  job: () => Promise<unknown>,
  { atOnce = false } = {},
) {
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> = Promise.resolve();
  let stopped = false;
  const runAndSchedule = async () => {
    try {
      await job();
    } catch (error) {
      log.warn({ err: error, job: name, cause: `job ${name}` }, 'a background job failed and will be run again');
    }
    if (!stopped) schedule(seconds);
  };
  const schedule = (wait: number) => {
    timer = setTimeout(() => {
      running = runAndSchedule();
    }, wait * 1000);
  };
  schedule(atOnce ? 0 : seconds);
  return {
    async stop(): Promise<void> {
      stopped = true;
      clearTimeout(timer);
      await running;
    },
  };
}
