export function bundle(
  entries: Readonly<Record<string, string>>,
  folder: string,
  external?: (id: string) => boolean,
): Promise<void>;
export function isNeverBundled(id: string): boolean;
