import { dictionary } from '../../i18n/dictionary.ts';

export const useTexts = dictionary({
  title: ['Set your password', '设置密码'],
  verb: ['Set the password', '设置密码'],
  incomplete: ['This link is not complete. Open it as it was sent to you.', '链接不完整，请使用收到的完整链接。'],
  done: ['Your password is set', '密码已设置'],
  doneHint: [
    'You are {name}. Sign in with it now; codes of an authenticator can be set up in your account.',
    '您的用户名是 {name}。请登录，之后可在账户中设置动态码。',
  ],
  signIn: ['Sign in', '登录'],
});
