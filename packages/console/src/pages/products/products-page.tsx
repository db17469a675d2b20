import { Button } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { places } from '../../address/places.ts';
import { productsQuery } from '../../api/catalog.ts';
import type { Product } from '../../api/types.ts';
import { joinNames } from '../../i18n/language.ts';
import { PlusIcon } from '../../icons/icons.tsx';
import { type Column, DataTable } from '../../parts/lists/data-table.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { notifyDone } from '../../parts/notify.ts';
import { Hint, Page } from '../../parts/page.tsx';
import { Empty } from '../../parts/states.tsx';
import { Copyable } from '../../parts/values/copyable.tsx';
import { Count } from '../../parts/values/money.tsx';
import { placeAddress } from '../../parts/values/place-link.tsx';
import { Tag } from '../../parts/values/status.tsx';
import { useMayDo } from '../../session/session.ts';
import { ProductDialog } from './product-dialogs.tsx';
import { usePriceText } from './product-texts.ts';
import { useTexts } from './texts.ts';

export default function ProductsPage() {
  const t = useTexts();
  const priceText = usePriceText();
  const isAdmin = useMayDo('admin');
  const queries = useQueryClient();
  const navigate = useNavigate();
  const found = useQuery(productsQuery);
  const [isAdding, setAdding] = useState(false);
  const columns: readonly Column<Product>[] = [
    {
      id: 'name',
      header: t('name'),
      cell: ({ productName }) => <span title={productName}>{productName}</span>,
      grows: 'third',
    },
    {
      id: 'version',
      header: t('version'),
      cell: ({ version }) =>
        version > 1 ? <Tag tone="neutral">{t('versionNo', { no: version })}</Tag> : <span className="quiet">v1</span>,
      inCard: 'aside',
    },
    { id: 'code', header: t('code'), cell: ({ productCode }) => <Copyable value={productCode} /> },
    { id: 'price', header: t('price'), cell: (product) => <span className="figures">{priceText(product)}</span> },
    { id: 'cycles', header: t('cycles'), cell: ({ totalCycles }) => <Count value={totalCycles} />, align: 'end' },
    {
      id: 'mode',
      header: t('mode'),
      cell: ({ settlementModes }) => <span className="quiet">{joinNames(settlementModes.map((mode) => t(mode)))}</span>,
      grows: true,
      inCard: 'none',
    },
    { id: 'benefits', header: t('benefits'), cell: ({ benefits }) => <Count value={benefits.length} />, align: 'end' },
    { id: 'channels', header: t('channels'), cell: ({ channels }) => <Count value={channels.length} />, align: 'end' },
  ];
  return (
    <Page
      title={t('title')}
      actions={
        isAdmin ? (
          <Button leftSection={<PlusIcon size={16} />} onClick={() => setAdding(true)}>
            {t('add')}
          </Button>
        ) : null
      }
    >
      <Hint>{t('neverChanges')}</Hint>
      <Loaded query={found}>
        {(products) =>
          products.length === 0 ? (
            <Empty title={t('empty')} hint={t('emptyHint')} />
          ) : (
            <DataTable
              caption={t('caption')}
              columns={columns}
              rows={latestOf(products)}
              rowKey={({ productCode }) => productCode}
              rowLink={({ productCode }) => placeAddress(places.product(productCode))}
            />
          )
        }
      </Loaded>
      {isAdding ? (
        <ProductDialog
          onClose={() => setAdding(false)}
          onMade={(product) => {
            setAdding(false);
            notifyDone(t('made', { code: product.productCode }));
            void queries.invalidateQueries({ queryKey: productsQuery.queryKey });
            void navigate(placeAddress(places.product(product.productCode)));
          }}
        />
      ) : null}
    </Page>
  );
}

/** Returns the latest version of each product. */
function latestOf(products: readonly Product[]): Product[] {
  const latest = new Map<string, Product>();
  for (const product of products) {
    const first = product.versionOf ?? product.productCode;
    if (product.version >= (latest.get(first)?.version ?? 0)) latest.set(first, product);
  }
  return [...latest.values()];
}
