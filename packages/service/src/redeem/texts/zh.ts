import { Html, html } from '../html.js';
import { toDateParts } from './dates.js';
import type { ModeTexts, Texts } from './en.js';

/** As `html`, for texts with a name. A Chinese name has no spaces around it: lines can break there, as at a space. */
const withName = (parts: TemplateStringsArray, ...values: Parameters<typeof html>[1][]): Html =>
  new Html(html(parts, ...values).text.replace(SPACE_AT_CHINESE, '<wbr>'));

/** A space between a Chinese character and the beginning or the end of a name with a Chinese character there. */
const SPACE_AT_CHINESE = / (?=<bdi>[\p{Script=Han}（【《「])|(?<=[\p{Script=Han}）】》」]<\/bdi>) /gu;

const date = (at: number) => {
  const { year, month, day } = toDateParts(at);
  return html`<span class="date">${year}年${month + 1}月${day}日</span>`;
};
const dateTime = (at: number) => html`<span class="moment">${date(at)} ${toDateParts(at).time}</span>`;

// Lines break between clauses. A clause that is wider than the narrowest screen has `<wbr>` where it can break.

const debited: ModeTexts = {
  history: '付款记录',
  historyNote: undefined,
  allHistory: (count) => `全部 ${count} 期`,
  next: '下次扣款',
  nextTry: '下次重试',
  lastPaid: '上次扣款',
  noNext: '无',
  nextWith: (on) => html`下一期权益将于 ${on}<wbr>付款后发放。`,
  endBefore: (on) => html`在 ${on}<wbr>之前退订，将不会扣款。`,
  outcome: {
    WAIT: '待扣款',
    PROCESSING: '处理中',
    SUCCESS: '已付款',
    FAIL_RETRY: '暂未付款',
    FAIL: '扣款失败',
    BILLED: '已计费',
    CANCELED: '已取消',
    REFUND_PART: '部分退款',
    REFUND_FULL: '已退款',
  },
  triedAgain: (on, hasBenefits) => html`将于 ${on}<wbr>再次扣款${hasBenefits ? '，成功后发放权益' : ''}。`,
  noBenefits: (hasBenefits) => (hasBenefits ? '未扣款，本期无权益。' : '未扣款。'),
  nextPeriod: (on) => html`不再重试。下一期将于 ${on}<wbr>开始。`,
  neverBegan: '未扣款，订阅未生效。',
  notTaken: '订阅已提前结束，未扣款。',
  failed: (cycleNo) => `第 ${cycleNo} 期扣款失败`,
  endNoMore: (next) =>
    next ? html`原定 ${next.date}<wbr>的 ${next.amount} 将不再扣款，之后各期<wbr>也不再扣款。` : html`之后不再扣款。`,
  endedNoMore: () => html`之后不再扣款。`,
};

const billed: ModeTexts = {
  ...debited,
  history: '计费记录',
  historyNote: (seller) => withName`由 ${seller} 计费。`,
  next: '下一期',
  nextTry: '下一期',
  lastPaid: '上次计费',
  nextWith: (on) => html`下一期权益将于 ${on}<wbr>该期开始时发放。`,
  endBefore: (on) => html`在 ${on}<wbr>之前退订，之后各期不再开始。`,
  outcome: { ...debited.outcome, WAIT: '待计费', SUCCESS: '已计费', FAIL_RETRY: '暂未计费', FAIL: '未计费' },
  triedAgain: (on) => html`该期将于 ${on}<wbr>开始。`,
  noBenefits: (hasBenefits) => (hasBenefits ? '本期无权益。' : '本期不计费。'),
  nextPeriod: (on) => html`下一期将于 ${on}<wbr>开始。`,
  neverBegan: '订阅未生效。',
  notTaken: '订阅已提前结束。',
  failed: (cycleNo) => `第 ${cycleNo} 期未计费`,
  endNoMore: (_next, seller) => withName`之后各期不再开始，我们会立即通知计费方 ${seller}。`,
  endedNoMore: (seller) => withName`之后各期不再开始，我们已通知计费方 ${seller}。`,
};

export const zh: Texts = {
  lang: 'zh-CN',
  language: 'zh',
  other: { language: 'en', lang: 'en', name: 'English' },
  gap: '',
  date,
  dateTime,
  dates: (from, to) => (date(from).text === date(to).text ? date(from) : html`${date(from)} – ${date(to)}`),
  yourBenefits: '我的权益',
  status: {
    INITIALIZING: '首期扣款处理中',
    ACTIVE: '生效中',
    UNSUBSCRIBED: '已结束',
    COMPLETED: '已完成',
    TERMINATED: '首期扣款失败',
  },
  period: (cycleNo, totalCycles) => `第 ${cycleNo} 期，共 ${totalCycles} 期`,
  periodShort: (cycleNo) => `第 ${cycleNo} 期`,
  timeZone: '时间均为北京时间（UTC+8）。',

  backTo: (seller) => withName`返回<span class="to"> ${seller}</span>`,
  soldBy: (seller) => withName`您在 ${seller} 的订阅`,
  support: { phone: '致电', mail: '发邮件至', web: '帮助' },
  terms: '服务条款',

  toClaim: '待领取',
  worth: (amount) => `价值 ${amount}`,
  claimBy: (time) => html`请在 ${time} 前领取`,
  daysLeft: (days) => (days === 0 ? '即将截止' : `仅剩 ${days} 天`),
  claim: '领取',
  claimAll: (count) => `全部领取（${count} 项）`,
  claimEverything: (count, atOnce) =>
    count > atOnce ? `一键领取前 ${atOnce} 项（共 ${count} 项）` : `一键领取（${count} 项）`,
  allToClaim: (count) => `全部 ${count} 项待领取`,
  linkUntil: (time) => html`本链接有效至 ${time}。`,
  newLinkFrom: (seller) => withName`前往 ${seller} 获取新链接`,
  openAgain: (seller) => withName`到期后，请从 ${seller} 重新进入。`,
  sendLink: '发送新链接到我的手机',
  nothingToClaim: html`目前没有<wbr>可领取的权益。`,
  nothingLeft: '没有可领取的权益。',
  openUntil: (time) => html`本页面可打开至 ${time}，请记下您的兑换码。`,

  yourCodes: '我的兑换码',
  allCodes: (count) => `全部 ${count} 个兑换码`,
  claimedOn: (time) => html`领取于 ${time}`,
  copy: '复制',
  copied: '已复制',
  qr: '二维码',
  useAt: (host) => html`前往 ${host} 使用`,
  pending: '兑换码正在发放',
  pendingDetail: '您已领取成功，权益不会丢失。兑换码到达后会显示在这里。',
  checkAgain: '刷新查看',

  noLonger: '已失效',
  pastCount: (count) => `${count} 项已失效`,
  expiredOn: (time) => html`已于 ${time} 过期`,
  revoked: '已随退款收回',
  nothingPast: '没有已失效的权益。',
  noCodes: '您还没有领取权益。',
  subscriptionEnded: '订阅已结束。',

  donePending: '已领取',
  doneAll: (count) => (count === 1 ? '领取成功' : html`${count} 项全部<wbr>领取成功`),
  doneSome: (claimed, count) => `${count} 项中已领取 ${claimed} 项`,
  doneNone: '领取失败',
  doneEverything: '全部领取成功',
  doneEverythingBut: (count) => html`还有 ${count} 项<wbr>尚未领取，请再点一次。`,
  notClaimedYet: '尚未领取，请再点一次。',

  showMore: '查看更多',
  fromStart: '回到开头',
  back: '返回我的权益',
  backToSubscription: '返回我的订阅',

  subscription: '订阅信息',
  amount: '价格',
  payWith: '付款方式',
  card: (name, tail) => withName`${name}<span class="date">（尾号 ${tail}）</span>`,
  startedOn: '开通日期',
  orderedOn: '下单日期',
  remaining: '剩余期数',
  remainingPeriods: (count) => (count === 0 ? '已是最后一期' : `${count} 期`),
  runsUntil: '到期日期',
  everyPeriod: (amount, period) => `${amount} / ${period}`,
  cadence: {
    DAY: (period) => (period === 1 ? '天' : `${period} 天`),
    MONTH: (period) => (period === 1 ? '月' : `${period} 个月`),
  },
  endedOn: '结束日期',
  orderNumber: '订单号',
  channelOrderNumber: '渠道订单号',
  mode: { SVC_DEDUCT: debited, CHANNEL_COLLECT: billed },
  declined: {
    INSUFFICIENT_FUNDS: '银行卡余额不足。',
    LIMIT_EXCEEDED: '超出银行卡支付限额。',
    CARD_EXPIRED: '银行卡已过有效期。',
    CARD_LOST: '银行卡已挂失。',
    ACCOUNT_CLOSED: '银行账户已注销或被冻结。',
    AGREEMENT_ENDED: '代扣协议已解约。',
    WRONG_DETAILS: '银行卡信息有误。',
    SUSPECTED_FRAUD: '银行出于安全考虑，未完成此次扣款。',
    NOT_PERMITTED: '银行不支持此次扣款。',
    INSTITUTION_UNAVAILABLE: '银行暂时没有响应。',
    TECHNICAL: '银行系统出现故障。',
    OTHER: '银行未通过此次扣款。',
  },
  advice: {
    money: html`请在此之前确保银行卡余额<wbr>和限额充足。`,
    ask: (seller) => withName`如需更换银行卡，请联系 ${seller}。`,
    resubscribe: (seller) =>
      withName`本订阅无法更换银行卡。如需使用其他银行卡，<wbr>请先退订，再前往 ${seller} 重新订阅。`,
    again: (seller) => withName`如需继续使用，可前往 ${seller} 重新订阅。`,
    nothing: '您无需任何操作。',
  },
  changeCard: (seller) => withName`前往 ${seller} 更换银行卡`,
  refunded: (amount, on) => html`已于 ${on}<wbr>退款 ${amount}`,
  earlierRefunds: (count) => `另有 ${count} 笔更早的退款`,

  receipt: {
    title: '收据',
    seller: '商家',
    product: '产品',
    amount: '金额',
    number: '支付订单号',
    refund: '退款',
    left: '退款后金额',
  },

  keepTitle: '保存本页面',
  keepText: (time, isLast) =>
    isLast
      ? html`您不会再收到<wbr>新的链接，但可以保存<wbr>一个长期链接，有效至 ${time}。`
      : html`您可以保存<wbr>一个长期链接，有效至 ${time}。`,
  keepOpen: '打开长期链接',
  keepHow: html`打开后请收藏该页面，或将网址发给自己。持有链接的人<wbr>都可以领取，请勿外传。`,
  kept: (time) => html`这就是您的长期链接，有效至 ${time}，请收藏本页面，或将网址发给自己。`,
  copyLink: '复制链接',
  share: '分享',

  end: '退订',
  endTitle: (product) => withName`确定要退订 ${product} 吗？`,
  endTitlePlain: '确定要退订吗？',
  endKeepsUnclaimed: (count, until) => html`您尚未领取的 ${count}\u00a0项权益<wbr>仍归您所有，可领取至 ${until}。`,
  endKeepsCodes: (until) =>
    until
      ? html`已领取的兑换码仍归您所有。本页面可打开至 ${until}，请在此之前记下。`
      : html`已领取的兑换码仍归您所有。`,
  endLink: (until, present) =>
    html`退订后您将获得<wbr>一个长期链接，有效至 ${until}，请妥善保存。当前链接仅有效至 ${present}。`,
  endForGood: html`退订后无法恢复，如需继续使用<wbr>请重新订阅。`,
  digits: '手机号后四位',
  digitsHint: (seller) => withName`请输入您在 ${seller} 登录所用手机号<wbr>的后四位，以确认是您本人操作。`,
  endConfirm: '确认退订',
  keep: '暂不退订',
  digitsForm: '请输入四位数字。',
  digitsWrong: (left) => `手机号后四位不正确，还可以尝试 ${left} 次。`,
  code: {
    label: '短信验证码',
    hint: html`6 位数字，已发送至您登录所用的手机号，<wbr>10 分钟内有效。`,
  },
  codeForm: '请输入 6 位数字验证码。',
  codeWrong: (left) => `验证码不正确，还可以尝试 ${left} 次。`,
  noCode: '验证码已失效，请重新获取。',
  sendCode: '改用短信验证码',
  sendCodeAgain: '重新获取验证码',
  lockedTitle: '错误次数过多',
  locked: (minutes) =>
    html`为保障账户安全，请 ${minutes < 120 ? `${minutes} 分钟` : `${Math.ceil(minutes / 60)} 小时`}后再输入。`,
  lockedForGood: html`为保障账户安全，此处已不能再输入手机号后四位。`,
  lockedSendCode: html`您也可以立即使用短信验证码确认，验证码将发送至<wbr>您登录所用的手机号。`,
  lockedAsk: (seller) => withName`您也可以联系 ${seller} 退订。`,
  sentTitle: '请查看短信',
  notSentTitle: '短信未发送',
  sent: {
    sent: '新链接已发送至您登录所用的手机号。',
    'too-often': '短信刚刚发送，或今日发送次数过多，请稍后再试。',
    'not-sent': '短信发送失败，请稍后再试。',
    'no-mobile': '未查询到您的手机号。',
  },
  messages: {
    code: (seller, code) => `【${seller}】退订验证码 ${code}，10 分钟内有效。如非本人操作，请忽略。`,
    link: (seller, url) => `【${seller}】您的订阅页面：${url}`,
  },
  cannotEnd: {
    INITIALIZING: '首期扣款仍在处理中，请在扣款完成后再试。',
    UNSUBSCRIBED: '该订阅已结束，之后各期不再开始。',
    COMPLETED: '该订阅各期均已完成，无需退订。',
    TERMINATED: '首期扣款失败，该订阅未生效，不会扣款。',
  },
  noMobile: (seller) => withName`未查询到您的手机号，无法在本页面退订，请联系 ${seller}。`,

  endedTitle: '订阅已结束',
  endedText: (product, on) => withName`${product} 已于 ${on}<wbr>结束。`,
  endedLeft: (count, until) => html`还有 ${count}\u00a0项权益可以领取，截至 ${until}。`,
  endedNothingLeft: (until) => html`没有待领取的权益。兑换码可查看至 ${until}，请记下。`,
  endedQuote: '如有疑问，请提供此编号',
  endedToBenefits: (toClaim) => (toClaim > 0 ? '去领取' : '查看兑换码'),

  claimExpired: '该权益在领取前已过期，无法再领取。',
  claimRevoked: '该权益已随退款收回，无法再领取。',
  claimUnknown: '该权益不属于您的订阅。',

  refused: {
    title: '链接无法打开',
    text: '链接可能不完整，或是旧的链接。您可以：',
    steps: [
      '从收到链接的消息中重新打开，或完整复制链接；',
      html`从您订阅时使用的应用或网站<wbr>进入订阅页面；`,
      html`联系该平台客服，并提供您的订单号。`,
    ],
  },
  expired: {
    title: '链接已过期',
    text: (seller) =>
      withName`为保障账户安全，链接仅在一定时间内有效，您的订阅不受影响。请从 ${seller} 重新进入订阅页面。`,
  },
  crossSite: {
    title: '操作并非来自本页面',
    text: '操作未生效。请从您订阅时使用的应用或网站重新进入订阅页面后再试。',
  },
  tooOften: (seconds) => ({
    title: '请稍候',
    text: `操作过于频繁，请 ${seconds} 秒后再试，您的订阅不受影响。`,
  }),
  away: {
    title: '服务暂时不可用',
    text: '请稍后再试，您的订阅不受影响。',
  },
  fault: (requestId) => ({
    title: '出错了',
    text: `请稍后再试，您的订阅不受影响。如果问题持续出现，请提供此编号：${requestId}`,
  }),
  offline: '网络未连接，操作未生效。请联网后再点一次。',
  tryAgain: '重试',
};
