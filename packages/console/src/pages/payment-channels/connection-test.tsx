import { Button } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { api } from '../../api/client.ts';
import { dictionary } from '../../i18n/dictionary.ts';
import { RefreshIcon } from '../../icons/icons.tsx';
import { SheetPart } from '../../parts/dialogs/sheet.tsx';
import { Facts } from '../../parts/page.tsx';
import { FormProblem, Note } from '../../parts/states.tsx';

const useTexts = dictionary({
  title: ['Connection', '连接'],
  test: ['Test connection', '测试连接'],
  hint: [
    'Calls the bridge with a handshake and with a query of a debit that was never made. Nothing is changed.',
    '向桥接服务发起握手，并查询一笔不存在的扣款，不产生任何变更。',
  ],
  good: ['The bridge answers, with the right key and currency.', '桥接服务应答正常，密钥与币种一致。'],
  bad: ['The bridge gave no usable answer.', '桥接服务没有返回有效应答。'],
  otherCurrency: ['The bridge answers, but has another currency.', '桥接服务应答正常，但币种不一致。'],
  handshake: ['Handshake', '握手'],
  'debit-query': ['Debit query', '扣款查询'],
  answered: ['{said}, {ms} ms', '{said}，{ms} 毫秒'],
  'not-found': ['Unknown number, as expected', '查无此笔，符合预期'],
  status: ['HTTP status {status}', 'HTTP 状态码 {status}'],
  refused: ['HTTP status {status}: the bridge does not accept the key', 'HTTP 状态码 {status}：桥接服务不接受该密钥'],
});

/** Why a call got no usable answer, by the words of the service. Other words are shown as they are. */
const WHY = {
  'the signature of the answer does not match': ['The bridge signs with another key', '桥接服务使用了其他密钥签名'],
  'the answer is too large': ['The answer is too large', '应答过大'],
  'the answer is not a JSON object': ['The answer is not a JSON object', '应答不是 JSON 对象'],
  'the deadline has passed': ['No answer in time', '应答超时'],
  'the connection was closed': ['The connection was closed', '连接已被关闭'],
  'it is not HTTP/1.1': ['The answer is not HTTP/1.1', '应答不是 HTTP/1.1'],
  ECONNREFUSED: ['Connection refused (ECONNREFUSED)', '连接被拒绝（ECONNREFUSED）'],
  ECONNRESET: ['Connection reset (ECONNRESET)', '连接被重置（ECONNRESET）'],
  ETIMEDOUT: ['Connection timed out (ETIMEDOUT)', '连接超时（ETIMEDOUT）'],
  ENOTFOUND: ['Host not found (ENOTFOUND)', '找不到主机（ENOTFOUND）'],
  unknown: ['An answer without a meaning', '应答无法识别'],
} as const;
const useWhy = dictionary(WHY);

/** Returns a function that words the answer of a call, or why there is none. */
function useSaid(): (said: string) => string {
  const t = useTexts();
  const why = useWhy();
  return (said) => {
    const [, status] = /^HTTP status (\d+)$/.exec(said) ?? [];
    if (status !== undefined) return t(status === '401' || status === '403' ? 'refused' : 'status', { status });
    if (said === 'not-found') return t(said);
    return said in WHY ? why(said as keyof typeof WHY) : said;
  };
}

/** Tests the connection to a bridge and shows the answers. */
export function ConnectionTest({ code }: { readonly code: string }) {
  const t = useTexts();
  const saidText = useSaid();
  const test = useMutation({ mutationFn: () => api.post('/payment-channels/{code}/test', { code }) });
  return (
    <SheetPart title={t('title')}>
      <p className="quiet small" style={{ marginBottom: 8 }}>
        {t('hint')}
      </p>
      <Button
        variant="default"
        leftSection={<RefreshIcon size={16} />}
        loading={test.isPending}
        onClick={() => test.mutate()}
      >
        {t('test')}
      </Button>
      <FormProblem error={test.error} />
      {test.data ? (
        <div aria-live="polite" style={{ marginTop: 10 }}>
          <Note tone={test.data.isGood ? 'positive' : 'negative'} mb={10}>
            {t(
              test.data.isGood
                ? 'good'
                : test.data.calls.every(({ isAnswered }) => isAnswered)
                  ? 'otherCurrency'
                  : 'bad',
            )}
          </Note>
          <Facts
            facts={test.data.calls.map(({ operation, ms, said }) => [
              t(operation),
              t('answered', { said: saidText(said), ms }),
            ])}
          />
        </div>
      ) : null}
    </SheetPart>
  );
}
