import { Button, Group } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { places } from '../../address/places.ts';
import type { Order, OrderAnswer, Unmasked } from '../../api/order-types.ts';
import { useInstitutionNames } from '../../catalog/catalog.ts';
import { joinParts } from '../../i18n/language.ts';
import { Facts, Section } from '../../parts/page.tsx';
import { Copyable } from '../../parts/values/copyable.tsx';
import { moneyText } from '../../parts/values/money.tsx';
import { PlaceLink } from '../../parts/values/place-link.tsx';
import { Status } from '../../parts/values/status.tsx';
import { Time } from '../../parts/values/time.tsx';
import { useMayDo } from '../../session/session.ts';
import { useModeTexts } from '../orders/mode-words.ts';
import { UnmaskDialog } from './dialogs.tsx';
import { useTexts } from './texts.ts';

export function DetailsSection({ shown }: { readonly shown: OrderAnswer }) {
  const t = useTexts();
  const modeText = useModeTexts();
  const [unmasked, setUnmasked] = useState<Unmasked>();
  const { order, product, channel, mobile } = shown;
  const { appId, orderNo } = order;
  const channelUserId = unmasked?.channelUserId ?? order.channelUserId;
  const plan = order.periodType === 'MONTH' ? 'planMonths' : 'planDays';
  return (
    <Section title={t('details')}>
      <Facts
        facts={[
          [
            t('user'),
            // No user can be found by a masked id: viewers see only such ids, other roles if the id is a card number.
            channelUserId.includes('****') ? (
              channelUserId
            ) : (
              <Link key="user" to="/users" search={{ appId, channelUserId }}>
                {channelUserId}
              </Link>
            ),
          ],
          [t('mobile'), <Mobile key="mobile" {...{ mobile, orderNo, unmasked }} onChange={setUnmasked} />],
          [
            t('channel'),
            <PlaceLink key="channel" to={places.channel(appId)}>
              {channel.name}
            </PlaceLink>,
          ],
          [
            t('product'),
            product ? (
              <PlaceLink key="product" to={places.product(product.productCode)}>
                {joinParts([product.productName, t('version', { no: product.version })])}
              </PlaceLink>
            ) : (
              order.productCode
            ),
          ],
          [
            t('plan'),
            joinParts([
              t(plan, { amount: moneyText(order.amountCent), count: order.period }),
              t('planTimes', { total: order.totalCycles }),
            ]),
          ],
          [t('mode'), modeText(order.settlementMode)],
          [t('external'), <Copyable key="external" value={order.externalOrderNo} />],
          [t('created'), <Time key="created" value={order.createTime} as="full" />],
        ]}
      />
    </Section>
  );
}

interface MobileProps {
  readonly mobile: string | null;
  /** The order in whose timeline the access to the clear value is recorded. */
  readonly orderNo: string | undefined;
  readonly unmasked: Unmasked | undefined;
  onChange(unmasked: Unmasked | undefined): void;
}

/** A masked value that can be shown in clear after a reason is given. */
export function Mobile({ mobile, orderNo, unmasked, onChange }: MobileProps) {
  const t = useTexts();
  const maySee = useMayDo('support');
  const [isAsking, setAsking] = useState(false);
  return (
    <Group component="span" display="inline-flex" gap="2px 8px">
      {unmasked?.mobile ? (
        <Copyable value={unmasked.mobile} />
      ) : (
        <span className={mobile ? 'figures' : 'quiet'}>{mobile ?? t('noMobile')}</span>
      )}
      {unmasked || (maySee && mobile && orderNo) ? (
        <Button variant="subtle" size="compact-xs" onClick={() => (unmasked ? onChange(undefined) : setAsking(true))}>
          {t(unmasked ? 'hide' : 'unmask')}
        </Button>
      ) : null}
      {isAsking && orderNo ? (
        <UnmaskDialog orderNo={orderNo} onShown={onChange} onClose={() => setAsking(false)} />
      ) : null}
    </Group>
  );
}

export function AgreementSection({ order }: { readonly order: Order }) {
  const t = useTexts();
  const institutions = useInstitutionNames();
  const { agreement, channelAgreementRef, settlementMode } = order;
  if (!agreement)
    return (
      <Section title={t('agreement')}>
        <p className="quiet small">{settlementMode === 'SVC_DEDUCT' ? t('notBound') : t('noAgreement')}</p>
        {channelAgreementRef ? (
          <Facts facts={[[t('channelRef'), <Copyable key="ref" value={channelAgreementRef} />]]} />
        ) : null}
      </Section>
    );
  const source = agreement.agreementSource;
  return (
    <Section title={t('agreement')} actions={<Status of="agreement" value={agreement.agreementStatus} />}>
      <Facts
        facts={[
          [
            t('card'),
            <span key="card" className="figures">
              {agreement.bankCode ? `${agreement.bankCode} ` : ''}···· {agreement.bankCardTailNo}
            </span>,
          ],
          [t('institution'), institutions.of(agreement.paymentChannelCode)],
          [t('agreement'), <Copyable key="no" value={agreement.agreementNo} />],
          [t('source'), source === 'SELF_BINDING' || source === 'SHARED_FROM_CHANNEL' ? t(source) : source],
          [t('signed'), <Time key="signed" value={agreement.createTime} as="full" />],
        ]}
      />
      {agreement.cancelPending ? <p className="quiet small">{t('cancelPending')}</p> : null}
    </Section>
  );
}
