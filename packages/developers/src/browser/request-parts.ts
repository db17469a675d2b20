/** A request as somebody has pasted it. What was not there is empty. */
export interface PastedRequest {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly host: string;
  /** By their names in lower case. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
  /** Of `path`, `body` and the names of headers: those whose text is elsewhere, and where. */
  readonly elsewhere: ReadonlyMap<string, string>;
  /** Words that are not understood. */
  readonly leftOut: readonly string[];
}

export function readHeader(line: string): [string, string][] {
  const [, name, value = ''] = /^\s*[<>]?\s*([\w-]+)\s*:\s?(.*?)\s*$/s.exec(line) ?? [];
  return name === undefined ? [] : [[name.toLowerCase(), value]];
}

export function readTarget(target: string): { path: string; host: string } {
  const [, host = '', path = ''] = /^https?:\/\/([^/?#]+)([^#]*)/.exec(target) ?? [];
  return host === '' ? { path: target, host } : { path: path || '/', host };
}
