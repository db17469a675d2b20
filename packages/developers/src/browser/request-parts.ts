/** A pasted request. Missing parts are empty, except the method. */
export interface PastedRequest {
  readonly method: string;
  /** Path with query. */
  readonly path: string;
  readonly host: string;
  /** Values by lower-case name. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
  /**
   * Parts whose value is not in the pasted text, such as a body in a file. Maps `path`, `body` or a header name to an
   * explanation for the reader.
   */
  readonly elsewhere: ReadonlyMap<string, string>;
  /** Words of the pasted text that could not be interpreted. */
  readonly leftOut: readonly string[];
}

export function readHeader(line: string): [string, string][] {
  const [, name, value = ''] = /^\s*(?:[<>]\s*)?([\w-]+)\s*:(.*)$/s.exec(line) ?? [];
  return name === undefined ? [] : [[name.toLowerCase(), value.trim()]];
}

export function readTarget(target: string): { path: string; host: string } {
  const [, host = '', path = ''] = /^https?:\/\/([^/?#]+)([^#]*)/.exec(target) ?? [];
  return host === '' ? { path: target, host } : { path: path || '/', host };
}
