import { Button } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { places } from '../../address/places.ts';
import { productQuery, productsQuery } from '../../api/catalog.ts';
import type { Product } from '../../api/types.ts';
import { useChannelNames } from '../../catalog/catalog.ts';
import { joinNames } from '../../i18n/language.ts';
import { PlusIcon } from '../../icons/icons.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { notifyDone } from '../../parts/notify.ts';
import { Facts, Page, Section } from '../../parts/page.tsx';
import { Copyable } from '../../parts/values/copyable.tsx';
import { Money } from '../../parts/values/money.tsx';
import { PlaceLink, placeAddress } from '../../parts/values/place-link.tsx';
import { Tag } from '../../parts/values/status.tsx';
import { Time } from '../../parts/values/time.tsx';
import { useMayDo } from '../../session/session.ts';
import { ProductDialog } from './product-dialogs.tsx';
import { NamesDialog } from './product-names.tsx';
import { delayWords, usePriceText } from './product-texts.ts';
import styles from './products.module.css';
import { useTexts } from './texts.ts';

export default function ProductPage() {
  const t = useTexts();
  const { productCode = '' } = useParams({ strict: false });
  const isAdmin = useMayDo('admin');
  const queries = useQueryClient();
  const navigate = useNavigate();
  const found = useQuery(productQuery(productCode));
  const [isAsked, setAsked] = useState(false);
  const [isNaming, setNaming] = useState(false);
  const product = found.data;
  return (
    <Page
      title={product?.productName ?? productCode}
      above={<PlaceLink to="/products">{t('title')}</PlaceLink>}
      aside={product ? <Tag tone="neutral">{t('versionNo', { no: product.version })}</Tag> : null}
      actions={
        isAdmin && product ? (
          <>
            <Button variant="default" onClick={() => setNaming(true)}>
              {t('changeNames')}
            </Button>
            <Button leftSection={<PlusIcon size={16} />} onClick={() => setAsked(true)}>
              {t('newVersion')}
            </Button>
          </>
        ) : null
      }
    >
      <Loaded query={found}>{(one) => <OneProduct product={one} />}</Loaded>
      {isNaming && product ? (
        <NamesDialog
          product={product}
          onChanged={() => void queries.invalidateQueries({ queryKey: productsQuery.queryKey })}
          onClose={() => setNaming(false)}
        />
      ) : null}
      {isAsked && product ? (
        <ProductDialog
          former={product}
          onClose={() => setAsked(false)}
          onMade={(made) => {
            setAsked(false);
            notifyDone(t('made', { code: made.productCode }));
            void queries.invalidateQueries({ queryKey: productsQuery.queryKey });
            void navigate(placeAddress(places.product(made.productCode)));
          }}
        />
      ) : null}
    </Page>
  );
}

function OneProduct({ product }: { readonly product: Product }) {
  const t = useTexts();
  const priceText = usePriceText();
  const { data: products = [] } = useQuery(productsQuery);
  const names = useChannelNames();
  const firstOf = (one: Product) => one.versionOf ?? one.productCode;
  const versions = products
    .filter((one) => firstOf(one) === firstOf(product))
    .toSorted((one, other) => other.version - one.version);
  return (
    <>
      <Facts
        facts={[
          [t('code'), <Copyable key="code" value={product.productCode} />],
          [t('nameZh'), product.nameZh ?? '–'],
          [t('nameEn'), product.nameEn ?? '–'],
          [t('price'), priceText(product)],
          [t('cycles'), t('cyclesText', { count: product.totalCycles })],
          [t('mode'), joinNames(product.settlementModes.map((mode) => t(mode)))],
          [
            t('retries'),
            product.retryDelays.length === 0
              ? t('retriesNone')
              : t('retryAfter', { times: joinNames(product.retryDelays.map(delayWords)) }),
          ],
          [t('created'), <Time key="created" value={product.createdAt} />],
        ]}
      />
      <Section title={t('benefits')}>
        {product.benefits.length === 0 ? <p className="quiet">{t('noBenefits')}</p> : null}
        <ul className={`lined ${styles.list}`}>
          {product.benefits.map(({ benefitCode, name, faceValueCent }) => (
            <li key={benefitCode}>
              <PlaceLink to={`${places.benefits()}?code=${encodeURIComponent(benefitCode)}`}>{name}</PlaceLink>
              <span className="mono quiet">{benefitCode}</span>
              <Money cents={faceValueCent} />
            </li>
          ))}
        </ul>
      </Section>
      <Section title={t('versions')} hint={t('neverChanges')}>
        <ul className={`lined ${styles.list}`}>
          {versions.map((one, place) => (
            <li key={one.productCode}>
              {one.productCode === product.productCode ? (
                <strong>{t('versionNo', { no: one.version })}</strong>
              ) : (
                <PlaceLink to={places.product(one.productCode)}>{t('versionNo', { no: one.version })}</PlaceLink>
              )}
              <span className="mono quiet">{one.productCode}</span>
              {place === 0 ? <Tag tone="positive">{t('latest')}</Tag> : null}
              <span className="figures">{priceText(one)}</span>
              <Time value={one.createdAt} />
            </li>
          ))}
        </ul>
      </Section>
      <Section title={t('soldBy')}>
        {product.channels.length === 0 ? <p className="quiet">{t('soldByNobody')}</p> : null}
        <ul className={`lined ${styles.list}`}>
          {product.channels.map((appId) => (
            <li key={appId}>
              <PlaceLink to={`${places.channel(appId)}?tab=authorizations`}>{names.of(appId)}</PlaceLink>
              <span className="mono quiet">{appId}</span>
            </li>
          ))}
        </ul>
      </Section>
    </>
  );
}
