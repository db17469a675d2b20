import { Title, UnstyledButton } from '@mantine/core';
import { dictionary } from '../../i18n/dictionary.ts';
import { countText, moneyText } from './money.tsx';
import styles from './share-bars.module.css';

const useTexts = dictionary({
  none: ['None', '无'],
});

/** A group of payments. */
interface Share {
  readonly key: string;
  readonly label: string;
  readonly payments: number;
  readonly amountCent: number;
  /** Called when the row is clicked. Without it the row cannot be clicked. */
  readonly onChoose?: (() => void) | undefined;
  readonly isChosen?: boolean;
}

interface ShareBarsProps {
  readonly title: string;
  readonly shares: readonly Share[];
  readonly tone?: 'positive';
}

/** Shows a few groups of payments with their sums, each with a bar whose length is relative to the largest count. */
export function ShareBars({ title, shares, tone }: ShareBarsProps) {
  const t = useTexts();
  const most = Math.max(1, ...shares.map(({ payments }) => payments));
  return (
    <section data-tone={tone}>
      <Title order={2} mb={6} fz="xs" fw={500} c="dimmed">
        {title}
      </Title>
      {shares.length === 0 ? <p className="small quiet">{t('none')}</p> : null}
      <ul className={styles.list}>
        {shares.map((share) => (
          <li key={share.key}>
            <Row share={share} part={share.payments / most} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function Row({ share, part }: { readonly share: Share; readonly part: number }) {
  const { label, payments, amountCent, onChoose, isChosen } = share;
  const look = { className: styles.row ?? '', style: { backgroundSize: `${part * 100}%` } };
  const content = (
    <>
      <span className="one-line" title={label}>
        {label}
      </span>
      <strong className="figures">{countText(payments)}</strong>
      <span className="figures">{moneyText(amountCent)}</span>
    </>
  );
  if (!onChoose) return <span {...look}>{content}</span>;
  return (
    <UnstyledButton {...look} aria-pressed={isChosen === true} onClick={onChoose}>
      {content}
    </UnstyledButton>
  );
}
