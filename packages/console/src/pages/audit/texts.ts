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
  raw: ['As stored', '原始数据'],
  number: ['Entry', '序号'],
  commandLine: ['command line', '命令行'],
  filterAction: ['Action', '操作'],
  filterSubject: ['Subject', '对象'],
  empty: ['No entries yet', '暂无日志'],
  emptyHint: ['Every change is logged here with its operator and reason.', '所有变更都会记录操作员、时间和原因。'],
  emptyFiltered: ['No entry matches', '没有符合条件的日志'],
  emptyFilteredHint: ['Enter the complete name as it is in the log.', '请输入日志中的完整名称。'],
  verify: ['Verify integrity', '校验完整性'],
  verifyHint: [
    'Checks the entries since the last verification. Every day the service verifies all entries, and raises an alert if one was changed or removed.',
    '校验自上次以来新增的日志。系统每天还会校验全部日志，发现篡改或删除时会告警。',
  ],
  intact: [
    'The log is intact: {count} entry. Last full verification: {time}.|The log is intact: {count} entries. Last full verification: {time}.',
    '日志完整，共 {count} 条。上次全量校验：{time}。',
  ],
  changed: [
    'Entry {entry} does not match the entry before it. One of them was changed, or an entry was removed.',
    '第 {entry} 条与前一条不匹配，该条或之前的日志可能被篡改或删除。',
  ],
  unsealed: [
    'Entry {entry} has no seal. A node of an earlier release wrote it, or somebody with access to the database.',
    '第 {entry} 条没有签章，可能由旧版本节点写入，或被人直接写入数据库。',
  ],
  replaced: [
    'Entry {entry} has a wrong seal, or the entry that was verified under this number is gone.',
    '第 {entry} 条的签章错误，或此前校验过的该条日志已缺失。',
  ],
});
