export interface EventReference {
  readonly eventNo: number;
  /** The period, in an event about a range of voided periods. Undefined: the whole event. */
  readonly cycleNo: number | undefined;
}

export function parseEventId(text: string): EventReference | undefined {
  const parts = /^([1-9]\d{0,14})(?:-([1-9]\d{0,3}))?$/.exec(text);
  if (!parts) return undefined;
  return { eventNo: Number(parts[1]), cycleNo: parts[2] === undefined ? undefined : Number(parts[2]) };
}

/** Parses event ids and removes duplicates. Returns undefined if any text is not an event id. */
export function parseEventIds(texts: readonly string[]): EventReference[] | undefined {
  const references = [...new Set(texts)].map(parseEventId);
  return references.every((one) => one !== undefined) ? references : undefined;
}
