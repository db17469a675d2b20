import { dictionary } from '../../i18n/dictionary.ts';

export const useTexts = dictionary({
  title: ['On the redemption page', '兑换页展示'],
  none: [
    'Users see its name and a picture of a gift. An icon and a sentence about it tell them more.',
    '用户仅看到名称与礼物图标。可添加图标与一句说明。',
  ],
  change: ['Change what users see', '修改展示'],
  changeTitle: ['What users see of {code}', '{code} 的展示'],
  icon: ['Icon', '图标'],
  iconHint: ['Shown on white beside the name. None: a gift.', '显示在名称旁，白底；未设置时为礼物图标。'],
  descriptionZh: ['Description in Chinese', '中文说明'],
  descriptionEn: ['Description in English', '英文说明'],
  descriptionHint: ['At most 120 characters.', '最多 120 个字符。'],
  useUrl: ['Where the code is used', '兑换码使用地址'],
  saved: ['Saved. The next page that is opened shows it', '已保存，下次打开页面时生效'],
  useUrlHint: ['Who has a code is led there.', '领取兑换码的用户可前往该地址使用。'],
});
