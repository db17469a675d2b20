import type { PushAnswer } from '../pushes/send-push.js';

/** Why a receiver does not take an event that is as it should be, and the one thing to do first. */
export function explainGood(answer: PushAnswer, url: URL): string {
  switch (answer.kind) {
    case 'unreachable':
      return explainConnection(answer.cause, url) ?? 'the receiver cannot be reached: is the address right?';
    case 'broken':
      return (
        explainConnection(answer.cause, url) ??
        `the receiver has closed the connection without a whole answer: its log should say why${url.protocol === 'http:' ? ', unless it speaks TLS and wants https' : ''}`
      );
    case 'late':
      return 'the receiver is too slow: write the event down, answer, and work on it afterwards';
    case 'refused':
      return answer.status === 200 ? explainCode(answer.code, answer.why) : explainStatus(answer, url);
    case 'accepted':
      return '';
  }
}

function explainConnection(cause: string | undefined, { protocol, hostname, host, pathname }: URL): string | undefined {
  if (cause === 'ECONNREFUSED') return `nobody listens at ${host}: start the receiver, or correct the port`;
  if (cause === 'ENOTFOUND' || cause === 'EAI_AGAIN') return `there is no machine named ${hostname}: correct the name`;
  if (cause === 'EPROTO') return `it does not speak TLS there: try http://${host}${pathname}`;
  if (cause?.startsWith('HPE_') && protocol === 'http:') {
    return `it does not speak plain HTTP there: try https://${host}${pathname}`;
  }
  return cause !== undefined && isAboutCertificate(cause) ? CERTIFICATE : undefined;
}

const isAboutCertificate = (cause: string): boolean =>
  /CERT|^UNABLE_TO_(GET_ISSUER|VERIFY)|^ERR_TLS|^HOSTNAME_MISMATCH/.test(cause);

const CERTIFICATE =
  'its certificate cannot be verified, and the service would not send to it either: while you develop, use http on localhost, or name your own authority in NODE_EXTRA_CA_CERTS';

function explainCode(code: string | undefined, why: string): string {
  if (code === undefined) return `${why}: answer {"code":"0"}, with "0" as a text`;
  return `the receiver says ${why}, which is no: if it refuses orders that it does not know, name one that it knows with --order`;
}

function explainStatus(
  { status, location }: { readonly status: number; readonly location?: string },
  url: URL,
): string {
  if (status >= 300 && status < 400) {
    return `it redirects${location === undefined ? '' : ` to ${location}`}, and the service does not follow: name the address that answers`;
  }
  if (status >= 500) return STATUSES[status] ?? 'it has failed: its log should say why';
  return STATUSES[status] ?? `it refuses with HTTP ${status}: is ${url.pathname} the receiver of events?`;
}

const SIGNATURE =
  'it takes the signature for wrong: has it the callbackSecret of this channel, decoded from base64, and does it sign the path and the raw bytes?';
const AWAY = 'what answers is a proxy whose receiver is away: start the receiver';

const STATUSES: Readonly<Record<number, string>> = {
  400: 'it does not understand the request: its log should say why; if it parses the body itself, see /developers/reference/webhooks of the service for the fields',
  401: SIGNATURE,
  403: `${SIGNATURE} Or else something before it wants a login or a token: events come without one`,
  404: 'there is nothing under this path, or it knows nothing of this order: correct the path, or name an order that it knows with --order',
  405: 'it takes no POST there: correct the path, or the method',
  413: 'it takes no body of this size: let it take 16 KB',
  415: 'it does not take application/json: let it take that',
  422: 'it does not understand the event: if it refuses orders that it does not know, name one that it knows with --order',
  429: 'it limits how often it is called: let the service call it as often as things happen',
  502: AWAY,
  503: AWAY,
  504: AWAY,
};
