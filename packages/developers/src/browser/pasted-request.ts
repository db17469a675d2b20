import { readCurl } from './curl-command.js';
import { type PastedRequest, readHeader, readTarget } from './request-parts.js';

export function readPastedRequest(text: string): PastedRequest | undefined {
  const trimmed = text.trimStart();
  if (trimmed === '') return undefined;
  return /^[$>#]?\s*curl\b/.test(trimmed) ? readCurl(trimmed.replace(/^[$>#]\s*/, '')) : readHttp(trimmed);
}

/** Reads a raw HTTP request. The request line may be missing. */
function readHttp(text: string): PastedRequest {
  const lines = text.replaceAll('\r\n', '\n').split('\n');
  const [, method = '', target = ''] = /^(?:> )?([A-Z]+) +(\S+)/.exec(lines[0] ?? '') ?? [];
  const end = lines.findIndex((line) => /^>?\s*$/.test(line));
  const head = lines.slice(method === '' ? 0 : 1, end < 0 ? undefined : end);
  const headers = new Map(head.flatMap(readHeader));
  const { path, host } = readTarget(target);
  const body = cutToLength(end < 0 ? '' : lines.slice(end + 1).join('\n'), headers);
  return {
    method: method || 'POST',
    path,
    host: host || (headers.get('host') ?? ''),
    headers,
    body,
    elsewhere: new Map(),
    leftOut: [],
  };
}

/**
 * Removes line breaks that pasting added after the body, so that its length is Content-Length. If this header is
 * missing, removes all line breaks at the end.
 */
function cutToLength(body: string, headers: ReadonlyMap<string, string>): string {
  const length = Number(headers.get('content-length') ?? Number.NaN);
  const bytes = new TextEncoder().encode(body);
  if (Number.isNaN(length)) return body.replace(/(?<!\n)\n+$/, '');
  return bytes.length > length && bytes.slice(length).every((byte) => byte === 10)
    ? new TextDecoder().decode(bytes.slice(0, length))
    : body;
}
