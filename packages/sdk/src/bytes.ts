export interface ByteReader {
  read(): Promise<{ readonly done: boolean; readonly value?: Uint8Array | undefined }>;
  cancel(): Promise<unknown>;
}

/**
 * Reads at most `most` bytes. Returns undefined if there are more, without reading all of them: a body may be endless.
 */
export async function readAtMost(reader: ByteReader, most: number): Promise<Uint8Array | undefined> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for (let step = await reader.read(); step.value !== undefined && !step.done; step = await reader.read()) {
    length += step.value.length;
    if (length > most) {
      await reader.cancel();
      return undefined;
    }
    chunks.push(step.value);
  }
  return joinBytes(chunks, length);
}

export function joinBytes(chunks: readonly Uint8Array[], length: number): Uint8Array {
  const bytes = new Uint8Array(length);
  let place = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, place);
    place += chunk.length;
  }
  return bytes;
}
