import { addressOf } from '../../api/client.ts';
import { readProblem, Unreachable } from '../../api/problem.ts';

type Filter = Readonly<Record<string, string | undefined>>;

const NEW_LINE = 10;

/**
 * All orders that match, as a file that the browser keeps. They are read as they come, so that it can be said how many there
 * are so far, and stopped. Returns their number.
 */
export async function exportOrders(
  filter: Filter,
  onProgress: (orders: number) => void,
  signal: AbortSignal,
): Promise<number> {
  const response = await fetch(addressOf('/orders.csv', filter), { credentials: 'same-origin', signal }).catch(
    (error: unknown) => {
      throw signal.aborted ? error : new Unreachable('The service does not answer');
    },
  );
  if (!response.ok || !response.body) throw await readProblem(response);
  const pieces: Uint8Array<ArrayBuffer>[] = [];
  // The first line has the names.
  let orders = -1;
  const reader = response.body.getReader();
  for (let read = await reader.read(); !read.done; read = await reader.read()) {
    pieces.push(read.value);
    for (const byte of read.value) if (byte === NEW_LINE) orders += 1;
    onProgress(Math.max(0, orders));
  }
  keep(new Blob(pieces, { type: 'text/csv' }), 'orders.csv');
  return Math.max(0, orders);
}

function keep(file: Blob, name: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(file);
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}
