import { once } from 'node:events';
import http from 'node:http';
import net, { type AddressInfo } from 'node:net';
import { text as bodyOf } from 'node:stream/consumers';

export interface Taken {
  readonly headers: http.IncomingHttpHeaders;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into messages freely
  readonly body: any;
}

export interface WebhookReceiver {
  readonly url: string;
  /** The accepted messages about alerts. Leaves out the head of the audit log, which nodes send at their own times. */
  readonly taken: Taken[];
  /** The HTTP status of the receiver's answers from now on. */
  status: number;
  close(): Promise<void>;
}

/** Starts a webhook receiver of alerts. */
export async function webhookReceiver(port = 0): Promise<WebhookReceiver> {
  const server = http.createServer(async (request, response) => {
    const text = await bodyOf(request);
    const body = JSON.parse(text);
    if (receiver.status === 200 && body.type !== 'audit.head')
      receiver.taken.push({ headers: request.headers, text, body });
    response.writeHead(receiver.status).end('thank you');
  });
  await once(server.listen(port, '127.0.0.1'), 'listening');
  const receiver: WebhookReceiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/alerts?token=in-the-address`,
    taken: [],
    status: 200,
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
  return receiver;
}

export interface Mail {
  readonly from: string;
  readonly to: readonly string[];
  readonly text: string;
}

export interface MailServer {
  readonly url: string;
  readonly mails: Mail[];
  /** The answer with which the server refuses every mail. Undefined: it accepts mails. */
  refusal: string | undefined;
  /** The refused addresses, with the server's answers. */
  readonly refusedPeople: Map<string, string>;
  /** Every SMTP command that the server received. */
  readonly heard: string[];
  close(): Promise<void>;
}

const ANSWERS: Readonly<Record<string, string>> = {
  EHLO: '250-mail.example\r\n250 AUTH PLAIN',
  AUTH: '235 come in',
  DATA: '354 go on',
  QUIT: '221 bye',
};

/** Starts a server with the part of SMTP that a mailer needs, without TLS. */
export async function mailServer(): Promise<MailServer> {
  const sockets = new Set<net.Socket>();
  const server = net.createServer((socket) => {
    sockets.add(socket);
    let from = '';
    let to: string[] = [];
    let data: string[] | undefined;
    let rest = '';
    const say = (line: string) => socket.write(`${line}\r\n`);
    say('220 mail.example ready');
    socket.on('error', () => undefined);
    socket.setEncoding('utf8').on('data', (chunk) => {
      const lines = `${rest}${chunk}`.split('\r\n');
      rest = lines.pop() ?? '';
      for (const line of lines) {
        if (data) {
          if (line !== '.') {
            data.push(line);
            continue;
          }
          if (on.refusal === undefined) on.mails.push({ from, to, text: data.join('\n') });
          data = undefined;
          say(on.refusal ?? '250 taken');
          continue;
        }
        on.heard.push(line);
        const [word = ''] = line.split(' ', 1);
        const person = word === 'RCPT' ? (/<(.*)>/.exec(line)?.[1] ?? '') : '';
        const refusal = word === 'STARTTLS' ? '502 what is that' : on.refusedPeople.get(person);
        if (refusal !== undefined) {
          say(refusal);
          continue;
        }
        if (word === 'MAIL') from = /<(.*)>/.exec(line)?.[1] ?? '';
        if (word === 'MAIL') to = [];
        if (word === 'RCPT') to.push(person);
        if (word === 'DATA') data = [];
        say(ANSWERS[word] ?? '250 ok');
      }
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const on: MailServer = {
    url: `smtp://127.0.0.1:${(server.address() as AddressInfo).port}`,
    mails: [],
    refusal: undefined,
    refusedPeople: new Map(),
    heard: [],
    async close() {
      server.close();
      for (const socket of sockets) socket.destroy();
      await once(server, 'close');
    },
  };
  return on;
}
