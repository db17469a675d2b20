import type { BridgeLog } from '../log.js';

export interface Loop {
  /** Starts the next run without waiting for the pause. */
  wake(): void;
  /** Stops the loop and waits for the run in progress. */
  stop(): Promise<void>;
}

/** Repeats the work: at once while `work` returns true (there may be more), otherwise after a pause. */
export function startLoop(name: string, pauseMs: number, work: () => Promise<boolean>, log: BridgeLog): Loop {
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> | undefined;
  let isWoken = false;
  let isStopped = false;

  async function run(): Promise<void> {
    do {
      isWoken = false;
      const hasMore = await work().catch((err: unknown) => {
        log.error({ operation: name, err }, 'work on the book failed and will be retried');
        return false;
      });
      isWoken ||= hasMore;
    } while (isWoken && !isStopped);
    running = undefined;
    if (!isStopped) timer = setTimeout(start, pauseMs);
  }
  function start(): void {
    clearTimeout(timer);
    running = run();
  }
  start();
  return {
    wake() {
      isWoken = true;
      if (running === undefined && !isStopped) start();
    },
    async stop() {
      isStopped = true;
      clearTimeout(timer);
      await running;
    },
  };
}
