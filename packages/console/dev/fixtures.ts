import type { IncomingMessage, ServerResponse } from 'node:http';
import type {
  Audit,
  AuditVerified,
  Overview,
  OverviewFigures,
  OwnSessions,
  People,
  Person,
  SearchAnswer,
  Session,
  SignInWays,
  WaitingCounts,
} from '../src/api/types.ts';

/** Answers of an invented installation, with the types of the real ones. Others add theirs to the table at the end. */
export class Refusal extends Error {
  constructor(
    readonly status: number,
    readonly kind: string,
    message: string,
    readonly headers: Record<string, string> = {},
  ) {
    super(message);
  }
}

interface Asked {
  readonly query: URLSearchParams;
  readonly body: Record<string, unknown>;
  /** The parts of the path that are in braces. */
  readonly path: Record<string, string>;
}
export type Answer = (asked: Asked) => unknown;

/** A time of Beijing, so many seconds from now. */
export const at = (seconds: number): string =>
  new Date(Date.now() + 8 * 3600_000 + seconds * 1000).toISOString().slice(0, 19).replace('T', ' ');

const HOUR = 3600;
const DAY = 86_400;

/** The same at each run. */
export function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 4_294_967_296;
    return state / 4_294_967_296;
  };
}

let isSignedIn = true;
let provenUntil = 0;
const session = (): Session => ({
  name: 'ann',
  role: (process.env['ROLE'] ?? 'admin') as Session['role'],
  csrfToken: 'token',
  environment: 'sandbox',
  version: '0.1.0',
  hasTotp: false,
  hasPassword: true,
  provenUntil: at(300),
  expiresAt: at(12 * HOUR),
  refundApprovalCent: 50_000,
});
const needSession = () => {
  if (!isSignedIn) throw new Refusal(401, 'not-signed-in', 'Nobody is signed in');
};
const needProof = () => {
  if (Date.now() > provenUntil) throw new Refusal(403, 'proof-needed', 'Prove who you are');
};

function signIn({ body }: Asked): Session {
  if (body['name'] === 'locked') throw new Refusal(429, 'locked', 'Too many tries', { 'Retry-After': '95' });
  if (body['name'] === 'tom' && !body['code']) throw new Refusal(401, 'code-needed', 'A code is needed');
  if (body['password'] === 'wrong' || body['code'] === '000000')
    throw new Refusal(401, 'wrong-proof', 'Name and password do not match');
  isSignedIn = true;
  return session();
}

const STEPS = { '24h': [24, HOUR], '30d': [30, DAY], '12m': [12, 30.4 * DAY] } as const;

function figures(next: () => number, scale: number): OverviewFigures {
  const orders = Math.round((12 + 30 * next()) * scale);
  const paid = Math.round((160 + 90 * next()) * scale);
  const failed = Math.round((9 + 16 * next()) * scale);
  const refunds = Math.round(5 * next() * scale);
  return {
    ordersCreated: orders,
    ordersEnded: Math.round(orders * 0.3 * next()),
    debitsPaid: paid,
    debitsFailed: failed,
    paidCent: paid * 2990,
    billedCent: Math.round(paid * 0.2) * 1990,
    refunds,
    refundedCent: refunds * 2990,
    renewalsDone: Math.round(paid * 0.85),
    renewalsFailed: Math.round(failed * 0.7),
    pushesAccepted: Math.round(paid * 1.9),
    pushesFailed: Math.round(failed * 0.4),
    claims: Math.round(paid * 0.5),
  };
}

const sum = (all: readonly OverviewFigures[]): OverviewFigures =>
  Object.fromEntries(
    Object.keys(all[0] ?? {}).map((name) => [
      name,
      all.reduce((total, one) => total + one[name as keyof OverviewFigures], 0),
    ]),
  ) as OverviewFigures;

function overview({ query }: Asked): Overview {
  const range = (query.get('range') ?? '30d') as Overview['range'];
  const [steps, length] = STEPS[range];
  const next = random(7);
  const scale = length / DAY;
  const series = Array.from({ length: steps }, (_, step) => ({
    at: at((step - steps + 1) * length),
    ...figures(next, scale),
  }));
  return {
    range,
    from: at(-steps * length),
    to: at(0),
    asOf: at(-40),
    totals: sum(series),
    before: sum(Array.from({ length: steps }, () => figures(next, scale * 0.93))),
    series,
    now: {
      ordersCountedAt: null,
      activeOrders: 18_423,
      waitingForRetry: 214,
      renewalsDueToday: 641,
      renewalsDoneToday: 402,
      eventsWaiting: 37,
      eventsGivenUp: 3,
      oldestEventAt: at(-1900),
      openAlerts: 2,
      approvalsWaiting: 1,
    },
    channels: [
      { appId: 'app_8Kd2mQ', name: '云途视频', ordersCreated: 512, debitsFailed: 201, volumeCent: 9_412_020 },
      { appId: 'app_31xPwz', name: 'Northwind Music', ordersCreated: 244, debitsFailed: 96, volumeCent: 5_120_980 },
      { appId: 'app_Zt77ab', name: '每日英语', ordersCreated: 102, debitsFailed: 12, volumeCent: 1_002_400 },
    ],
    alerts: [
      {
        kind: 'wrong-amount',
        subject: '20261114000000018231',
        detail: 'The institution says 29.80, 29.90 was asked for',
        detailSaid: null,
        lastSeenAt: at(-5400),
      },
      {
        kind: 'low-stock',
        subject: 'VIDEO-MONTH',
        detail: '38 codes are left',
        detailSaid: null,
        lastSeenAt: at(-600),
      },
    ],
  };
}

function search({ query }: Asked): SearchAnswer {
  const q = query.get('q') ?? '';
  if (/^0/.test(q)) return { results: [], hasMore: false, isMobileLeftOut: false };
  const order = { appId: 'app_8Kd2mQ', channelUserId: null };
  return {
    hasMore: true,
    isMobileLeftOut: false,
    results: [
      {
        ...order,
        kind: 'order',
        id: '20261114000000018231',
        orderNo: '20261114000000018231',
        title: '20261114000000018231',
        subtitle: '云途视频 · Video monthly · ¥29.90',
        status: 'ACTIVE',
        matched: 'order-number',
      },
      {
        ...order,
        kind: 'order',
        id: '20261001000000009120',
        orderNo: '20261001000000009120',
        title: '20261001000000009120',
        subtitle: '云途视频 · Video yearly · ¥298.00',
        status: 'UNSUBSCRIBED',
        matched: 'external-number',
      },
      {
        ...order,
        kind: 'payment',
        id: 'P20261114000000018231-2',
        orderNo: '20261114000000018231',
        title: 'P20261114000000018231-2',
        subtitle: 'Period 2 · ¥29.90',
        status: 'FAIL_RETRY',
        matched: 'payment-number',
      },
      {
        kind: 'user',
        appId: 'app_8Kd2mQ',
        orderNo: null,
        channelUserId: 'u-448120',
        id: 'u-448120',
        title: 'u-4****20',
        subtitle: '云途视频 · 138****5678',
        status: null,
        matched: 'mobile',
      },
    ],
  };
}

const person = (name: string, role: Person['role'], more: Partial<Person> = {}): Person => ({
  name,
  role,
  status: 'ACTIVE',
  hasPassword: true,
  hasTotp: true,
  hasSingleSignOn: false,
  lockedUntil: null,
  lastSignInAt: at(-3 * HOUR),
  createdAt: at(-90 * DAY),
  createdBy: 'cli:root@db-1',
  ...more,
});
const people = new Map(
  [
    person('ann', 'admin'),
    person('finn', 'finance', { hasTotp: false, lastSignInAt: at(-2 * DAY) }),
    person('ling.chen@example.com', 'support', { hasPassword: false, hasTotp: false, hasSingleSignOn: true }),
    person('mo', 'support', { lockedUntil: at(900) }),
    person('newcomer', 'viewer', { hasPassword: false, hasTotp: false, lastSignInAt: null, createdAt: at(-HOUR) }),
    person('vera', 'viewer', { status: 'DISABLED', lastSignInAt: at(-70 * DAY) }),
  ].map((one) => [one.name, one]),
);
const change = (name: string | undefined, changes: Partial<Person>) => {
  const known = people.get(name ?? '');
  if (!known) throw new Refusal(404, 'not-found', 'There is no such person');
  const after = { ...known, ...changes };
  people.set(known.name, after);
  return { person: after, changed: true };
};

const ACTIONS = [
  [
    'order.refund',
    '20261114000000018231',
    { cycleNo: 2, amountCent: 2990, note: 'Paid twice by mistake', from: 'SUCCESS', to: 'REFUND_FULL' },
  ],
  ['order.unsubscribe', '20261001000000009120', { reason: 'User called' }],
  ['person.role', 'mo', { from: 'viewer', to: 'support' }],
  ['channel.create', 'app_Zt77ab', { name: '每日英语' }],
  ['user.unmask', 'app_8Kd2mQ/u-448120', { reason: 'User asks for a copy of the contract' }],
  ['events.replay', 'app_31xPwz', { eventIds: ['e-1', 'e-2'] }],
] as const;

function audit({ query }: Asked): Audit {
  const page = Number(query.get('cursor') ?? 0);
  const all = Array.from({ length: 30 }, (_, row) => {
    const [action, subject, detail] = ACTIONS[(row * 5 + page) % ACTIONS.length] ?? ACTIONS[0];
    const actor = ['ann', 'finn', 'mo', 'cli:root@db-1'][row % 4] ?? 'ann';
    return {
      auditId: String(4812 - page * 30 - row),
      at: at(-row * 2300 - page * DAY),
      actor,
      address: actor.startsWith('cli') ? null : '203.0.113.24',
      action,
      subject,
      detail,
    };
  });
  const wanted = (name: 'actor' | 'action' | 'subject', value: string) => !query.get(name) || value === query.get(name);
  const entries = all.filter(
    (entry) => wanted('actor', entry.actor) && wanted('action', entry.action) && wanted('subject', entry.subject),
  );
  return { entries, nextCursor: page < 3 ? String(page + 1) : null };
}

const ownSessions: OwnSessions = {
  sessions: [
    {
      sessionId: 'a1',
      isThis: true,
      address: '203.0.113.24',
      userAgent: 'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 Chrome/140.0.0.0 Safari/537.36',
      createdAt: at(-2 * HOUR),
      lastSeenAt: at(-5),
    },
    {
      sessionId: 'b2',
      isThis: false,
      address: '198.51.100.7',
      userAgent:
        'Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 Version/18.1 Mobile/15E148 Safari/604.1',
      createdAt: at(-9 * HOUR),
      lastSeenAt: at(-1500),
    },
  ],
};

export const answers: Record<string, Answer> = {
  'GET /sign-in-ways': (): SignInWays => ({ environment: 'sandbox', oidc: true, oidcName: 'Acme SSO' }),
  'POST /session': signIn,
  'GET /session': () => {
    needSession();
    return session();
  },
  'DELETE /session': () => {
    isSignedIn = false;
    return {};
  },
  'POST /session/proof': ({ body }) => {
    if (body['password'] === 'wrong') throw new Refusal(401, 'wrong-proof', 'That is not the password');
    provenUntil = Date.now() + 300_000;
    return session();
  },
  'POST /setup': () => ({ name: 'newcomer' }),
  'GET /sessions': () => ownSessions,
  'DELETE /sessions/{id}': () => ({}),
  'PUT /account/password': () => ({}),
  'POST /account/totp': () => ({
    secret: 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP',
    uri: 'otpauth://totp/Perennial:ann?secret=JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP&issuer=Perennial',
  }),
  'PUT /account/totp': () => ({}),
  'DELETE /account/totp': () => {
    needProof();
    return {};
  },
  'GET /overview': overview,
  'GET /waiting': (): WaitingCounts => ({ alerts: 3, approvals: 2, failedPayments: 128, differences: 0 }),
  'GET /search': search,
  'GET /people': (): People => ({ people: [...people.values()] }),
  'POST /people': ({ body }) => {
    needProof();
    const made = person(String(body['name']), body['role'] as Person['role'], {
      hasPassword: false,
      hasTotp: false,
      lastSignInAt: null,
      createdAt: at(0),
      createdBy: 'ann',
    });
    people.set(made.name, made);
    return { person: made, setupLink: 'https://perennial.example/console/setup#Vb3k9sJf0a2mQ7yLxT4nR8' };
  },
  'PUT /people/{name}/role': ({ path, body }) => {
    needProof();
    return change(path['name'], { role: body['role'] as Person['role'] });
  },
  'POST /people/{name}/disable': ({ path }) => change(path['name'], { status: 'DISABLED' }),
  'POST /people/{name}/enable': ({ path }) => change(path['name'], { status: 'ACTIVE' }),
  'POST /people/{name}/reset': ({ path }) => ({
    ...change(path['name'], { hasPassword: false, hasTotp: false }),
    setupLink: 'https://perennial.example/console/setup#Vb3k9sJf0a2mQ7yLxT4nR8',
  }),
  'GET /audit': audit,
  'GET /audit/verify': (): AuditVerified => ({ entries: 4812, brokenAt: null }),
};

/** Sign-in, set-up and the question who is there need no session. */
const OPEN = /^(GET|POST) \/(sign-in-ways|session|setup)$/;

export async function answerByFixtures(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { pathname, searchParams } = new URL(request.url ?? '', 'http://here');
  try {
    if (!OPEN.test(`${request.method} ${pathname}`)) needSession();
    const [key, path] = find(request.method ?? 'GET', pathname);
    const text = await new Response(request as never).text();
    const answer = await answers[key]?.({ query: searchParams, body: text ? JSON.parse(text) : {}, path });
    response.setHeader('Content-Type', 'application/json').end(JSON.stringify(answer));
  } catch (error) {
    const { status, kind, message, headers } =
      error instanceof Refusal ? error : new Refusal(500, 'fault', String(error));
    response.writeHead(status, { 'Content-Type': 'application/problem+json', ...headers });
    const body = {
      type: `urn:perennial:problem:${kind}`,
      title: kind,
      status,
      detail: message,
      requestId: 'req-7f3a91c2',
    };
    response.end(JSON.stringify(body));
  }
}

function find(method: string, pathname: string): [key: string, path: Record<string, string>] {
  const parts = pathname.split('/');
  for (const key of Object.keys(answers)) {
    const [wanted, ...rest] = key.split(' ');
    const pattern = rest.join(' ').split('/');
    const isMatch = pattern.length === parts.length && pattern.every((one, n) => /^\{/.test(one) || one === parts[n]);
    if (wanted !== method || !isMatch) continue;
    const named = pattern.flatMap((one, n) =>
      /^\{/.test(one) ? [[one.slice(1, -1), decodeURIComponent(parts[n] ?? '')] as const] : [],
    );
    return [key, Object.fromEntries(named)];
  }
  throw new Refusal(404, 'not-found', 'There is no such operation');
}
