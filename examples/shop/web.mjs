// The shop's web server: sessions, forms that only the shop's pages can send, and routes.
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import * as pages from './pages.mjs';
import { explain } from './words.mjs';

const COOKIE = 'shop_session';
const MOST_FORM_BYTES = 16_384;
/** The format of the idempotency keys in HTML forms. randomKey creates these keys. */
const KEY = /^[0-9a-f]{32}$/;

const HEADERS = {
  'Content-Security-Policy':
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
};

const FILES = new Map(
  [
    ['/shop.css', 'text/css; charset=utf-8'],
    ['/live.js', 'text/javascript; charset=utf-8'],
    ['/icon.svg', 'image/svg+xml'],
  ].map(([name, type]) => [name, { type, bytes: readFileSync(new URL(`public${name}`, import.meta.url)) }]),
);

export function createShopServer({ store, selling, receiveEvent, appId }) {
  /** Method, path and handler of each route. Routes are for signed-in users unless `isForAll` is set. */
  const ROUTES = [
    ['GET', /^\/$/, showHome, { isForAll: true }],
    ['POST', /^\/sign-in$/, signIn, { isForAll: true }],
    ['POST', /^\/sign-out$/, signOut],
    ['GET', /^\/buy\/([\w-]+)$/, showWays],
    ['GET', /^\/card$/, showCard],
    ['POST', /^\/card$/, sendCode],
    ['GET', /^\/card\/code$/, showCode],
    ['POST', /^\/card\/code$/, confirmCode],
    ['GET', /^\/pay\/([\w-]+)$/, showPay],
    ['POST', /^\/orders$/, placeOrder],
    ['GET', /^\/orders\/([\w-]+)$/, withOrder(showOrder)],
    ['GET', /^\/orders\/([\w-]+)\/live$/, withOrder(tellChanges)],
    ['GET', /^\/orders\/([\w-]+)\/benefits$/, withOrder(openBenefits)],
    ['POST', /^\/orders\/([\w-]+)\/resume$/, withOrder(afterwards(selling.resume))],
    ['POST', /^\/orders\/([\w-]+)\/refresh$/, withOrder(afterwards(selling.refresh))],
    ['POST', /^\/orders\/([\w-]+)\/unsubscribe$/, withOrder(afterwards(selling.unsubscribe))],
    ['POST', /^\/orders\/([\w-]+)\/replace$/, withOrder(afterwards(selling.replaceAgreement, 'replaced'))],
    ['POST', /^\/orders\/([\w-]+)\/advance$/, withOrder(advance)],
  ];

  return createServer((request, response) => {
    answer(request, response).catch((error) => {
      process.stderr.write(`shop: ${error.stack}\n`);
      response.headersSent ? response.destroy() : response.writeHead(500).end('Something went wrong.\n');
    });
  });

  async function answer(request, response) {
    const url = new URL(request.url, 'http://shop');
    // Handled before the session: events have their own signature and no cookie.
    if (url.pathname === '/events') return receiveEvent(request, response);
    const file = request.method === 'GET' && FILES.get(url.pathname);
    if (file) return response.writeHead(200, { ...HEADERS, 'Content-Type': file.type }).end(file.bytes);

    const visit = openVisit(request, response, url);
    const found = ROUTES.find(([method, path]) => method === request.method && path.test(url.pathname));
    if (!found) return visit.show(404, pages.notFound(visit));
    const [method, path, handle, { isForAll = false } = {}] = found;
    if (method === 'POST') {
      visit.form = await readForm(request);
      if (!visit.form) return visit.show(413, pages.problem(visit, 'This form is too long.'));
      if (!isSame(visit.form.token, visit.token)) return visit.show(403, pages.problem(visit, pages.STALE_FORM));
    }
    if (!visit.user && !isForAll) return visit.redirect('/');
    const [, part] = url.pathname.match(path);
    try {
      await handle(visit, part);
    } catch (error) {
      // explain() rethrows errors that are not from the SDK.
      visit.show(502, pages.failed(visit, explain(error)));
    }
  }

  // ---- Sessions

  /** Returns a visit: the user and session of a request, and the functions that answer it. */
  function openVisit(request, response, url) {
    const sent = readCookie(request.headers.cookie);
    const session = sent ?? randomKey();
    const headers = { ...HEADERS, 'Cache-Control': 'no-store' };
    const setSession = (value) => {
      // In production use https and add the cookie attribute Secure.
      headers['Set-Cookie'] = `${COOKIE}=${value}; Path=/; HttpOnly; SameSite=Lax`;
    };
    if (!sent) setSession(session);
    return {
      request,
      response,
      url,
      headers,
      session,
      setSession,
      user: store.users.get(store.sessions.get(session)),
      token: createHmac('sha256', store.formKey).update(session).digest('hex'),
      show: (status, page) =>
        response.writeHead(status, { ...headers, 'Content-Type': 'text/html; charset=utf-8' }).end(page.text),
      redirect: (to) => response.writeHead(303, { ...headers, Location: to }).end(),
    };
  }

  /**
   * Signs in by name only: this is a sample. Replaces the session id at sign-in: an attacker may have set the old id in
   * the user's browser.
   */
  async function signIn(visit) {
    const name = (visit.form.name ?? '').trim().slice(0, 40);
    if (name === '') return visit.redirect('/');
    const user = [...store.users.values()].find((known) => known.name === name) ?? selling.makeUser(name);
    const session = randomKey();
    store.users.set(user.id, user);
    store.sessions.set(session, user.id);
    await store.save();
    visit.setSession(session);
    visit.redirect('/');
  }

  async function signOut(visit) {
    store.sessions.delete(visit.session);
    await store.save();
    visit.setSession('');
    visit.redirect('/');
  }

  // ---- Choosing and paying

  async function showHome(visit) {
    const products = await selling.listProducts();
    const orders = [...store.orders.values()].filter(({ userId }) => userId === visit.user?.id).reverse();
    visit.show(200, pages.home(visit, { products, orders, selling }));
  }

  async function showWays(visit, code) {
    const product = await selling.findProduct(code);
    if (!product) return visit.show(404, pages.notFound(visit));
    visit.show(200, pages.ways(visit, { product, attempt: randomKey() }));
  }

  function showCard(visit) {
    visit.show(200, pages.card(visit, { product: visit.url.searchParams.get('product'), key: randomKey() }));
  }

  async function sendCode(visit) {
    const { form, user } = visit;
    const showAgain = (failure) => visit.show(422, pages.card(visit, { ...form, key: randomKey(), failure }));
    const card = readCard(form);
    if (card.wrong) return showAgain({ words: card.wrong });
    try {
      const { isSent, reason } = await selling.sendCode(user, card, readKey(form.key));
      if (!isSent) return showAgain({ words: `The code could not be sent: ${reason}. Please check the bank mobile.` });
    } catch (error) {
      return showAgain(explain(error));
    }
    visit.redirect(`/card/code?product=${encodeURIComponent(form.product ?? '')}`);
  }

  function showCode(visit) {
    visit.show(200, pages.code(visit, { product: visit.url.searchParams.get('product'), key: randomKey() }));
  }

  async function confirmCode(visit) {
    const { form, user } = visit;
    const { product } = form;
    const showAgain = (failure, key) => visit.show(422, pages.code(visit, { product, key, failure }));
    if (!user.binding || !/^\S{1,32}$/.test(form.code ?? ''))
      return showAgain({ words: 'Please type the code from the message.' }, randomKey());
    try {
      const { isBound, reason, codeRetryable } = await selling.confirmCode(user, form.code, readKey(form.key));
      const next = codeRetryable ? 'Please type the code again.' : 'Please have another code sent.';
      if (!isBound) return showAgain({ words: `The card was not added: ${reason}. ${next}` }, randomKey());
    } catch (error) {
      // If the answer was lost, the form keeps its key: submitting it again returns the outcome of the first
      // submission.
      return showAgain(explain(error), error.retryable === false ? randomKey() : form.key);
    }
    visit.redirect(product ? `/buy/${encodeURIComponent(product)}?note=card` : '/');
  }

  async function showPay(visit, code) {
    const product = await selling.findProduct(code);
    if (!product) return visit.show(404, pages.notFound(visit));
    visit.show(200, pages.pay(visit, { product, attempt: randomKey() }));
  }

  async function placeOrder(visit) {
    const { user, form } = visit;
    const { way, pretended } = form;
    const product = await selling.findProduct(form.product);
    if (!product || !['A.1', 'A.2', 'B'].includes(way)) return visit.show(404, pages.notFound(visit));
    if (way === 'A.1' && !user.card) return visit.redirect(`/card?product=${product.productCode}`);
    const order = await selling.placeOrder(user, { attempt: readKey(form.attempt), product, way, pretended });
    visit.redirect(`/orders/${order.externalOrderNo}`);
  }

  // ---- Orders

  /** Wraps a handler, so that it gets only the user's own orders. */
  function withOrder(handle) {
    return (visit, externalOrderNo) => {
      const order = store.orders.get(externalOrderNo);
      if (order?.userId !== visit.user.id) return visit.show(404, pages.notFound(visit));
      return handle(visit, order);
    };
  }

  function showOrder(visit, order) {
    const { port } = visit.request.socket.address();
    visit.show(200, pages.order(visit, { order, selling, appId, eventsUrl: `http://localhost:${port}/events` }));
  }

  /** Returns a handler that performs the action and then shows the order. */
  function afterwards(act, note) {
    return async (visit, order) => {
      await act(order);
      visit.redirect(`/orders/${order.externalOrderNo}${note ? `?note=${note}` : ''}`);
    };
  }

  async function advance(visit, order) {
    await selling.advance(order, visit.form.outcome === 'FAIL_RETRY' ? 'FAIL_RETRY' : 'SUCCESS');
    visit.redirect(`/orders/${order.externalOrderNo}`);
  }

  async function openBenefits(visit, order) {
    const url = await selling.findRedeemUrl(order);
    visit.redirect(url ?? `/orders/${order.externalOrderNo}?note=nothing-to-claim`);
  }

  /** Sends a server-sent event to live.js whenever the order changes. */
  function tellChanges({ request, response, headers }, { externalOrderNo }) {
    response.writeHead(200, { ...headers, 'Content-Type': 'text/event-stream' });
    const tell = () => response.write('data: changed\n\n');
    selling.changes.on(externalOrderNo, tell);
    // Reports a change at once, because the order may have changed since the page was rendered.
    tell();
    request.on('close', () => selling.changes.off(externalOrderNo, tell));
  }
}

const randomKey = () => randomBytes(16).toString('hex');

/** Returns the form's idempotency key, or a new key if the form's key is invalid. */
const readKey = (text) => (KEY.test(text ?? '') ? text : randomKey());

function readCookie(header = '') {
  const value = header
    .split(/; */)
    .find((one) => one.startsWith(`${COOKIE}=`))
    ?.slice(COOKIE.length + 1);
  return KEY.test(value ?? '') ? value : undefined;
}

function isSame(given = '', expected) {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}

/** Reads the fields of a form. Returns undefined if the form is too long. */
async function readForm(request) {
  const chunks = [];
  let length = 0;
  for await (const chunk of request) {
    length += chunk.length;
    if (length <= MOST_FORM_BYTES) chunks.push(chunk);
  }
  if (length > MOST_FORM_BYTES) return undefined;
  return Object.fromEntries(new URLSearchParams(Buffer.concat(chunks).toString('utf8')));
}

/** Checks each field of the card before it is sent, so that the page can say in plain words which field is wrong. */
function readCard(form) {
  const bankCardNo = (form.bankCardNo ?? '').replaceAll(' ', '');
  const realName = (form.realName ?? '').trim();
  const certificateNo = (form.certificateNo ?? '').trim();
  const bankMobile = (form.bankMobile ?? '').replaceAll(' ', '');
  if (!/^\d{8,32}$/.test(bankCardNo)) return { wrong: 'The card number has 8 to 32 digits.' };
  if (!/^.{1,100}$/u.test(realName)) return { wrong: 'The name on the card is missing, or too long.' };
  if (!/^.{1,64}$/u.test(certificateNo)) return { wrong: 'The number of the certificate is missing, or too long.' };
  if (!/^\+?\d{5,20}$/.test(bankMobile)) return { wrong: 'The bank mobile has 5 to 20 digits.' };
  return { bankCardNo, realName, certificateNo, bankMobile };
}
