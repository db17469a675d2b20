import { Button, Select, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { useFilters } from '../../address/filters.ts';
import { api } from '../../api/client.ts';
import type { Unmasked, User } from '../../api/order-types.ts';
import { useChannelNames, useInstitutionNames } from '../../catalog/catalog.ts';
import { Copyable } from '../../parts/copyable.tsx';
import { type Column, DataTable } from '../../parts/data-table.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { countText, Money, moneyText } from '../../parts/money.tsx';
import { Page, Section } from '../../parts/page.tsx';
import { Empty, Loading } from '../../parts/states.tsx';
import { Status, Tag } from '../../parts/status.tsx';
import { Time } from '../../parts/time.tsx';
import { useMayDo } from '../../session/session.ts';
import { UnmaskDialog } from '../order/dialogs.tsx';
import { useOrderColumns } from '../orders/order-columns.tsx';
import { USER_FILTERS } from './filters.ts';
import { useTexts } from './texts.ts';
import styles from './user.module.css';

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
    <form
      className={styles.find}
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
    </form>
  );
}

function OneUser({ appId, channelUserId }: { readonly appId: string; readonly channelUserId: string }) {
  const t = useTexts();
  const channels = useChannelNames();
  const found = useQuery({
    queryKey: ['/users', { appId, channelUserId }],
    queryFn: ({ signal }) => api.get('/users', { appId, channelUserId }, signal),
  });
  return (
    <Page
      title={found.data?.channelUserId ?? channelUserId}
      above={<span className="quiet">{t('userOf', { channel: channels.of(appId) })}</span>}
    >
      <Loaded query={found} meanwhile={<Loading />}>
        {(user) => (
          <>
            <Sums user={user} />
            <Orders user={user} />
            <Agreements user={user} />
            <Refunds user={user} />
            <Claims user={user} />
          </>
        )}
      </Loaded>
    </Page>
  );
}

function Sums({ user }: { readonly user: User }) {
  const t = useTexts();
  const sum = (of: (order: User['orders'][number]) => number) => user.orders.reduce((total, one) => total + of(one), 0);
  const active = user.orders.filter(({ orderStatus }) => orderStatus === 'ACTIVE').length;
  return (
    <dl className={styles.sums}>
      <div>
        <dt>{t('mobile')}</dt>
        <dd>
          <Mobile user={user} />
        </dd>
      </div>
      <div>
        <dt>{t('active')}</dt>
        <dd className="figures">{countText(active)}</dd>
      </div>
      <div>
        <dt>{t('paid')}</dt>
        <dd className="figures">{moneyText(sum((order) => order.totalPaidAmountCent))}</dd>
      </div>
      <div>
        <dt>{t('refunded')}</dt>
        <dd className="figures">{moneyText(sum((order) => order.totalRefundAmountCent))}</dd>
      </div>
    </dl>
  );
}

/** It is shown in clear by way of one of the user's orders, where that is written down. */
function Mobile({ user }: { readonly user: User }) {
  const t = useTexts();
  const maySee = useMayDo('support');
  const [unmasked, setUnmasked] = useState<Unmasked>();
  const [isAsking, setAsking] = useState(false);
  const [order] = user.orders;
  if (!user.mobile) return <span className="quiet">{t('noMobile')}</span>;
  return (
    <>
      {unmasked?.mobile ? <Copyable value={unmasked.mobile} /> : <span className="figures">{user.mobile}</span>}
      {unmasked ? (
        <Button variant="subtle" size="compact-xs" onClick={() => setUnmasked(undefined)}>
          {t('hide')}
        </Button>
      ) : maySee && order ? (
        <Button variant="subtle" size="compact-xs" onClick={() => setAsking(true)}>
          {t('unmask')}
        </Button>
      ) : null}
      {isAsking && order ? (
        <UnmaskDialog orderNo={order.orderNo} onShown={setUnmasked} onClose={() => setAsking(false)} />
      ) : null}
    </>
  );
}

interface ListedProps<Row> {
  readonly title: string;
  readonly caption: string;
  readonly none: string;
  readonly rows: readonly Row[];
  readonly columns: readonly Column<Row>[];
  rowKey(row: Row): string;
  orderOf?(row: Row): string;
}

/** A section with a table, or a line that says that there is nothing. */
function Listed<Row>({ title, caption, none, rows, columns, rowKey, orderOf }: ListedProps<Row>) {
  return (
    <Section title={title}>
      {rows.length === 0 ? (
        <p className="quiet small">{none}</p>
      ) : (
        <DataTable
          caption={caption}
          columns={columns}
          rows={rows}
          rowKey={rowKey}
          {...(orderOf
            ? { rowLink: (row: Row) => ({ to: '/orders/$orderNo' as const, params: { orderNo: orderOf(row) } }) }
            : {})}
        />
      )}
    </Section>
  );
}

function Orders({ user }: { readonly user: User }) {
  const t = useTexts();
  return (
    <Listed
      title={t('orders')}
      caption={t('ordersCaption')}
      none={t('noOrders')}
      rows={user.orders}
      columns={useOrderColumns({ withUser: false })}
      rowKey={({ orderNo }) => orderNo}
      orderOf={({ orderNo }) => orderNo}
    />
  );
}

function Agreements({ user }: { readonly user: User }) {
  const t = useTexts();
  const institutions = useInstitutionNames();
  return (
    <Listed
      title={t('agreements')}
      caption={t('agreementsCaption')}
      none={t('noAgreements')}
      rows={user.agreements}
      rowKey={({ agreementNo }) => agreementNo}
      columns={[
        {
          id: 'card',
          header: t('card'),
          cell: ({ bankCardTailNo }) => <span className="figures">···· {bankCardTailNo}</span>,
        },
        {
          id: 'status',
          header: t('status'),
          inCard: 'aside',
          cell: ({ agreementStatus }) => <Status of="agreement" value={agreementStatus} />,
        },
        { id: 'institution', header: t('institution'), cell: (row) => institutions.of(row.paymentChannelCode) },
        {
          id: 'agreement',
          header: t('agreement'),
          grows: true,
          cell: ({ agreementNo }) => <Copyable value={agreementNo} />,
        },
        { id: 'signed', header: t('signed'), align: 'end', cell: ({ createTime }) => <Time value={createTime} /> },
      ]}
    />
  );
}

const OrderLink = ({ orderNo }: { readonly orderNo: string }): ReactNode => (
  <Link to="/orders/$orderNo" params={{ orderNo }} className="figures">
    {orderNo}
  </Link>
);

function Refunds({ user }: { readonly user: User }) {
  const t = useTexts();
  return (
    <Listed
      title={t('refunds')}
      caption={t('refundsCaption')}
      none={t('noRefunds')}
      rows={user.refunds}
      rowKey={({ refundNo }) => refundNo}
      columns={[
        { id: 'refund', header: t('refund'), cell: ({ refundNo }) => <span className="figures">{refundNo}</span> },
        {
          id: 'status',
          header: t('status'),
          inCard: 'aside',
          cell: ({ status }) => <Status of="refund" value={status} />,
        },
        { id: 'order', header: t('order'), grows: true, cell: ({ orderNo }) => <OrderLink orderNo={orderNo} /> },
        {
          id: 'period',
          header: t('period'),
          align: 'end',
          cell: ({ cycleNo }) => <span className="figures">{cycleNo}</span>,
        },
        { id: 'amount', header: t('amount'), align: 'end', cell: ({ amountCent }) => <Money cents={amountCent} /> },
        { id: 'by', header: t('by'), cell: ({ requestedBy }) => requestedBy },
        { id: 'started', header: t('started'), align: 'end', cell: ({ startedAt }) => <Time value={startedAt} /> },
      ]}
    />
  );
}

function Claims({ user }: { readonly user: User }) {
  const t = useTexts();
  const statusText = (status: string) => (status === 'PENDING' || status === 'FULFILLED' ? t(status) : status);
  return (
    <Listed
      title={t('claims')}
      caption={t('claimsCaption')}
      none={t('noClaims')}
      rows={user.claims}
      rowKey={({ claimNo }) => claimNo}
      columns={[
        {
          id: 'benefit',
          header: t('benefit'),
          cell: ({ name, benefitCode }) => <span title={benefitCode}>{name}</span>,
        },
        {
          id: 'status',
          header: t('status'),
          inCard: 'aside',
          cell: ({ status }) => <Tag tone={status === 'PENDING' ? 'waiting' : 'positive'}>{statusText(status)}</Tag>,
        },
        { id: 'order', header: t('order'), grows: true, cell: ({ orderNo }) => <OrderLink orderNo={orderNo} /> },
        {
          id: 'period',
          header: t('period'),
          align: 'end',
          cell: ({ cycleNo }) => <span className="figures">{cycleNo}</span>,
        },
        { id: 'claim', header: t('claim'), cell: ({ claimNo }) => <Copyable value={claimNo} />, inCard: 'none' },
        { id: 'claimedAt', header: t('claimedAt'), align: 'end', cell: ({ claimedAt }) => <Time value={claimedAt} /> },
      ]}
    />
  );
}
