import { dictionary } from '../../i18n/dictionary.ts';
import { NOUNS } from '../../i18n/nouns.ts';

export const useTexts = dictionary({
  ...NOUNS,
  title: ['Audit log', '审计日志'],
  caption: ['What people did, the latest first', '操作记录，按时间倒序'],
  who: ['Who', '操作人'],
  from: ['From', '来源地址'],
  action: ['Action', '操作'],
  subject: ['Subject', '对象'],
  detail: ['Detail', '详情'],
  number: ['Entry', '序号'],
  commandLine: ['command line', '命令行'],
  filterAction: ['Action, such as order.refund', '操作，如 order.refund'],
  filterSubject: ['Order, channel, person…', '订单、渠道、人员…'],
  empty: ['Nothing has been done yet', '暂无记录'],
  emptyHint: ['Whatever somebody changes is written here, by whom and why.', '任何变更都会记录在此：谁、何时、为何。'],
  emptyFiltered: ['No entry matches', '没有符合条件的记录'],
  emptyFilteredHint: ['Names have to be complete, as they stand in the log.', '请输入完整名称。'],
  verify: ['Verify the chain', '校验链条'],
  verifyHint: [
    'Each entry carries the hash of the one before it. A changed or a missing entry breaks the chain.',
    '每条记录都包含前一条的哈希，任何修改或删除都会使链条断裂。',
  ],
  intact: [
    'The chain is whole: {count} entry follows another.|The chain is whole: all {count} entries follow one another.',
    '链条完整：共 {count} 条记录。',
  ],
  broken: [
    'Entry {entry} does not fit the one before it. It, or one before it, was changed or removed.',
    '记录 {entry} 与前一条不匹配：该条或之前的记录被修改或删除。',
  ],
});
