import '@mantine/spotlight/styles.layer.css';
import { useDebouncedValue } from '@mantine/hooks';
import { Spotlight, spotlight } from '@mantine/spotlight';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type KeyboardEvent, useEffect, useState } from 'react';
import { api } from '../api/client.ts';
import { isProblem } from '../api/problem.ts';
import type { SearchResult } from '../api/types.ts';
import { MENU, useMenuTexts } from '../frame/menu.ts';
import { dictionary } from '../i18n/dictionary.ts';
import { useLanguage } from '../i18n/language.ts';
import { SearchIcon } from '../icons/icons.tsx';
import { problemText } from '../parts/problem-text.ts';
import { useIsPhone } from '../parts/use-is-phone.ts';
import { placeAddress } from '../parts/values/place-link.tsx';
import { Status, type StatusKind } from '../parts/values/status.tsx';
import { useMayDo } from '../session/session.ts';
import { addressOfResult } from './address-of-result.ts';
import { checkLink, isLink, type LinkResult, LinkWords } from './link-result.tsx';
import styles from './search-box.module.css';
import type { TypedAhead } from './typed-ahead.ts';

const useTexts = dictionary({
  placeholder: [
    'Order, payment, refund, user, mobile, code, card digits, link…',
    '订单、扣款、退款、用户、手机号、兑换码、卡尾号、链接…',
  ],
  shortPlaceholder: ['Number, user, mobile, link…', '单号、用户、手机号、链接…'],
  pages: ['Pages', '页面'],
  link: ['Redemption link', '兑换链接'],
  order: ['Orders', '订单'],
  payment: ['Payments', '扣款'],
  refund: ['Refunds', '退款'],
  agreement: ['Agreements', '协议'],
  event: ['Events', '事件'],
  user: ['Users', '用户'],
  channel: ['Channels', '渠道'],
  product: ['Products', '产品'],
  nothing: ['No results for “{text}”', '未找到“{text}”'],
  nothingHint: [
    'For order numbers, enter at least the first four digits. Enter other numbers and mobile numbers completely.',
    '订单号至少输入前 4 位，其他单号和手机号需完整输入。',
  ],
  mobileLeftOut: [
    'Only support can search by mobile number, because it is masked for other roles.',
    '仅客服可按手机号查找用户，其他角色看到的手机号已脱敏。',
  ],
  searching: ['Searching…', '搜索中…'],
  failed: ['The search failed.', '搜索失败。'],
  hasMore: ['There are more results. Type more of the number.', '结果较多，请输入更完整的单号。'],
  keys: ['↑ ↓ to choose, Enter to open, Esc to close', '↑ ↓ 选择，Enter 打开，Esc 关闭'],
});

/** A search result, or the result of checking a pasted link. */
type Found = SearchResult | LinkResult;

/** The fields that a result may have been found by without showing them. */
const useMatchTexts = dictionary({
  'benefit-code': ['benefit code', '兑换码'],
  'replaced-benefit-code': ['replaced benefit code', '已更换的兑换码'],
  'institution-reference': ['reference at the institution', '支付机构流水号'],
  'institution-agreement-number': ['agreement number at the institution', '支付机构协议号'],
});

const KINDS = ['link', 'order', 'payment', 'refund', 'agreement', 'event', 'user', 'channel', 'product'] as const;

/** By kind of result: the kind of its status, which selects the status's name. Kinds without a status are left out. */
const STATUS_OF: Readonly<Partial<Record<Found['kind'], StatusKind>>> = {
  order: 'order',
  payment: 'payment',
  refund: 'refund',
  agreement: 'agreement',
  event: 'delivery',
  channel: 'channel',
};

interface SearchBoxProps {
  /** Called when the field gets the focus. Returns the keys that were typed before. */
  onReady(): TypedAhead;
  onClose(): void;
}

/** Finds records and pages while the operator types. */
export default function SearchBox({ onReady, onClose }: SearchBoxProps) {
  const t = useTexts();
  const [text, setText] = useState('');
  const isPhone = useIsPhone();
  const asked = text.trim();
  const { results, hasMore, isMobileLeftOut, state, error } = useResults(asked);
  const pages = usePagesNamed(asked);
  const openResult = useOpenResult();
  const ordered = KINDS.flatMap((kind) => results.filter((result) => result.kind === kind));
  const openFirst = () => {
    const first = ordered.find(isOpenable);
    if (first) openResult(first);
    else pages[0]?.open();
  };
  const enter = useEnter(asked, state !== 'searching', openFirst);
  const isEmpty = ordered.length === 0 && pages.length === 0;
  return (
    <Spotlight.Root
      query={text}
      onQueryChange={setText}
      onSpotlightClose={onClose}
      shortcut={null}
      scrollable
      size={620}
      radius="lg"
      centered={false}
      yOffset="12vh"
      overlayProps={{ backgroundOpacity: 0.3, blur: 0 }}
      classNames={{ actionsGroup: styles.group ?? '', actionsList: styles.list ?? '', action: styles.action ?? '' }}
      attributes={{ content: { 'aria-label': t('placeholder') } }}
    >
      <Spotlight.Search
        placeholder={t(isPhone ? 'shortPlaceholder' : 'placeholder')}
        aria-label={t('placeholder')}
        leftSection={<SearchIcon />}
        spellCheck={false}
        onFocus={() => {
          const typed = onReady();
          if (typed.text === '') return;
          setText(text + typed.text);
          if (typed.isEntered) enter.ask((text + typed.text).trim());
        }}
        // Runs before the box's own handler, which would open the first result of the previous text.
        onKeyDownCapture={enter.onKeyDown}
      />
      <Spotlight.ActionsList
        data-searching={state === 'searching' || undefined}
        data-chosen={enter.hasChosen || undefined}
      >
        {KINDS.map((kind) => (
          <Group
            key={kind}
            label={t(kind)}
            results={ordered.filter((result) => result.kind === kind)}
            onOpen={openResult}
          />
        ))}
        {pages.length > 0 ? (
          <Spotlight.ActionsGroup label={t('pages')}>
            {pages.map(({ label, icon: Icon, open }) => (
              <Spotlight.Action key={label} label={label} leftSection={<Icon size={17} />} onClick={open} />
            ))}
          </Spotlight.ActionsGroup>
        ) : null}
        {isEmpty ? <NothingFound text={asked} state={state} error={error} isMobileLeftOut={isMobileLeftOut} /> : null}
      </Spotlight.ActionsList>
      {ordered.length > 0 && hasMore ? (
        <Spotlight.Footer className={styles.footer ?? ''}>{t('hasMore')}</Spotlight.Footer>
      ) : isPhone ? null : (
        <Spotlight.Footer className={styles.footer ?? ''}>{t('keys')}</Spotlight.Footer>
      )}
    </Spotlight.Root>
  );
}

const isOpenable = (result: Found): boolean => addressOfResult(result) !== undefined;

/** Searches for the text. The previous results stay visible during the search, so that the list does not flicker. */
function useResults(asked: string) {
  const [settled] = useDebouncedValue(asked, 120);
  const mayCheckLinks = useMayDo('support');
  const found = useQuery<{ results: Found[]; hasMore: boolean; isMobileLeftOut: boolean }>({
    queryKey: ['/search', settled],
    // A link is a key to the user's codes, so it must not become part of a URL.
    queryFn: ({ signal }) =>
      mayCheckLinks && isLink(settled) ? checkLink(settled) : api.get('/search', { q: settled.slice(0, 200) }, signal),
    enabled: settled !== '',
    placeholderData: keepPreviousData,
    staleTime: 5_000,
  });
  const isOfThis = settled === asked && !found.isPlaceholderData;
  const state: SearchState =
    asked === '' || (isOfThis && found.isSuccess) ? 'found' : isOfThis && found.isError ? 'failed' : 'searching';
  const none: { results: readonly Found[]; hasMore: boolean; isMobileLeftOut: boolean } = {
    results: [],
    hasMore: false,
    isMobileLeftOut: false,
  };
  return { ...none, ...(asked === '' || state === 'failed' ? {} : found.data), state, error: found.error };
}

type SearchState = 'searching' | 'found' | 'failed';

interface NothingFoundProps {
  readonly text: string;
  readonly state: SearchState;
  readonly error: Error | null;
  readonly isMobileLeftOut: boolean;
}

function NothingFound({ text, state, error, isMobileLeftOut }: NothingFoundProps) {
  const t = useTexts();
  const language = useLanguage();
  if (text === '') return null;
  return (
    <Spotlight.Empty>
      {state === 'found' ? <span className={styles.nothing}>{t('nothing', { text })}</span> : null}
      <span className={styles.hint}>
        {state === 'failed' && isProblem(error, 429)
          ? problemText(error, language)
          : t(state !== 'found' ? state : isMobileLeftOut ? 'mobileLeftOut' : 'nothingHint')}
      </span>
    </Spotlight.Empty>
  );
}

/**
 * Opens a result on Enter: the result chosen with the arrow keys, otherwise the first. If Enter is pressed before the
 * results for the current text have arrived, waits for them.
 */
function useEnter(asked: string, isFound: boolean, openFirst: () => void) {
  const [awaited, setAwaited] = useState<string>();
  const [chosenFor, setChosenFor] = useState<string>();
  useEffect(() => {
    if (awaited === undefined || (awaited === asked && !isFound)) return;
    setAwaited(undefined);
    if (awaited === asked) openFirst();
  }, [awaited, asked, isFound, openFirst]);
  return {
    ask: setAwaited,
    hasChosen: chosenFor === asked,
    onKeyDown(event: KeyboardEvent) {
      if (event.nativeEvent.isComposing) return;
      if (event.key === 'ArrowDown' || event.key === 'ArrowUp') setChosenFor(asked);
      if (event.key !== 'Enter' || chosenFor === asked) return;
      event.preventDefault();
      event.stopPropagation();
      setAwaited(asked);
    },
  };
}

function useOpenResult(): (result: Found) => void {
  const navigate = useNavigate();
  return (result) => {
    const place = addressOfResult(result);
    if (place === undefined) return;
    spotlight.close();
    void navigate(placeAddress(place));
  };
}

interface GroupProps {
  readonly label: string;
  readonly results: readonly Found[];
  onOpen(result: Found): void;
}

function Group({ label, results, onOpen }: GroupProps) {
  if (results.length === 0) return null;
  return (
    <Spotlight.ActionsGroup label={label}>
      {results.map((result) => (
        <Spotlight.Action
          key={`${result.kind} ${result.id}`}
          disabled={!isOpenable(result)}
          onClick={() => onOpen(result)}
        >
          <Result result={result} />
        </Spotlight.Action>
      ))}
    </Spotlight.ActionsGroup>
  );
}

function Result({ result }: { readonly result: Found }) {
  const matchText = useMatchTexts() as (matched: string) => string;
  if (result.kind === 'link') return <LinkWords result={result} />;
  const kind = STATUS_OF[result.kind];
  const isFoundByHidden = HIDDEN_FIELDS.has(result.matched);
  return (
    <span className={styles.result}>
      <span className={styles.words}>
        <span className={`figures ${styles.title}`}>{result.title}</span>
        <span className={styles.hint}>
          {isFoundByHidden ? `${matchText(result.matched)} · ` : ''}
          {result.subtitle}
        </span>
      </span>
      {kind && result.status ? <Status of={kind} value={result.status} /> : null}
    </span>
  );
}

const HIDDEN_FIELDS: ReadonlySet<string> = new Set([
  ...['benefit-code', 'replaced-benefit-code', 'institution-reference', 'institution-agreement-number'],
]);

/** Finds pages by name. Returns all pages if the text is empty. */
function usePagesNamed(text: string) {
  const menuText = useMenuTexts();
  const navigate = useNavigate();
  return MENU.flatMap(({ items }) => items)
    .map(({ text: name, icon, to }) => ({
      label: menuText(name),
      icon,
      open: () => {
        spotlight.close();
        void navigate({ to });
      },
    }))
    .filter(({ label }) => label.toLowerCase().includes(text.toLowerCase()));
}
