import { dictionary } from '../../i18n/dictionary.ts';

export const useTexts = dictionary({
  title: ['Sign in', '登录'],
  name: ['Name', '用户名'],
  password: ['Password', '密码'],
  code: ['Code of your authenticator', '验证器动态码'],
  codeHint: ['Six digits, new every 30 seconds', '六位数字，每 30 秒更新'],
  or: ['or', '或'],
  singleSignOn: ['Sign in with {name}', '使用 {name} 登录'],
  singleSignOnPlain: ['Single sign-on', '单点登录'],
  wrong: ['Name and password do not match.', '用户名或密码不正确。'],
  wrongCode: ['This code is not right, or was used already.', '动态码不正确或已使用。'],
  locked: ['Too many tries. You can try again in {time}.', '尝试次数过多，请在 {time} 后重试。'],
  unlocked: ['You can try again now.', '现在可以重试。'],
  ended: ['Your session has ended. Sign in to go on where you were.', '会话已结束，登录后可继续之前的操作。'],
  refusedBySingleSignOn: [
    'The single sign-on knows you, the console does not. An admin can make you an account.',
    '单点登录已识别您，但控制台没有您的账户，请联系管理员开通。',
  ],
  forgotten: ['Forgot your password? An admin can give you a new link.', '忘记密码？管理员可为您生成新的设置链接。'],
});
