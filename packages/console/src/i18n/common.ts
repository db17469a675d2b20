import { dictionary } from './dictionary.ts';

/** Texts that many pages share. */
export const useCommonTexts = dictionary({
  beijing: ['Beijing', '北京时间'],
  cancel: ['Cancel', '取消'],
  clear: ['Clear', '清除'],
  clearFilters: ['Clear filters', '清除筛选'],
  close: ['Close', '关闭'],
  copied: ['Copied', '已复制'],
  copy: ['Copy', '复制'],
  done: ['Done', '完成'],
  from: ['From', '从'],
  here: ['Local', '本地时间'],
  more: ['Load more', '加载更多'],
  named: ['{name}: {value}', '{name}：{value}'],
  never: ['Never', '从未'],
  reason: ['Reason', '原因'],
  retry: ['Try again', '重试'],
  save: ['Save', '保存'],
  to: ['To', '至'],
  typeToConfirm: ['Type {words} to confirm', '输入 {words} 以确认'],
});

export const useRoleTexts = dictionary({
  viewer: ['Viewer', '只读'],
  support: ['Support', '客服'],
  finance: ['Finance', '财务'],
  admin: ['Admin', '管理员'],
});
