import { dictionary } from '../../i18n/dictionary.ts';

export const useTexts = dictionary({
  hint: [
    'Whose page users see when they claim benefits, look at payments or end a subscription. What is left empty has a default.',
    '用户领取权益、查看扣款或退订时看到的页面属于谁。留空则使用默认值。',
  ],
  onlyAdmin: ['Only an admin can change this.', '仅管理员可修改。'],
  saved: ['Saved. The next page that is opened shows it', '已保存，下次打开页面时生效'],
  displayName: ['Display name', '显示名称'],
  displayNameHint: ['At most 40 characters. Empty: {name}.', '最多 40 个字符；留空则显示 {name}。'],
  logo: ['Logo', '徽标'],
  logoHint: [
    'Shown on white, 40 pixels high. None: the first letter of the name, on the accent.',
    '在白底上显示，高 40 像素。未设置时显示名称首字，底色为主题色。',
  ],
  accent: ['Accent colour', '主题色'],
  accentHint: ['Buttons, links and the head of the page. Empty: green.', '用于按钮、链接与页首；留空为绿色。'],
  support: ['Support contact', '客服联系方式'],
  supportHint: ['A phone number, an e-mail address or an https address.', '电话、邮箱或 https 地址。'],
  termsUrl: ['Terms', '服务条款'],
  termsUrlHint: ['Where users read what they have agreed to.', '用户可查看所同意条款的地址。'],
  shopUrl: ['Shop', '店铺'],
  shopUrlHint: ['Where the page’s way back leads to.', '页面上“返回”所指向的地址。'],

  preview: ['How the page begins', '页首预览'],
  light: ['In light', '浅色'],
  dark: ['In dark', '深色'],
  previewOf: ['{name}, as users see it: {theme}', '{name} 在用户页面上的样子：{theme}'],
  back: ['Back', '返回'],
  active: ['Active', '生效中'],
  product: ['Monthly plan', '月度会员'],
  benefit: ['Coffee voucher', '咖啡券'],
  claim: ['Claim', '领取'],
  soldBy: ['Your subscription with {name}', '您在 {name} 的订阅'],
  terms: ['Terms', '服务条款'],

  darkened: ['Too bright for text on white: there it becomes {colour}.', '在白底上作文字过浅，将显示为 {colour}。'],
  lightened: [
    'Too dark for text on a dark ground: there it becomes {colour}.',
    '在深底上作文字过深，将显示为 {colour}。',
  ],
});
