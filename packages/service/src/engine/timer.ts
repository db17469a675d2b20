import type { Logger } from 'pino';

/** Runs a job again and again, never two at a time, and survives its failures. */
export function every(seconds: number, name: string, log: Logger, job: () => Promise<unknown>) {
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> = Promise.resolve();
  let stopped = false;
  const turn = async () => {
    try {
      await job();
    } catch (error) {
      log.warn({ err: error, job: name }, 'a background job failed and will be run again');
    }
    if (!stopped) schedule();
  };
  const schedule = () => {
    timer = setTimeout(() => {
      running = turn();
    }, seconds * 1000);
  };
  schedule();
  return {
    async stop(): Promise<void> {
      stopped = true;
      clearTimeout(timer);
      await running;
    },
  };
}
