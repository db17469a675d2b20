import { dictionary } from '../../i18n/dictionary.ts';

export const useTexts = dictionary({
  title: ['Sign in', '登录'],
  or: ['or', '或'],
  singleSignOn: ['Sign in with {name}', '使用 {name} 登录'],
  singleSignOnPlain: ['Single sign-on', '单点登录'],
  signInFirst: ['Sign in to open the page.', '请登录后查看该页面。'],
  cookiesBlocked: [
    'This browser blocks cookies. Allow cookies for the console to sign in.',
    '浏览器已禁用 Cookie，请允许控制台使用 Cookie 后再登录。',
  ],
  refusedBySingleSignOn: [
    'Single sign-on succeeded, but you have no account in the console. Ask an admin to create one.',
    '单点登录成功，但您尚未开通控制台账号，请联系管理员开通。',
  ],
  forgotten: ['Forgot your password? Ask an admin for a new link.', '忘记密码？请联系管理员重置。'],
});
