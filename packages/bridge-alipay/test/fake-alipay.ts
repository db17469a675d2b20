import { createSign, createVerify, generateKeyPairSync } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text as bodyOf } from 'node:stream/consumers';
import { zipGbk } from './zipped-gbk.js';

/**
 * Alipay's gateway on loopback, written from Alipay's documentation, with real RSA2 signatures on requests and
 * responses. Each answer names its page of the documentation. It has not been compared with the real gateway.
 */

export const APP_ID = '2021000000000001';
/** Created once per test file, because creating a key pair takes half a second. */
const app = generateKeyPairSync('rsa', { modulusLength: 2048 });
const alipay = generateKeyPairSync('rsa', { modulusLength: 2048 });
const stranger = generateKeyPairSync('rsa', { modulusLength: 2048 });
export const APP_PRIVATE_KEY = app.privateKey.export({ format: 'pem', type: 'pkcs8' }).toString();
export const ALIPAY_PUBLIC_KEY = alipay.publicKey.export({ format: 'pem', type: 'spki' }).toString();

/** The behaviour of debits on an agreement. Default: paid immediately. */
export type Behaviour =
  | { readonly decline: string }
  /** Answers 10003 (pending). The test sets the result later. */
  | 'wait'
  /** Answers 10003 (pending), then pays at once and sends a notice. */
  | 'pay-later'
  /** Answers 10003 (pending), pays after the first query, and sends a notice. */
  | 'pay-when-asked'
  /** Answers 20000 (outcome unknown), but has paid. */
  | 'unknown-paid'
  /** Answers 20000 (outcome unknown) to the first request and does not pay. Pays when the debit is sent again. */
  | 'unknown-unpaid'
  /** Breaks the connection before the payment, twice, because the SDK retries once. */
  | 'lost-unpaid'
  /** Pays, but signs the answer with a foreign key. */
  | 'forged';

export interface Trade {
  readonly outTradeNo: string;
  readonly tradeNo: string;
  readonly cents: number;
  readonly subject: string;
  readonly agreementNo: string;
  readonly notifyUrl: string | null;
  readonly createdAt: number;
  status: 'WAIT_BUYER_PAY' | 'TRADE_SUCCESS' | 'TRADE_CLOSED';
  paidAt?: number;
  readonly refunds: Map<string, { readonly cents: number; readonly at: number }>;
}

type Content = Readonly<Record<string, unknown>>;
interface Called {
  readonly method: string;
  readonly content: Content;
}
type Answer = Readonly<Record<string, unknown>>;

const yuan = (cents: number) => `${Math.trunc(cents / 100)}.${String(cents % 100).padStart(2, '0')}`;
const time = (ms: number) => new Date(ms + 8 * 3_600_000).toISOString().slice(0, 19).replace('T', ' ');
const cents = (text: unknown) => {
  const [, whole = '', rest = ''] = /^(\d+)\.(\d\d)$/.exec(String(text)) ?? [];
  return whole === '' ? Number.NaN : Number(`${whole}${rest}`);
};

// The gateway's common codes: https://opendocs.alipay.com/common/02km9f
const done = (fields: Answer): Answer => ({ code: '10000', msg: 'Success', ...fields });
const failed = (subCode: string, fields: Answer = {}): Answer => ({
  code: '40004',
  msg: 'Business Failed',
  sub_code: subCode,
  sub_msg: `业务失败 ${subCode}`,
  ...fields,
});
const unknown: Answer = { code: '20000', msg: 'Service Currently Unavailable', sub_code: 'aop.ACQ.SYSTEM_ERROR' };

export interface FakeAlipayOptions {
  /** The booking time. Default: now. */
  readonly now?: () => number;
  /** The time that the callers' clocks show. */
  readonly callersNow?: () => number;
}

export class FakeAlipay {
  readonly trades = new Map<string, Trade>();
  readonly called: Called[] = [];
  /** How often each trade number was paid. Tests expect 1. */
  readonly payments = new Map<string, number>();
  readonly #behaviours = new Map<string, Behaviour>();
  readonly #unsigned = new Set<string>();
  readonly #tries = new Map<string, number>();
  /** For each method, how many of the next calls are executed but lose their answer. */
  readonly #losing = new Map<string, number>();
  readonly #said = new Map<string, Answer>();
  readonly #server = createServer((request, response) => {
    this.#serve(request, response).catch(() => response.destroy());
  });
  readonly #now: () => number;
  readonly #callersNow: () => number;
  #count = 0;
  #billsMissing = false;
  url = '';

  constructor({ now = Date.now, callersNow = Date.now }: FakeAlipayOptions = {}) {
    this.#now = now;
    this.#callersNow = callersNow;
  }

  async start(): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    this.url = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
    return this;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  on(agreementNo: string, behaviour: Behaviour): void {
    this.#behaviours.set(agreementNo, behaviour);
  }

  lose(method: string, times: number): void {
    this.#losing.set(method, times);
  }

  /** Sets the answer to the next call of a method. */
  say(method: string, answer: Answer): void {
    this.#said.set(method, answer);
  }

  loseBills(missing: boolean): void {
    this.#billsMissing = missing;
  }

  callsOf(method: string): readonly Content[] {
    return this.called.filter((call) => call.method === method).map(({ content }) => content);
  }

  settle(outTradeNo: string, status: 'TRADE_SUCCESS' | 'TRADE_CLOSED'): Trade {
    const trade = this.#require(outTradeNo);
    if (status === 'TRADE_SUCCESS') this.#pay(trade);
    else trade.status = status;
    return trade;
  }

  /**
   * Creates a notice: a form whose sorted fields are signed, except sign and sign_type
   * (https://opendocs.alipay.com/support/01rg2a).
   */
  notice(fields: Readonly<Record<string, string>>, key = alipay.privateKey): string {
    const all = { notify_time: time(this.#now()), notify_id: `N${++this.#count}`, charset: 'utf-8', ...fields };
    const signed = createSign('RSA-SHA256').update(signTextOf(all)).sign(key, 'base64');
    return new URLSearchParams({ ...all, sign_type: 'RSA2', sign: signed }).toString();
  }

  /**
   * Creates a trade's notice, with refund_fee and gmt_refund after a refund: https://developer.aliyun.com/ask/285129
   */
  tradeNotice(outTradeNo: string, key = alipay.privateKey): string {
    const trade = this.#require(outTradeNo);
    const last = [...trade.refunds.values()].at(-1);
    const refunded = [...trade.refunds.values()].reduce((sum, one) => sum + one.cents, 0);
    return this.notice(
      {
        notify_type: 'trade_status_sync',
        app_id: APP_ID,
        out_trade_no: outTradeNo,
        trade_no: trade.tradeNo,
        trade_status: trade.status,
        total_amount: yuan(trade.cents),
        subject: trade.subject,
        gmt_create: time(trade.createdAt),
        ...(trade.paidAt === undefined ? {} : { gmt_payment: time(trade.paidAt) }),
        ...(last ? { refund_fee: yuan(refunded), gmt_refund: `${time(last.at)}.000` } : {}),
      },
      key,
    );
  }

  forgedTradeNotice(outTradeNo: string): string {
    return this.tradeNotice(outTradeNo, stranger.privateKey);
  }

  /** Creates a notice that an agreement has ended: https://docs.open.alipay.com/api_2/alipay.user.agreement.unsign */
  unsignNotice(agreementNo: string): string {
    return this.notice({
      notify_type: 'dut_user_unsign',
      app_id: APP_ID,
      agreement_no: agreementNo,
      status: 'UNSIGN',
      unsign_time: time(this.#now()),
    });
  }

  #require(outTradeNo: string): Trade {
    const trade = this.trades.get(outTradeNo);
    if (!trade) throw new Error(`no trade ${outTradeNo}`);
    return trade;
  }

  #pay(trade: Trade): void {
    trade.status = 'TRADE_SUCCESS';
    trade.paidAt = this.#now();
    this.payments.set(trade.outTradeNo, (this.payments.get(trade.outTradeNo) ?? 0) + 1);
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '', 'http://fake');
    if (url.pathname === '/bill') {
      response.writeHead(200, { 'content-type': 'application/zip' }).end(this.bill(url.searchParams.get('day') ?? ''));
      return;
    }
    const params = Object.fromEntries([...url.searchParams, ...new URLSearchParams(await bodyOf(request))]);
    const method = params['method'] ?? '';
    const refused = refuseRequest(params, this.#callersNow());
    const content: Content = JSON.parse(params['biz_content'] ?? '{}');
    if (!refused) this.called.push({ method, content });
    const said = this.#said.get(method);
    this.#said.delete(method);
    const answer = refused ?? said ?? this.#answer(method, content, params['notify_url'] ?? null);
    const losing = this.#losing.get(method) ?? 0;
    if (losing > 0) this.#losing.set(method, losing - 1);
    if (answer === 'lost' || losing > 0) {
      request.socket.destroy();
      return;
    }
    const { forged = false, ...fields } = answer;
    const text = JSON.stringify(fields);
    const key = forged ? stranger.privateKey : alipay.privateKey;
    const sign = createSign('RSA-SHA256').update(text).sign(key, 'base64');
    response.writeHead(200, { 'content-type': 'text/html;charset=utf-8' });
    response.end(`{"${method.replaceAll('.', '_')}_response":${text},"sign":"${sign}"}`);
  }

  #answer(method: string, content: Content, notifyUrl: string | null): Answer | 'lost' {
    switch (method) {
      case 'alipay.trade.pay':
        return this.#tradePay(content, notifyUrl);
      case 'alipay.trade.query':
        return this.#tradeQuery(content);
      case 'alipay.trade.refund':
        return this.#refund(content);
      case 'alipay.trade.fastpay.refund.query':
        return this.#refundQuery(content);
      case 'alipay.user.agreement.unsign':
        return this.#unsignAgreement(content);
      case 'alipay.data.dataservice.bill.downloadurl.query':
        return this.#billUrl(content);
      default:
        return { code: '40003', msg: 'Insufficient Conditions', sub_code: 'isv.invalid-method' };
    }
  }

  /** Answers as in https://opendocs.alipay.com/open/38d751b1_alipay.trade.pay, with the codes under "业务错误码". */
  #tradePay(content: Content, notifyUrl: string | null): Answer | 'lost' {
    const {
      out_trade_no: number,
      total_amount: amount,
      subject,
      product_code: product,
      agreement_params: agreed,
    } = content;
    const outTradeNo = String(number);
    const agreementNo = String((agreed as Content)?.['agreement_no'] ?? '');
    if (!/^\w{1,64}$/.test(outTradeNo) || !(cents(amount) > 0)) return failed('ACQ.INVALID_PARAMETER');
    if (product !== 'CYCLE_PAY_AUTH') return failed('ACQ.ACCESS_FORBIDDEN');
    if (typeof subject !== 'string' || /[/=&]/.test(subject) || subject.length > 256)
      return failed('ACQ.INVALID_PARAMETER');
    const known = this.trades.get(outTradeNo);
    if (known) {
      // From the documentation of alipay.trade.pay: "ACQ.TRADE_HAS_SUCCESS 交易已被支付", "ACQ.CONTEXT_INCONSISTENT 交易信息被篡改",
      // "ACQ.TRADE_HAS_CLOSE 交易已经关闭".
      if (known.cents !== cents(amount) || known.subject !== subject) return failed('ACQ.CONTEXT_INCONSISTENT');
      if (known.status === 'TRADE_SUCCESS') return failed('ACQ.TRADE_HAS_SUCCESS');
      if (known.status === 'TRADE_CLOSED') return failed('ACQ.TRADE_HAS_CLOSE');
      return { code: '10003', msg: ' order success pay inprocess', out_trade_no: outTradeNo, trade_no: known.tradeNo };
    }
    if (this.#unsigned.has(agreementNo)) return failed('ACQ.AGREEMENT_NOT_EXIST');
    const behaviour = this.#behaviours.get(agreementNo);
    if (typeof behaviour === 'object') return failed(behaviour.decline, { out_trade_no: outTradeNo });
    const before = this.#tries.get(outTradeNo) ?? 0;
    this.#tries.set(outTradeNo, before + 1);
    if (behaviour === 'unknown-unpaid' && before < 1) return unknown;
    if (behaviour === 'lost-unpaid' && before < 2) return 'lost';
    return this.#book(outTradeNo, { cents: cents(amount), subject, agreementNo, notifyUrl }, behaviour);
  }

  #book(
    outTradeNo: string,
    asked: Pick<Trade, 'cents' | 'subject' | 'agreementNo' | 'notifyUrl'>,
    behaviour: Exclude<Behaviour, object> | undefined,
  ): Answer {
    this.#count += 1;
    const tradeNo = `2026${String(this.#count).padStart(24, '0')}`;
    const trade: Trade = {
      ...asked,
      outTradeNo,
      tradeNo,
      createdAt: this.#now(),
      status: 'WAIT_BUYER_PAY',
      refunds: new Map(),
    };
    this.trades.set(outTradeNo, trade);
    if (behaviour === 'wait' || behaviour === 'pay-later' || behaviour === 'pay-when-asked') {
      if (behaviour === 'pay-later') setImmediate(() => this.#payAndTell(trade));
      return { code: '10003', msg: ' order success pay inprocess', out_trade_no: outTradeNo, trade_no: tradeNo };
    }
    this.#pay(trade);
    if (behaviour === 'unknown-paid') return unknown;
    const paid = {
      out_trade_no: outTradeNo,
      trade_no: tradeNo,
      buyer_logon_id: '159****5620',
      total_amount: yuan(trade.cents),
      receipt_amount: yuan(trade.cents),
      gmt_payment: time(trade.paidAt ?? 0),
    };
    return { ...done(paid), ...(behaviour === 'forged' ? { forged: true } : {}) };
  }

  #payAndTell(trade: Trade): void {
    this.#pay(trade);
    if (trade.notifyUrl) void this.tell(trade.notifyUrl, this.tradeNotice(trade.outTradeNo)).catch(() => undefined);
  }

  /** Sends a notice. Returns true if it was accepted: the answer is exactly "success". */
  async tell(url: string, body: string): Promise<boolean> {
    const headers = { 'content-type': 'application/x-www-form-urlencoded; charset=utf-8' };
    const response = await fetch(url, { method: 'POST', headers, body });
    return (await response.text()) === 'success';
  }

  /** Answers as in https://docs.open.alipay.com/api_1/alipay.trade.query. An unpaid trade has no send_pay_date. */
  #tradeQuery({ out_trade_no: outTradeNo }: Content): Answer {
    const trade = this.trades.get(String(outTradeNo));
    if (!trade) return failed('ACQ.TRADE_NOT_EXIST');
    if (trade.paidAt === undefined && this.#behaviours.get(trade.agreementNo) === 'pay-when-asked')
      setImmediate(() => this.#payAndTell(trade));
    return done({
      out_trade_no: outTradeNo,
      trade_no: trade.tradeNo,
      trade_status: trade.status,
      total_amount: yuan(trade.cents),
      ...(trade.paidAt === undefined ? {} : { send_pay_date: time(trade.paidAt) }),
    });
  }

  /**
   * Refunds as in https://opendocs.alipay.com/open/6c0cdd7d_alipay.trade.refund. A repeated out_request_no is answered
   * with fund_change N, or with ACQ.DISCORDANT_REPEAT_REQUEST if the amount differs
   * (https://yq.aliyun.com/articles/707486). refund_fee is the sum of all refunds.
   */
  #refund({ out_trade_no: outTradeNo, refund_amount: amount, out_request_no: number }: Content): Answer {
    const trade = this.trades.get(String(outTradeNo));
    if (!trade) return failed('ACQ.TRADE_NOT_EXIST');
    const asked = cents(amount);
    const former = trade.refunds.get(String(number));
    const sum = () => [...trade.refunds.values()].reduce((all, one) => all + one.cents, 0);
    const told = () => ({ out_trade_no: outTradeNo, trade_no: trade.tradeNo, refund_fee: yuan(sum()) });
    if (former && former.cents !== asked) return failed('ACQ.DISCORDANT_REPEAT_REQUEST');
    if (former) return done({ ...told(), fund_change: 'N' });
    if (trade.paidAt === undefined) return failed('ACQ.TRADE_STATUS_ERROR');
    if (asked > trade.cents) return failed('ACQ.REFUND_AMT_NOT_EQUAL_TOTAL');
    if (sum() + asked > trade.cents) return failed('ACQ.REASON_TRADE_REFUND_FEE_ERR');
    trade.refunds.set(String(number), { cents: asked, at: this.#now() });
    if (sum() === trade.cents) trade.status = 'TRADE_CLOSED';
    return done({ ...told(), fund_change: 'Y', gmt_refund_pay: time(this.#now()) });
  }

  /** Answers as in https://opendocs.alipay.com/open/02ekfl: an unknown refund gets 10000 without refund_status. */
  #refundQuery({ out_trade_no: outTradeNo, out_request_no: number, query_options: options }: Content): Answer {
    const trade = this.trades.get(String(outTradeNo));
    if (!trade) return failed('ACQ.TRADE_NOT_EXIST');
    const refund = trade.refunds.get(String(number));
    if (!refund) return done({ out_trade_no: outTradeNo, trade_no: trade.tradeNo });
    const asked = Array.isArray(options) && options.includes('gmt_refund_pay');
    return done({
      out_trade_no: outTradeNo,
      out_request_no: number,
      trade_no: trade.tradeNo,
      total_amount: yuan(trade.cents),
      refund_amount: yuan(refund.cents),
      refund_status: 'REFUND_SUCCESS',
      ...(asked ? { gmt_refund_pay: time(refund.at) } : {}),
    });
  }

  /** https://docs.open.alipay.com/api_2/alipay.user.agreement.unsign: "USER_AGREEMENT_NOT_EXIST 用户协议不存在". */
  #unsignAgreement({ agreement_no: agreementNo }: Content): Answer {
    const behaviour = this.#behaviours.get(String(agreementNo));
    if (typeof behaviour === 'object' && behaviour.decline === 'AUTHOREE_IS_NOT_MATCH')
      return failed(behaviour.decline);
    if (this.#unsigned.has(String(agreementNo))) return failed('USER_AGREEMENT_NOT_EXIST');
    this.#unsigned.add(String(agreementNo));
    return done({});
  }

  /** Answers as in https://opendocs.alipay.com/open/06fpmm. A missing bill gets "BILL_NOT_EXIST 账单不存在". */
  #billUrl({ bill_type: type, bill_date: day }: Content): Answer {
    if (type !== 'trade' || this.#billsMissing) return failed('isp.bill_not_exist');
    return done({ bill_download_url: `${this.url}/bill?day=${day}` });
  }

  bill(day: string): Buffer {
    const rows: string[] = [];
    const counts = { 交易: 0, 退款: 0 };
    const add = (trade: Trade, kind: keyof typeof counts, amount: string, at: number, number: string) => {
      if (!time(at).startsWith(day)) return;
      counts[kind] += 1;
      const cells = [
        `${trade.tradeNo}\t`,
        `${trade.outTradeNo}\t`,
        kind,
        trade.subject,
        time(trade.createdAt),
        time(at),
      ];
      const blank = ['', '', '', ''];
      const zeros = ['0.00', '0.00', '0.00', '0.00', '0.00', '', '0.00', '0.00'];
      rows.push(
        [...cells, ...blank, '*三(159****5620)', amount, amount, ...zeros, number, '0.00', '0.00', ''].join(','),
      );
    };
    for (const trade of this.trades.values()) {
      if (trade.paidAt !== undefined) add(trade, '交易', yuan(trade.cents), trade.paidAt, '');
      for (const [number, { cents: back, at }] of trade.refunds)
        add(trade, '退款', `-${yuan(back)}`, at, `${number}\t`);
    }
    return zipGbk([
      { name: `20881234567890120156_${day.replaceAll('-', '')}_业务明细.csv`, text: toList(rows, counts) },
      { name: `20881234567890120156_${day.replaceAll('-', '')}_业务明细(汇总).csv`, text: SUMMARY },
    ]);
  }
}

/** The header, columns and footer of real bills. Alipay does not document them. */
const COLUMNS =
  '支付宝交易号,商户订单号,业务类型,商品名称,创建时间,完成时间,门店编号,门店名称,操作员,终端号,对方账户,订单金额（元）,' +
  '商家实收（元）,支付宝红包（元）,集分宝（元）,支付宝优惠（元）,商家优惠（元）,券核销金额（元）,券名称,商家红包消费金额（元）,' +
  '卡消费金额（元）,退款批次号/请求号,服务费（元）,分润（元）,备注';
const SUMMARY = '#支付宝业务汇总查询\r\n门店编号,门店名称,交易订单总笔数,退款订单总笔数\r\n合计,,0,0\r\n';

export function toList(
  rows: readonly string[],
  { 交易: paid, 退款: refunded }: { 交易: number; 退款: number },
): string {
  return [
    '#支付宝业务明细查询',
    '#账号：[20881234567890120156]',
    '#-----------------------------------------业务明细列表----------------------------------------',
    COLUMNS,
    ...rows,
    '#-----------------------------------------业务明细列表结束------------------------------------',
    `#交易合计：${paid}笔，商家实收共0.00元，商家优惠共0.00元`,
    `#退款合计：${refunded}笔，商家实收退款共0.00元，商家优惠退款共0.00元`,
    '',
  ].join('\r\n');
}

const signTextOf = (fields: Readonly<Record<string, string>>) =>
  Object.keys(fields)
    .toSorted()
    .map((name) => `${name}=${fields[name]}`)
    .join('&');

/**
 * Refuses a wrong app id, a time that is not in UTC+8, and a signature that does not cover all sorted parameters
 * (except sign itself): https://opendocs.alipay.com/common/02kf5q
 */
function refuseRequest({ sign = '', ...params }: Readonly<Record<string, string>>, now: number): Answer | undefined {
  const isSigned = createVerify('RSA-SHA256').update(signTextOf(params)).verify(app.publicKey, sign, 'base64');
  const refuse = (subCode: string) => ({ code: '40002', msg: 'Invalid Arguments', sub_code: subCode });
  if (!isSigned) return refuse('isv.invalid-signature');
  if (params['app_id'] !== APP_ID) return refuse('isv.invalid-app-id');
  const sentAt = Date.parse(`${params['timestamp']?.replace(' ', 'T')}+08:00`);
  return Math.abs(now - sentAt) < 600_000 ? undefined : refuse('isv.invalid-timestamp');
}
