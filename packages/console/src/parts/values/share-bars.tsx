import { Title, UnstyledButton } from '@mantine/core';
import { countText, moneyText } from './money.tsx';
import styles from './share-bars.module.css';

interface Share {
  readonly key: string;
  readonly label: string;
  readonly count: number;
  readonly amountCent: number;
  /** Called when the row is clicked. Without it the row cannot be clicked. */
  readonly onChoose?: (() => void) | undefined;
  readonly isChosen?: boolean;
}

interface ShareBarsProps {
  readonly title: string;
  readonly shares: readonly Share[];
  /** Shown if there are no groups. */
  readonly empty: string;
  readonly tone?: 'positive';
}

/** Shows a few groups with their counts and amounts, each with a bar whose length is relative to the largest count. */
export function ShareBars({ title, shares, empty, tone }: ShareBarsProps) {
  const most = Math.max(1, ...shares.map(({ count }) => count));
  return (
    <section data-tone={tone}>
      <Title order={2} mb={6} fz="xs" fw={500} c="dimmed">
        {title}
      </Title>
      {shares.length === 0 ? <p className="small quiet">{empty}</p> : null}
      <ul className={styles.list}>
        {shares.map((share) => (
          <li key={share.key}>
            <Row share={share} part={share.count / most} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function Row({ share, part }: { readonly share: Share; readonly part: number }) {
  const { label, count, amountCent, onChoose, isChosen } = share;
  const look = { className: styles.row ?? '', style: { backgroundSize: `${part * 100}%` } };
  const content = (
    <>
      <span className="one-line" title={label}>
        {label}
      </span>
      <strong className="figures">{countText(count)}</strong>
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
