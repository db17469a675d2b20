import { keepOnOneLine, type Texts } from './texts.js';

const ZONE = 'Asia/Shanghai';
const date = new Intl.DateTimeFormat('zh-CN', { timeZone: ZONE, year: 'numeric', month: 'long', day: 'numeric' });

export const zh: Texts = {
  lang: 'zh-CN',
  gap: '',
  date: keepOnOneLine(date),
  dateTime: keepOnOneLine(
    new Intl.DateTimeFormat('zh-CN', {
      timeZone: ZONE,
      year: 'numeric',
      month: 'long',
      day: 'numeric',
      hour: '2-digit',
      minute: '2-digit',
      hourCycle: 'h23',
    }),
  ),
  // Not formatRange, which writes 2027/2/15 in this language.
  dates: (from, to) => `${date.format(from)} – ${date.format(to)}`,
  yourBenefits: '我的权益',
  status: {
    INITIALIZING: '首期扣款处理中',
    ACTIVE: '生效中',
    UNSUBSCRIBED: '已退订',
    COMPLETED: '已完成',
    TERMINATED: '首期扣款失败',
  },
  period: (cycleNo, totalCycles) => `第 ${cycleNo} 期，共 ${totalCycles} 期`,
  periodShort: (cycleNo) => `第 ${cycleNo} 期`,
  timeZone: '以上时间均为北京时间（UTC+8）。',

  toClaim: '待领取',
  worth: (amount) => `价值 ${amount}`,
  claimBy: (time) => `截止 ${time}`,
  claim: '立即领取',
  nothingToClaim: '目前没有可领取的权益。',
  nextWith: (date) => `下一期权益将于 ${date} 付款后发放。`,
  olderToClaim: (count) => `更早还有 ${count} 项可领取`,
  newerToClaim: (count) => `较新的还有 ${count} 项可领取`,
  openUntil: (time) => `本页面可打开至 ${time}，请记下您的兑换码。`,
  endedOpenUntil: (time) => `本页面可打开至 ${time}，请在此之前领取剩余权益，并记下您的兑换码。`,

  yourCodes: '我的兑换码',
  claimedOn: (time) => `领取于 ${time}`,
  copy: '复制',
  copied: '已复制',
  qr: '二维码',
  pending: '兑换码正在发放',
  pendingDetail: '您已领取成功，权益不会丢失。兑换码到达后会显示在这里。',
  checkAgain: '刷新查看',

  noLonger: '已失效',
  expiredOn: (time) => `已于 ${time} 过期`,
  revoked: '已随退款收回',

  earlier: '查看更早的权益',
  newest: '返回最新一期',

  subscription: '订阅信息',
  nextPayment: '下次扣款',
  nextTry: '下次重试',
  paymentFailed: (cycleNo) => `第 ${cycleNo} 期扣款失败，该期没有权益。`,
  paymentTriedAgain: (cycleNo, date) => `第 ${cycleNo} 期扣款失败，将于 ${date} 再次扣款，成功后发放该期权益。`,
  noNextPayment: '无',
  amount: '价格',
  everyPeriod: (amount, period) => `${amount} / ${period}`,
  cadence: {
    DAY: (period) => (period === 1 ? '天' : `${period} 天`),
    MONTH: (period) => (period === 1 ? '月' : `${period} 个月`),
  },
  endedOn: '退订时间',
  orderNumber: '订单号',
  channelOrderNumber: '渠道订单号',

  end: '退订',
  endTitle: '确定要退订吗？',
  endWhatStays: (until) => `已付款的权益仍归您所有。本页面可打开至 ${until}，请在此之前领取，并记下您的兑换码。`,
  endNoMore: (amount, date) => `原定 ${date} 的 ${amount} 将不再扣款，之后各期也不再扣款。`,
  endNoMorePayments: '之后不再扣款。',
  endNoMorePeriods: '款项由您的订阅平台收取，我们会立即通知该平台，之后各期不再开始。',
  endForGood: '退订后无法恢复，如需继续使用请重新订阅。',
  digits: '手机号后四位',
  digitsHint: '请输入您在订阅平台登录所用手机号的后四位，以确认是您本人操作。',
  endConfirm: '确认退订',
  keep: '暂不退订',
  digitsForm: '请输入四位数字。',
  digitsWrong: (left) => `手机号后四位不正确，还可以尝试 ${left} 次。`,
  lockedTitle: '已暂时锁定',
  locked: (minutes) => `错误次数过多，为保护您的权益已暂时锁定，请 ${minutes} 分钟后再试。`,
  cannotEnd: {
    INITIALIZING: '首期扣款仍在处理中，请在扣款完成后再试。',
    UNSUBSCRIBED: '该订阅已退订，之后各期不再开始。',
    COMPLETED: '该订阅的所有期数均已完成，无需退订。',
    TERMINATED: '首期扣款失败，该订阅未生效，不会扣款。',
  },
  noMobile: '我们没有您的手机号，无法在此页面退订，请联系您订阅时所用的平台。',
  back: '返回我的权益',

  claimExpired: '该权益在领取前已过期，无法再领取。',
  claimRevoked: '该权益已随退款收回，无法再领取。',
  claimUnknown: '该权益不属于您的订阅。',

  refused: {
    title: '链接无法打开',
    text: '链接可能不完整或已过期。请回到您订阅时所用的应用或网站，从那里重新打开权益页面。如果那里已没有链接，请联系该平台。',
  },
  crossSite: {
    title: '操作并非来自本页面',
    text: '未作任何更改。请从您订阅时所用的应用或网站重新打开权益页面后再试。',
  },
  tooOften: (seconds) => ({
    title: '请稍候',
    text: `操作过于频繁，您的权益不会丢失，请 ${seconds} 秒后再试。`,
  }),
  away: {
    title: '服务暂时不可用',
    text: '您的权益不会丢失，请稍后再试。',
  },
  fault: (requestId) => ({
    title: '出错了',
    text: `您的权益不会丢失，请稍后再试。如果问题持续出现，请将此编号告知您的订阅平台：${requestId}`,
  }),
};
