import { Button, Group, Loader, Skeleton } from '@mantine/core';
import { Component, type ReactNode } from 'react';
import { isProblem, Unreachable } from '../api/problem.ts';
import type { Role } from '../api/types.ts';
import { useRoleTexts } from '../i18n/common.ts';
import { dictionary } from '../i18n/dictionary.ts';
import { useLanguage } from '../i18n/language.ts';
import { AlertIcon, InboxIcon, LockIcon, RefreshIcon, SearchIcon } from '../icons/icons.tsx';
import { reloadIfFilesAreMissing } from '../stale-build.ts';
import { Copyable } from './copyable.tsx';
import { problemText } from './problem-text.ts';
import styles from './states.module.css';

const useTexts = dictionary({
  loading: ['Loading…', '加载中…'],
  retry: ['Try again', '重试'],
  requestId: ['Request', '请求编号'],
  refused: ['This is not yours to open', '无权访问'],
  refusedHint: ['It needs the role {role}. An admin can give it to you.', '需要“{role}”角色，请联系管理员开通。'],
  refusedPlain: ['Your role does not allow this.', '您的角色无权执行此操作。'],
  notFound: ['There is nothing here', '未找到'],
  notFoundHint: ['The address may be mistyped, or what it led to is gone.', '地址可能有误，或内容已不存在。'],
  unreachable: ['The service does not answer', '服务无响应'],
  unreachableHint: ['Nothing was lost. Check your connection, then try again.', '数据没有丢失。请检查网络后重试。'],
  broken: ['Something went wrong', '出错了'],
  brokenHint: [
    'If it stays like this, give the request number to whoever runs the service.',
    '如持续出现，请将请求编号提供给运维人员。',
  ],
  pageBroken: ['This page broke', '页面出错'],
  pageBrokenHint: ['Nothing was changed by that. Load it again to go on.', '未产生任何更改，请重新加载。'],
  reload: ['Load again', '重新加载'],
});

interface NoticeProps {
  readonly icon: ReactNode;
  readonly title: string;
  readonly hint?: ReactNode;
  readonly children?: ReactNode;
  readonly isAlert?: boolean;
  /** It is all that the page has. */
  readonly isPage?: boolean;
}

/** The one shape of a page or a part that has nothing else to show. */
function Notice({ icon, title, hint, children, isAlert, isPage }: NoticeProps) {
  const Title = isPage ? 'h1' : 'p';
  return (
    <div className={styles.notice} role={isAlert ? 'alert' : undefined}>
      <span className={styles.icon}>{icon}</span>
      <Title className={styles.title}>{title}</Title>
      {hint ? <p className={styles.hint}>{hint}</p> : null}
      {children ? (
        <Group gap={12} justify="center" mt={16}>
          {children}
        </Group>
      ) : null}
    </div>
  );
}

export function Loading() {
  const t = useTexts();
  return (
    <div className={styles.notice} role="status">
      <Loader size="sm" type="dots" color="gray" />
      <span className="only-read">{t('loading')}</span>
    </div>
  );
}

/** As wide as words are, each row another way. */
const ROWS = [
  ['24%', '16%', '12%'],
  ['19%', '23%', '15%'],
  ['23%', '19%', '18%'],
  ['18%', '26%', '14%'],
  ['22%', '22%', '17%'],
  ['17%', '18%', '13%'],
] as const;

/** Where rows will be. */
export function LoadingRows() {
  const t = useTexts();
  return (
    <div className={styles.rows} role="status" aria-label={t('loading')}>
      {ROWS.map(([first, second, third]) => (
        <div key={first} className={styles.row}>
          <Skeleton height={12} width={first} />
          <Skeleton height={12} width={second} />
          <Skeleton height={12} width="10%" />
          <Skeleton height={12} width={third} />
        </div>
      ))}
    </div>
  );
}

interface EmptyProps {
  readonly title: string;
  readonly hint?: ReactNode;
  /** Nothing matches, as opposed to: there is nothing. */
  readonly isFiltered?: boolean;
  readonly children?: ReactNode;
}

export function Empty({ title, hint, isFiltered, children }: EmptyProps) {
  return (
    <Notice icon={isFiltered ? <SearchIcon size={22} /> : <InboxIcon size={22} />} title={title} hint={hint}>
      {children}
    </Notice>
  );
}

export function Refused({ role }: { readonly role?: Role | readonly Role[] | undefined }) {
  const t = useTexts();
  const roleText = useRoleTexts();
  const hint = role
    ? t('refusedHint', {
        role: [role]
          .flat()
          .map((one) => roleText(one))
          .join(' / '),
      })
    : t('refusedPlain');
  return <Notice icon={<LockIcon size={22} />} title={t('refused')} hint={hint} />;
}

export function NotFound({ isPage = false }: { readonly isPage?: boolean }) {
  const t = useTexts();
  return <Notice isPage={isPage} icon={<SearchIcon size={22} />} title={t('notFound')} hint={t('notFoundHint')} />;
}

export const NotFoundPage = () => <NotFound isPage />;

/** What did not come, and why, in the words that fit the error. */
export function Broken({ error, onRetry }: { readonly error: unknown; readonly onRetry?: () => void }) {
  const t = useTexts();
  const language = useLanguage();
  if (isProblem(error, 403)) return <Refused />;
  if (isProblem(error, 404)) return <NotFound />;
  const retry = onRetry ? (
    <Button variant="default" leftSection={<RefreshIcon size={16} />} onClick={onRetry}>
      {t('retry')}
    </Button>
  ) : null;
  const icon = <AlertIcon size={22} />;
  if (error instanceof Unreachable)
    return (
      <Notice isAlert icon={icon} title={t('unreachable')} hint={t('unreachableHint')}>
        {retry}
      </Notice>
    );
  const problem = isProblem(error) ? error : undefined;
  return (
    <Notice
      isAlert
      icon={icon}
      title={t('broken')}
      hint={problem && problem.status < 500 ? problemText(problem, language) : t('brokenHint')}
    >
      {problem?.requestId ? (
        <span className="small">
          <span className="quiet">{t('requestId')}</span> <Copyable value={problem.requestId} />
        </span>
      ) : null}
      {retry}
    </Notice>
  );
}

/** What is wrong, as a line inside a form. */
export function Problem({ children }: { readonly children: ReactNode }) {
  return (
    <div className={styles.formProblem} role="alert">
      <AlertIcon size={16} />
      <span>{children}</span>
    </div>
  );
}

/** Why a form could not be done. */
export function FormProblem({ error }: { readonly error: unknown }) {
  const t = useTexts();
  const language = useLanguage();
  if (!error) return null;
  if (error instanceof Unreachable) return <Problem>{t('unreachable')}</Problem>;
  if (isProblem(error) && error.status < 500) return <Problem>{problemText(error, language)}</Problem>;
  const requestId = isProblem(error) ? error.requestId : undefined;
  return (
    <Problem>
      {t('broken')}
      {requestId ? ` · ${t('requestId')} ${requestId}` : ''}
    </Problem>
  );
}

function PageBroken() {
  const t = useTexts();
  return (
    <Notice isAlert icon={<AlertIcon size={22} />} title={t('pageBroken')} hint={t('pageBrokenHint')}>
      <Button variant="default" leftSection={<RefreshIcon size={16} />} onClick={() => location.reload()}>
        {t('reload')}
      </Button>
    </Notice>
  );
}

/** A fault of the pages themselves: what is around it stays. Another page, named by `of`, gets a new chance. */
export class ErrorBoundary extends Component<
  { readonly children: ReactNode; readonly of?: string },
  { readonly brokenIn: string | undefined }
> {
  override state = { brokenIn: undefined };

  static getDerivedStateFromError(): { brokenIn: string } {
    return { brokenIn: 'now' };
  }

  override componentDidCatch(): void {
    reloadIfFilesAreMissing();
  }

  override componentDidUpdate(before: { readonly of?: string }): void {
    if (before.of !== this.props.of && this.state.brokenIn) this.setState({ brokenIn: undefined });
  }

  override render(): ReactNode {
    return this.state.brokenIn ? <PageBroken /> : this.props.children;
  }
}

export { PageBroken };
