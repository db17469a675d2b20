import { Box, Button, Group, Stack, Text } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useFilters } from '../../address/filters.ts';
import { places } from '../../address/places.ts';
import { benefitsQuery } from '../../api/catalog.ts';
import type { Benefit } from '../../api/types.ts';
import { benefitName, useProductNames } from '../../catalog/catalog.ts';
import { useLanguage } from '../../i18n/language.ts';
import { UploadIcon } from '../../icons/icons.tsx';
import { Sheet, SheetButtons, SheetPart } from '../../parts/dialogs/sheet.tsx';
import { type Column, DataTable } from '../../parts/lists/data-table.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Facts, Page } from '../../parts/page.tsx';
import { Empty, NotFound } from '../../parts/states.tsx';
import { Copyable } from '../../parts/values/copyable.tsx';
import { Count, countText } from '../../parts/values/money.tsx';
import { BenefitPicture } from '../../parts/values/picture.tsx';
import { PlaceLink } from '../../parts/values/place-link.tsx';
import { Tag } from '../../parts/values/status.tsx';
import { useMayDo } from '../../session/session.ts';
import { ImportDialog, SourceDialog, ThresholdDialog } from './benefit-dialogs.tsx';
import { PresentationDialog, PresentationPart, useDescription } from './presentation.tsx';
import { useTexts } from './texts.ts';

type Task = { readonly what: 'import' | 'threshold' | 'source' | 'presentation'; readonly benefit: Benefit };

const isLow = ({ codesLeft, lowStock }: Benefit) => codesLeft !== null && lowStock !== null && codesLeft < lowStock;
/** The sort rank of a benefit. Benefits that need codes have a higher rank and are listed first. */
const urgency = (benefit: Benefit) => (benefit.claimsWaiting > 0 ? 2 : 0) + (isLow(benefit) ? 1 : 0);

export default function BenefitsPage() {
  const t = useTexts();
  const language = useLanguage();
  const queries = useQueryClient();
  const opened = useFilters(['code']);
  const found = useQuery(benefitsQuery);
  const [task, setTask] = useState<Task>();
  const close = () => setTask(undefined);
  const reload = () => void queries.invalidateQueries({ queryKey: benefitsQuery.queryKey });
  const columns: readonly Column<Benefit>[] = [
    {
      id: 'code',
      header: t('benefit'),
      cell: (benefit) => <Name benefit={benefit} />,
      grows: true,
    },
    { id: 'source', header: t('source'), cell: ({ kind }) => t(kind), inCard: 'aside' },
    { id: 'stock', header: t('stock'), cell: (benefit) => <Stock benefit={benefit} />, align: 'end' },
    {
      id: 'threshold',
      header: t('threshold'),
      cell: (benefit) => <Threshold benefit={benefit} />,
      align: 'end',
    },
    {
      id: 'waiting',
      header: t('waiting'),
      cell: ({ claimsWaiting }) =>
        claimsWaiting === 0 ? (
          <span className="quiet figures">0</span>
        ) : (
          <Tag tone="waiting">{countText(claimsWaiting)}</Tag>
        ),
      align: 'end',
    },
    { id: 'products', header: t('products'), cell: ({ products }) => <Count value={products.length} />, align: 'end' },
  ];
  const one = found.data?.find(({ benefitCode }) => benefitCode === opened.values.code);
  return (
    <Page title={t('title')}>
      <Loaded query={found}>
        {(benefits) =>
          benefits.length === 0 ? (
            <Empty title={t('empty')} hint={t('emptyHint')} />
          ) : (
            <DataTable
              caption={t('caption')}
              columns={columns}
              rows={benefits.toSorted((first, second) => urgency(second) - urgency(first))}
              rowKey={({ benefitCode }) => benefitCode}
              onOpen={({ benefitCode }) => opened.set({ code: benefitCode })}
            />
          )
        }
      </Loaded>
      <Sheet
        isOpen={opened.values.code !== undefined && found.data !== undefined}
        title={(one && benefitName({ ...one.presentation, name: one.name }, language)) ?? opened.values.code}
        onClose={() => opened.set({ code: undefined })}
      >
        {one ? <OneBenefit benefit={one} onChoose={(what) => setTask({ what, benefit: one })} /> : <NotFound />}
      </Sheet>
      {task?.what === 'import' ? (
        <ImportDialog benefitCode={task.benefit.benefitCode} onClose={close} onImported={reload} />
      ) : null}
      {task?.what === 'threshold' ? (
        <ThresholdDialog benefit={task.benefit} onClose={close} onChanged={reload} />
      ) : null}
      {task?.what === 'presentation' ? (
        <PresentationDialog benefit={task.benefit} onClose={close} onChanged={reload} />
      ) : null}
      {task?.what === 'source' ? <SourceDialog benefit={task.benefit} onClose={close} onChanged={reload} /> : null}
    </Page>
  );
}

function Name({ benefit: { benefitCode, name: ofProduct, presentation } }: { readonly benefit: Benefit }) {
  const description = useDescription(presentation);
  const name = benefitName({ ...presentation, name: ofProduct }, useLanguage());
  return (
    <Group component="span" display="inline-flex" gap={10} wrap="nowrap" miw={0} maw="100%">
      <BenefitPicture icon={presentation.icon} />
      <Stack component="span" gap={0} miw={0}>
        {name === null ? null : <span>{name}</span>}
        <Box component="span" className={name === null ? 'mono' : 'mono quiet'} {...(name === null ? {} : { fw: 400 })}>
          {benefitCode}
        </Box>
        {description ? (
          <Text span truncate fz="sm" fw={400} c="dimmed">
            {description}
          </Text>
        ) : null}
      </Stack>
    </Group>
  );
}

function Stock({ benefit }: { readonly benefit: Benefit }) {
  const t = useTexts();
  if (benefit.codesLeft === null) return <span className="quiet">{t('noPool')}</span>;
  return (
    <Group component="span" display="inline-flex" gap={8} wrap="nowrap">
      <StockTag benefit={benefit} />
      <Count value={benefit.codesLeft} />
    </Group>
  );
}

function StockTag({ benefit }: { readonly benefit: Benefit }) {
  const t = useTexts();
  if (benefit.codesLeft === 0) return <Tag tone="negative">{t('emptyPool')}</Tag>;
  return isLow(benefit) ? <Tag tone="waiting">{t('low')}</Tag> : null;
}

function Threshold({ benefit: { lowStock, codesLeft } }: { readonly benefit: Benefit }) {
  const t = useTexts();
  if (lowStock !== null) return <Count value={lowStock} />;
  return <span className="quiet">{codesLeft === null ? '–' : t('noThreshold')}</span>;
}

interface OneBenefitProps {
  readonly benefit: Benefit;
  onChoose(what: Task['what']): void;
}

function OneBenefit({ benefit, onChoose }: OneBenefitProps) {
  const t = useTexts();
  const products = useProductNames();
  const mayRefill = useMayDo('support');
  const isAdmin = useMayDo('admin');
  return (
    <>
      {benefit.codesLeft === null ? null : (
        <div>
          <div className="quiet">{t('stock')}</div>
          <Group display="inline-flex" gap={8} wrap="nowrap">
            <Text span className="figures" fz="1.75rem" fw={600} lh={1.2}>
              {countText(benefit.codesLeft)}
            </Text>
            <StockTag benefit={benefit} />
          </Group>
        </div>
      )}
      <SheetButtons>
        {mayRefill ? (
          <>
            <Button leftSection={<UploadIcon size={16} />} onClick={() => onChoose('import')}>
              {t('import')}
            </Button>
            {benefit.kind === 'POOL' ? (
              <Button variant="default" onClick={() => onChoose('threshold')}>
                {t('setThreshold')}
              </Button>
            ) : null}
          </>
        ) : null}
        {isAdmin ? (
          <Button variant="default" onClick={() => onChoose('source')}>
            {t('setSource')}
          </Button>
        ) : null}
      </SheetButtons>
      <Facts
        facts={[
          [t('code'), <Copyable key="code" value={benefit.benefitCode} />],
          [t('source'), t(benefit.kind)],
          [t('threshold'), <Threshold key="threshold" benefit={benefit} />],
          [t('waiting'), <Count key="waiting" value={benefit.claimsWaiting} />],
          ...(benefit.supplierUrl === null
            ? []
            : [[t('supplierUrl'), <Copyable key="url" value={benefit.supplierUrl} />] as const]),
        ]}
      />
      <PresentationPart
        presentation={benefit.presentation}
        onChange={isAdmin ? () => onChoose('presentation') : undefined}
      />
      <SheetPart title={t('products')}>
        {benefit.products.length === 0 ? <p className="quiet">{t('noProducts')}</p> : null}
        <Group gap="4px 12px" align="stretch">
          {benefit.products.map((code) => (
            <Group key={code} gap={4}>
              <PlaceLink to={places.product(code)}>{products.of(code)}</PlaceLink>
              {products.of(code) === code ? null : <span className="mono quiet">{code}</span>}
            </Group>
          ))}
        </Group>
      </SheetPart>
    </>
  );
}
