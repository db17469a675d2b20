import { Box, type BoxProps, Button, Center, Group, Loader, Skeleton, Stack, Text, ThemeIcon } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { Component, type ReactNode } from 'react';
import { isProblem, isWaiting, Unreachable } from '../api/problem.ts';
import { dictionary } from '../i18n/dictionary.ts';
import { useLanguage } from '../i18n/language.ts';
import { AlertIcon, InboxIcon, LockIcon, RefreshIcon, SearchIcon } from '../icons/icons.tsx';
import { reloadIfFilesAreMissing } from '../stale-build.ts';
import { problemText } from './problem-text.ts';
import { Copyable } from './values/copyable.tsx';
import type { Tone } from './values/status.tsx';

const useTexts = dictionary({
  loading: ['Loading…', '加载中…'],
  retry: ['Try again', '重试'],
  requestId: ['Request ID', '请求 ID'],
  waits: ['Nothing was changed yet: another admin has to approve this.', '尚未变更：须经另一位管理员批准。'],
  waitsLink: ['Approval {approvalId}', '审批 {approvalId}'],
  refused: ['No access', '无权访问'],
  refusedHint: ['Your role does not allow this.', '您的角色没有此权限。'],
  notFound: ['Not found', '页面不存在'],
  notFoundHint: ['The address may be wrong, or the item no longer exists.', '地址可能有误，或内容已不存在。'],
  openOrder: ['Open order {orderNo}', '查看订单 {orderNo}'],
  unreachable: ['The service does not answer', '服务无响应'],
  unreachableHint: ['No data was lost. Check your connection, then try again.', '数据没有丢失，请检查网络后重试。'],
  tooLong: ['The list is too long', '列表过长'],
  broken: ['Something went wrong', '服务异常'],
  brokenHint: [
    'If this continues, give the request ID to the team that runs the service.',
    '如持续出现，请将请求 ID 提供给运维人员。',
  ],
  pageBroken: ['This page has crashed', '页面出错'],
  pageBrokenHint: ['Nothing was changed. Reload the page to continue.', '数据未受影响，请重新加载。'],
  reload: ['Reload', '重新加载'],
});

interface NoteProps extends BoxProps {
  readonly tone: Tone;
  readonly role?: 'alert';
  readonly children: ReactNode;
}

/** A text in its tone's colour, on the tone's background. */
export function Note({ tone, ...props }: NoteProps) {
  return <Box fz="sm" px={12} py={9} bdrs="sm" c={`var(--${tone})`} bg={`var(--${tone}-soft)`} {...props} />;
}

interface NoticeProps {
  readonly icon: ReactNode;
  readonly title: string;
  readonly hint?: ReactNode;
  readonly children?: ReactNode;
  readonly role?: 'alert';
  /** Set if the notice is the only content of the page. */
  readonly isPage?: boolean;
}

/** The layout of a notice that takes the place of a page's or a part's content. */
function Notice({ icon, title, hint, children, role, isPage }: NoticeProps) {
  return (
    <Stack gap={4} align="center" px={20} py={56} ta="center" role={role}>
      <ThemeIcon variant="default" size={44} radius="md" mb={8} c="dimmed">
        {icon}
      </ThemeIcon>
      <Text component={isPage ? 'h1' : 'p'} fw={600}>
        {title}
      </Text>
      {hint ? (
        <Text maw="46ch" c="dimmed" textWrap="balance">
          {hint}
        </Text>
      ) : null}
      {children ? (
        <Group gap={12} justify="center" mt={16}>
          {children}
        </Group>
      ) : null}
    </Stack>
  );
}

export function Loading() {
  const t = useTexts();
  return (
    <Center role="status" py={56}>
      <Loader size="sm" type="dots" color="gray" />
      <span className="only-read">{t('loading')}</span>
    </Center>
  );
}

/** Placeholders for rows, with texts of various lengths. */
export function LoadingRows() {
  const t = useTexts();
  return (
    <div className="lined" role="status" aria-label={t('loading')}>
      {[24, 19, 23, 18, 22, 17].map((length) => (
        <Group key={length} gap="6%" py={13} wrap="nowrap">
          {[length, 40 - length, 10, 15].map((width) => (
            <Skeleton key={width} height={12} width={`${width}%`} />
          ))}
        </Group>
      ))}
    </div>
  );
}

interface EmptyProps {
  readonly title: string;
  readonly hint?: ReactNode;
  /** Set where rows are filtered or searched: the icon is then a magnifying glass. */
  readonly isFiltered?: boolean;
  readonly children?: ReactNode;
}

export function Empty({ isFiltered, ...props }: EmptyProps) {
  return <Notice icon={isFiltered ? <SearchIcon size={22} /> : <InboxIcon size={22} />} {...props} />;
}

export function NotFound({ isPage = false }: { readonly isPage?: boolean }) {
  const t = useTexts();
  return <Notice isPage={isPage} icon={<SearchIcon size={22} />} title={t('notFound')} hint={t('notFoundHint')} />;
}

export const NotFoundPage = () => <NotFound isPage />;

/** Shows that loading failed, with a text that fits the error. */
export function Broken({ error, onRetry }: { readonly error: unknown; readonly onRetry?: () => void }) {
  const t = useTexts();
  const language = useLanguage();
  if (isProblem(error, 403))
    return <Notice icon={<LockIcon size={22} />} title={t('refused')} hint={t('refusedHint')} />;
  if (isProblem(error, 404)) return <NotFound />;
  const isAway = error instanceof Unreachable;
  const problem = isProblem(error) ? error : undefined;
  const reason = problem && problem.status < 500 ? problemText(problem, language) : t('brokenHint');
  return (
    <Notice
      role="alert"
      icon={<AlertIcon size={22} />}
      title={t(isAway ? 'unreachable' : problem?.code === 'list-too-long' ? 'tooLong' : 'broken')}
      hint={isAway ? t('unreachableHint') : reason}
    >
      {problem?.requestId ? (
        <span className="small">
          <span className="quiet">{t('requestId')}</span> <Copyable value={problem.requestId} />
        </span>
      ) : null}
      {onRetry ? (
        <Button variant="default" leftSection={<RefreshIcon size={16} />} onClick={onRetry}>
          {t('retry')}
        </Button>
      ) : null}
    </Notice>
  );
}

/** An error line inside a form. */
export function Problem({ children }: { readonly children: ReactNode }) {
  return (
    <Note tone="negative" role="alert">
      <Group gap={8} align="flex-start" wrap="nowrap">
        <AlertIcon size={16} style={{ flex: 'none', marginTop: 2 }} />
        <span>{children}</span>
      </Group>
    </Note>
  );
}

/** Shows that a change waits for another admin, with a link to the approval. */
function ChangeWaits({ approvalId }: { readonly approvalId: string }) {
  const t = useTexts();
  return (
    <Note tone="waiting" role="alert">
      {t('waits')}{' '}
      <Link to="/approvals" search={{ open: approvalId }}>
        {t('waitsLink', { approvalId })}
      </Link>
    </Note>
  );
}

/** Refusals that another order of the user causes. Their first value is the order, or its period. */
const NAMES_AN_ORDER: ReadonlySet<string> = new Set(['user-has-order', 'user-has-open-money']);

/** Shows why a form could not be submitted. */
export function FormProblem({ error }: { readonly error: unknown }) {
  const t = useTexts();
  const language = useLanguage();
  if (!error) return null;
  if (isWaiting(error)) return <ChangeWaits approvalId={error.values[0] ?? ''} />;
  if (error instanceof Unreachable) return <Problem>{t('unreachable')}</Problem>;
  if (isProblem(error) && error.status < 500) {
    const orderNo = NAMES_AN_ORDER.has(error.code ?? '') ? error.values[0]?.split('-')[0] : undefined;
    return (
      <Problem>
        {problemText(error, language)}
        {orderNo === undefined ? null : (
          <Box component="span" display="block">
            <Link to="/orders/$orderNo" params={{ orderNo }}>
              {t('openOrder', { orderNo })}
            </Link>
          </Box>
        )}
      </Problem>
    );
  }
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
    <Notice role="alert" icon={<AlertIcon size={22} />} title={t('pageBroken')} hint={t('pageBrokenHint')}>
      <Button variant="default" leftSection={<RefreshIcon size={16} />} onClick={() => location.reload()}>
        {t('reload')}
      </Button>
    </Notice>
  );
}

/** Catches an error of a page and keeps the frame around it. Resets when `of`, which names the page, changes. */
export class ErrorBoundary extends Component<{ readonly children: ReactNode; readonly of?: string }> {
  override state = { isBroken: false };

  static getDerivedStateFromError() {
    return { isBroken: true };
  }

  override componentDidCatch(): void {
    reloadIfFilesAreMissing();
  }

  override componentDidUpdate(before: { readonly of?: string }): void {
    if (before.of !== this.props.of && this.state.isBroken) this.setState({ isBroken: false });
  }

  override render(): ReactNode {
    return this.state.isBroken ? <PageBroken /> : this.props.children;
  }
}
