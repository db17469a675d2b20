import { dictionary } from '../../i18n/dictionary.ts';

export const useTexts = dictionary({
  title: ['On the redemption page', '兑换页展示'],
  none: [
    'Users see the name and a gift icon. You can add an icon and a description.',
    '用户看到的是权益名称和默认礼物图标，可添加图标与说明。',
  ],
  change: ['Change display', '修改展示'],
  changeTitle: ['Display of {code}', '{code} 的展示'],
  icon: ['Icon', '图标'],
  iconHint: ['Shown on white beside the name. Default: a gift.', '显示在名称旁（白底）；未设置时显示礼物图标。'],
  nameZh: ['Name in Chinese', '中文名称'],
  nameEn: ['Name in English', '英文名称'],
  nameHint: ['Default: the name in the product.', '未填写时显示产品中的权益名称。'],
  descriptionZh: ['Description in Chinese', '中文说明'],
  descriptionEn: ['Description in English', '英文说明'],
  descriptionHint: ['At most 120 characters.', '最多 120 个字符。'],
  useUrl: ['Where to use the code', '兑换码使用地址'],
  saved: ['Saved. It shows the next time a page is opened', '已保存，用户下次打开页面时生效'],
  useUrlHint: ['Users with a code can open this address.', '用户领到兑换码后，可前往该地址使用。'],
});
