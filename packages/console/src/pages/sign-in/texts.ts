import { dictionary } from '../../i18n/dictionary.ts';

export const useTexts = dictionary({
  title: ['Sign in', '登录'],
  or: ['or', '或'],
  singleSignOn: ['Sign in with {name}', '使用 {name} 登录'],
  singleSignOnPlain: ['Single sign-on', '单点登录'],
  ended: ['Your session has ended. Sign in to go on where you were.', '会话已结束，登录后可继续之前的操作。'],
  refusedBySingleSignOn: [
    'The single sign-on knows you, the console does not. An admin can make you an account.',
    '单点登录已识别您，但控制台没有您的账户，请联系管理员开通。',
  ],
  forgotten: ['Forgot your password? An admin can give you a new link.', '忘记密码？管理员可为您生成新的设置链接。'],
});
