import { Button, Select, Stack, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useFilters } from '../../address/filters.ts';
import { api } from '../../api/client.ts';
import type { Unmasked, User } from '../../api/order-types.ts';
import { useChannelNames, useInstitutionNames } from '../../catalog/catalog.ts';
import { joinNames } from '../../i18n/language.ts';
import { columnsOf } from '../../parts/lists/columns.tsx';
import { DataTable, type DataTableProps } from '../../parts/lists/data-table.tsx';
import { OrderLink, Sums } from '../../parts/lists/list-parts.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Page, Section } from '../../parts/page.tsx';
import { Empty, Loading } from '../../parts/states.tsx';
import { countText, moneyText } from '../../parts/values/money.tsx';
import { Tag } from '../../parts/values/status.tsx';
import { Time } from '../../parts/values/time.tsx';
import { BEIJING, momentOf, timeText } from '../../parts/values/time-text.ts';
import { useMayDo } from '../../session/session.ts';
import { Mobile } from '../order/details.tsx';
import { useOrderColumns } from '../orders/order-columns.tsx';
import { USER_FILTERS } from './filters.ts';
import { ChangeMobile, PersonalData } from './personal-data.tsx';
import { useTexts } from './texts.ts';

export default function UserPage() {
  const t = useTexts();
  const { appId, channelUserId } = useFilters(USER_FILTERS).values;
  if (appId && channelUserId)
    return <OneUser key={`${appId} ${channelUserId}`} appId={appId} channelUserId={channelUserId} />;
  return (
    <Page title={t('find')}>
      <Empty isFiltered title={t('find')} hint={t('findHint')}>
        <FindForm />
      </Empty>
    </Page>
  );
}

function FindForm() {
  const t = useTexts();
  const channels = useChannelNames();
  const filters = useFilters(USER_FILTERS);
  const [appId, setAppId] = useState(filters.values.appId ?? '');
  const [id, setId] = useState(filters.values.channelUserId ?? '');
  return (
    <Stack
      component="form"
      gap={12}
      w="100%"
      maw={380}
      ta="start"
      onSubmit={(event) => {
        event.preventDefault();
        filters.set({ appId: appId.trim(), channelUserId: id.trim() });
      }}
    >
      {channels.choices.length > 0 ? (
        <Select
          label={t('channel')}
          data={[...channels.choices]}
          value={appId || null}
          onChange={(value) => setAppId(value ?? '')}
          searchable
        />
      ) : (
        <TextInput label={t('channel')} value={appId} onChange={(event) => setAppId(event.currentTarget.value)} />
      )}
      <TextInput
        label={t('id')}
        value={id}
        onChange={(event) => setId(event.currentTarget.value)}
        autoComplete="off"
        spellCheck={false}
      />
      <Button type="submit" disabled={appId.trim() === '' || id.trim() === ''}>
        {t('show')}
      </Button>
    </Stack>
  );
}

function OneUser({ appId, channelUserId }: { readonly appId: string; readonly channelUserId: string }) {
  const t = useTexts();
  const channels = useChannelNames();
  const isAdmin = useMayDo('admin');
  const isSupport = useMayDo('support');
  const found = useQuery({
    queryKey: ['/users', { appId, channelUserId }],
    queryFn: ({ signal }) => api.get('/users', { appId, channelUserId }, signal),
  });
  return (
    <Page
      title={found.data?.channelUserId ?? channelUserId}
      above={<span className="quiet">{t('userOf', { channel: channels.of(appId) })}</span>}
      actions={
        found.data ? (
          <>
            {isSupport && found.data.mobile !== null ? <ChangeMobile {...{ appId, channelUserId }} /> : null}
            {isAdmin ? <PersonalData {...{ appId, channelUserId }} /> : null}
          </>
        ) : null
      }
    >
      <Loaded query={found} meanwhile={<Loading />}>
        {(user) => <Everything user={user} />}
      </Loaded>
    </Page>
  );
}

const agreement = columnsOf<User['agreements'][number]>();
const binding = columnsOf<User['bindings'][number]>();
const refund = columnsOf<User['refunds'][number]>();
const claim = columnsOf<User['claims'][number]>();

function Everything({ user }: { readonly user: User }) {
  const t = useTexts();
  const institutions = useInstitutionNames();
  const [unmasked, setUnmasked] = useState<Unmasked>();
  const { orders, agreements, bindings, messageTimes, refunds, claims, mobile } = user;
  const sum = (of: (order: User['orders'][number]) => number) =>
    moneyText(orders.reduce((all, one) => all + of(one), 0));
  const claimText = (status: string) => (status === 'PENDING' || status === 'FULFILLED' ? t(status) : status);
  return (
    <>
      <Sums
        sums={[
          [
            t('mobile'),
            // The mobile is unmasked through one of the user's orders, because an order's timeline records the access.
            <Mobile key="mobile" {...{ mobile, unmasked }} orderNo={orders[0]?.orderNo} onChange={setUnmasked} />,
          ],
          [t('active'), countText(orders.filter(({ orderStatus }) => orderStatus === 'ACTIVE').length)],
          [t('paid'), sum((order) => order.totalPaidAmountCent)],
          [t('refunded'), sum((order) => order.totalRefundAmountCent)],
        ]}
      />
      <Listed
        what="orders"
        rows={orders}
        columns={useOrderColumns({ withUser: false })}
        rowKey={({ orderNo }) => orderNo}
        rowLink={({ orderNo }) => ({ to: '/orders/$orderNo', params: { orderNo } })}
      />
      <Listed
        what="agreements"
        rows={agreements}
        rowKey={({ agreementNo }) => agreementNo}
        columns={[
          agreement.of(t('card'), ({ bankCardTailNo }) => <span className="figures">···· {bankCardTailNo}</span>),
          agreement.status(t('status'), 'agreement', 'agreementStatus'),
          agreement.of(t('institution'), ({ paymentChannelCode }) => institutions.of(paymentChannelCode)),
          agreement.copyable(t('agreement'), 'agreementNo', { grows: true }),
          agreement.time(t('signed'), 'createTime'),
        ]}
      />
      <Listed
        what="bindings"
        hint={
          messageTimes.length > 0
            ? t('messages', { times: joinNames(messageTimes.map((at) => timeText(momentOf(at), BEIJING, true))) })
            : t('noMessages')
        }
        rows={bindings}
        rowKey={({ bindOrderNo }) => bindOrderNo}
        columns={[
          binding.of(t('card'), ({ bankCardTailNo }) => <span className="figures">···· {bankCardTailNo}</span>),
          binding.status(t('status'), 'agreement', 'agreementStatus'),
          binding.of(t('institution'), ({ paymentChannelCode }) => institutions.of(paymentChannelCode)),
          binding.copyable(t('binding'), 'bindOrderNo', { grows: true }),
          binding.text(t('codeTo'), 'bankMobile'),
          binding.count(t('wrongCodes'), 'wrongCodes'),
          binding.of(
            t('codeSent'),
            ({ codeSentAt }) => <Time value={codeSentAt} as="seconds" absent={t('notSent')} />,
            {
              align: 'end',
            },
          ),
          binding.time(t('begun'), 'createTime'),
        ]}
      />
      <Listed
        what="refunds"
        rows={refunds}
        rowKey={({ refundNo }) => refundNo}
        columns={[
          refund.of(t('refund'), ({ refundNo }) => <span className="figures">{refundNo}</span>),
          refund.status(t('status'), 'refund', 'status'),
          refund.of(t('order'), ({ orderNo }) => <OrderLink orderNo={orderNo} />, { grows: true }),
          refund.count(t('period'), 'cycleNo'),
          refund.money(t('amount'), 'amountCent'),
          refund.text(t('by'), 'requestedBy'),
          refund.time(t('started'), 'startedAt'),
        ]}
      />
      <Listed
        what="claims"
        rows={claims}
        rowKey={({ claimNo }) => claimNo}
        columns={[
          claim.of(t('benefit'), ({ name, benefitCode }) => <span title={benefitCode}>{name}</span>),
          claim.of(
            t('status'),
            ({ status }) => <Tag tone={status === 'PENDING' ? 'waiting' : 'positive'}>{claimText(status)}</Tag>,
            { inCard: 'aside' },
          ),
          claim.of(t('order'), ({ orderNo }) => <OrderLink orderNo={orderNo} />, { grows: true }),
          claim.count(t('period'), 'cycleNo'),
          claim.copyable(t('claim'), 'claimNo', { inCard: 'none' }),
          claim.time(t('claimedAt'), 'claimedAt'),
        ]}
      />
    </>
  );
}

interface ListedProps<Row> extends Omit<DataTableProps<Row>, 'caption'> {
  readonly what: 'orders' | 'agreements' | 'bindings' | 'refunds' | 'claims';
  readonly hint?: string;
}

/** A section with a table. If there are no rows, it has a line that says so. */
function Listed<Row>({ what, hint, ...table }: ListedProps<Row>) {
  const t = useTexts();
  return (
    <Section title={t(what)} hint={hint}>
      {table.rows.length === 0 ? (
        <p className="quiet small">{t(`${what}None`)}</p>
      ) : (
        <DataTable {...table} caption={t(`${what}Caption`)} />
      )}
    </Section>
  );
}
