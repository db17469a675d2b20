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
  handshake: ['Handshake', '握手'],
  'debit-query': ['Debit query', '扣款查询'],
  answered: ['{said}, {ms} ms', '{said}，{ms} 毫秒'],
  notFound: ['Unknown number, as expected', '查无此笔，符合预期'],
});

/** Tests the connection to a bridge and shows the answers. */
export function ConnectionTest({ code }: { readonly code: string }) {
  const t = useTexts();
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
            {t(test.data.isGood ? 'good' : 'bad')}
          </Note>
          <Facts
            facts={test.data.calls.map(({ operation, ms, said }) => [
              t(operation),
              t('answered', { said: said === 'not-found' ? t('notFound') : said, ms }),
            ])}
          />
        </div>
      ) : null}
    </SheetPart>
  );
}
