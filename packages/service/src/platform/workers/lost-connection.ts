import type { Worker } from 'node:cluster';

/**
 * A connection that was handed to a worker, and that a worker which is killed at this moment never takes, stays open in the primary:
 * Node waits for its word for good, and so would the caller. Node hands over one at a time, so it is the last one. Returns what closes
 * it, when the worker has ended. One that was taken is closed here already, and closing it again does nothing.
 */
export function watchHandedOver(child: Worker): () => void {
  const subprocess = child.process;
  const send = subprocess.send.bind(subprocess);
  let last: { close(): void } | undefined;
  subprocess.send = (message: Parameters<typeof send>[0], handle?: unknown, ...rest: unknown[]): boolean => {
    if (isCloseable(handle)) last = handle;
    return Reflect.apply(send, subprocess, [message, handle, ...rest]);
  };
  return () => last?.close();
}

const isCloseable = (handle: unknown): handle is { close(): void } =>
  typeof handle === 'object' && handle !== null && 'close' in handle && typeof handle.close === 'function';
