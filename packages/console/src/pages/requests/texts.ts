import { dictionary } from '../../i18n/dictionary.ts';
import { NOUNS } from '../../i18n/nouns.ts';

export const useTexts = dictionary({
  ...NOUNS,
  title: ['API requests', '接口请求'],
  caption: ['What {name} has called, the newest first', '{name} 的调用，按时间倒序'],
  choose: ['Choose a channel', '请选择渠道'],
  chooseHint: [
    'Its calls of the last days are shown with what was answered, and why. Bodies and personal data are not kept.',
    '显示该渠道最近几天的调用、应答及拒绝原因。不保存请求内容与个人信息。',
  ],
  noChannels: ['There are no channels yet', '暂无渠道'],
  summary: ['Answers of the last 24 hours', '最近 24 小时应答'],
  noCalls: ['No calls in the last 24 hours', '最近 24 小时无调用'],
  success: ['success', '成功'],
  callerHungUp: ['The caller hung up before the answer', '调用方在应答前断开'],
  hungUp: ['hung up', '连接中断'],
  failed: ['Everything but success', '所有失败'],
  endpoint: ['Endpoint', '接口'],
  code: ['Code', '结果码'],
  meaning: ['Meaning', '含义'],
  duration: ['Duration', '耗时'],
  requestId: ['Request id', '请求编号'],
  address: ['From address', '来源地址'],
  http: ['HTTP status', 'HTTP 状态'],
  milliseconds: ['{count} ms', '{count} 毫秒'],
  filterEndpoint: ['Endpoint, such as /v1/orders', '接口，如 /v1/orders'],
  filterDays: ['Answered', '应答时间'],
  empty: ['This channel has not called yet', '该渠道尚无调用'],
  emptyHint: [
    'Calls are listed here seconds after they are answered, and kept for some days.',
    '应答后数秒内显示，保留数天。',
  ],
  emptyFiltered: ['No call matches', '没有符合条件的调用'],
  request: ['Request', '请求'],
  askedForTheCode: ['Show only these', '仅显示此项'],
});
