import { dictionary } from '../../i18n/dictionary.ts';
import { NOUNS } from '../../i18n/nouns.ts';

export const useTexts = dictionary({
  ...NOUNS,
  title: ['Audit log', '审计日志'],
  caption: ['Operators’ actions, latest first', '操作日志，按时间倒序'],
  who: ['Operator', '操作员'],
  from: ['IP address', 'IP 地址'],
  action: ['Action', '操作'],
  subject: ['Subject', '操作对象'],
  detail: ['Detail', '详情'],
  number: ['Entry', '序号'],
  commandLine: ['command line', '命令行'],
  filterAction: ['Action, such as order.refund', '操作，如 order.refund'],
  filterSubject: ['Order, channel, operator…', '订单、渠道、操作员…'],
  empty: ['No entries yet', '暂无日志'],
  emptyHint: ['Every change is logged here with its operator and reason.', '所有变更都会记录操作员、时间和原因。'],
  emptyFiltered: ['No entry matches', '没有符合条件的日志'],
  emptyFilteredHint: ['Enter the complete name as it is in the log.', '请输入日志中的完整名称。'],
  verify: ['Verify integrity', '校验完整性'],
  verifyHint: [
    'Each entry contains the hash of the entry before it. A changed or missing entry breaks the chain.',
    '每条日志都包含前一条的哈希值，任何篡改或删除都会被发现。',
  ],
  intact: ['The log is intact: {count} entry.|The log is intact: {count} entries.', '日志完整，共 {count} 条。'],
  broken: [
    'Entry {entry} does not match the entry before it. One of them was changed, or an entry was removed.',
    '第 {entry} 条与前一条不匹配，该条或之前的日志可能被篡改或删除。',
  ],
});
