import { dictionary } from '../../i18n/dictionary.ts';

export const useTexts = dictionary({
  title: ['Set your password', '设置密码'],
  verb: ['Set password', '设置密码'],
  incomplete: ['The link is incomplete. Open the whole link that you received.', '链接不完整，请使用收到的完整链接。'],
  done: ['Your password is set', '密码已设置'],
  doneHint: [
    'Your name is {name}. Sign in now; you can turn on authenticator codes in your account.',
    '您的用户名是 {name}。请登录，登录后可在账号设置中开启动态码。',
  ],
  signIn: ['Sign in', '登录'],
});
