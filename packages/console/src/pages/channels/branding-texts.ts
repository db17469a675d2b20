import { dictionary } from '../../i18n/dictionary.ts';

export const useTexts = dictionary({
  hint: [
    'How the channel’s redemption page looks to users. Empty fields use the default.',
    '设置用户在该渠道兑换页看到的品牌信息，留空则使用默认值。',
  ],
  onlyAdmin: ['Only an admin can change this.', '仅管理员可修改。'],
  saved: ['Saved. It shows the next time a page is opened', '已保存，用户下次打开页面时生效'],
  displayName: ['Display name', '显示名称'],
  displayNameHint: ['At most 40 characters. Default: {name}.', '最多 40 个字符；留空则显示 {name}。'],
  logo: ['Logo', 'Logo'],
  logoHint: [
    'Shown on white, 40 pixels high. Default: the first letter of the name on the accent colour.',
    '白底显示，高 40 像素；未设置时显示名称首字，底色为主题色。',
  ],
  accent: ['Accent colour', '主题色'],
  accentHint: ['For buttons, links and the page header. Default: green.', '用于按钮、链接和页面顶部；留空则为绿色。'],
  support: ['Support contact', '客服联系方式'],
  supportHint: ['A phone number, an e-mail address or an https URL.', '电话、邮箱或 https 链接。'],
  termsUrl: ['Terms', '服务条款'],
  termsUrlHint: ['Link to the terms that users agreed to.', '用户同意的服务条款链接。'],
  shopUrl: ['Shop', '商城'],
  shopUrlHint: ['Target of the page’s Back link.', '页面“返回”按钮跳转的链接。'],

  preview: ['Preview', '预览'],
  light: ['Light', '浅色'],
  dark: ['Dark', '深色'],
  previewOf: ['{name} as users see it: {theme}', '{name} 的用户页面：{theme}'],
  back: ['Back', '返回'],
  active: ['Active', '生效中'],
  product: ['Monthly plan', '月度会员'],
  benefit: ['Coffee voucher', '咖啡券'],
  claim: ['Claim', '领取'],
  soldBy: ['Your subscription with {name}', '您在 {name} 的订阅'],
  terms: ['Terms', '服务条款'],

  darkened: ['Too bright for text on white. {colour} is used there.', '颜色过浅，白底文字将使用 {colour}。'],
  lightened: ['Too dark for text on a dark background. {colour} is used there.', '颜色过深，深底文字将使用 {colour}。'],
});
