const HEAD_END = '\r\n\r\n';

/** What the beginning of an answer tells: its code, or its HTTP status while no more is known. */
export function answerStart(text) {
  const status = /^HTTP\/1\.1 (\d{3})/.exec(text)?.[1];
  if (status === undefined) return 'no answer';
  const code = /^\{"code":"(\d+)"/.exec(bodyOf(text))?.[1];
  return code ?? `HTTP ${status}`;
}

/** Whether all of an answer is there: by its length, or by its last chunk. */
export function isWhole(text) {
  const head = text.slice(0, Math.max(0, text.indexOf(HEAD_END)));
  const length = /\r\ncontent-length: (\d+)/i.exec(head)?.[1];
  if (length !== undefined) return text.length - head.length - HEAD_END.length >= Number(length);
  return /\r\ntransfer-encoding: chunked/i.test(head) && text.endsWith(`\r\n0${HEAD_END}`);
}

/** Of a chunked answer the first line of its body is a length. */
function bodyOf(text) {
  const at = text.indexOf(HEAD_END);
  return at < 0 ? '' : text.slice(at + HEAD_END.length).replace(/^[0-9a-f]+\r\n/i, '');
}
