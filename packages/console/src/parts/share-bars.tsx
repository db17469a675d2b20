import { countText, moneyText } from './money.tsx';
import styles from './share-bars.module.css';

interface Share {
  readonly key: string;
  readonly label: string;
  readonly count: number;
  readonly amountCent: number;
  /** What a press does; without it the row is only read. */
  readonly onChoose?: (() => void) | undefined;
  readonly isChosen?: boolean;
}

interface ShareBarsProps {
  readonly title: string;
  readonly shares: readonly Share[];
  /** What is said when there is none. */
  readonly empty: string;
  readonly tone?: 'positive';
}

/** A few groups with their number and money, each as long as its share of the largest. */
export function ShareBars({ title, shares, empty, tone }: ShareBarsProps) {
  const most = Math.max(1, ...shares.map(({ count }) => count));
  return (
    <section className={styles.group} data-tone={tone}>
      <h2 className={styles.title}>{title}</h2>
      {shares.length === 0 ? <p className={styles.empty}>{empty}</p> : null}
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
  const content = (
    <>
      <span className={styles.bar} style={{ width: `${part * 100}%` }} />
      <span className={styles.label} title={label}>
        {label}
      </span>
      <span className={`figures ${styles.count}`}>{countText(count)}</span>
      <span className={`figures ${styles.amount}`}>{moneyText(amountCent)}</span>
    </>
  );
  if (!onChoose) return <span className={styles.row}>{content}</span>;
  return (
    <button type="button" className={styles.row} aria-pressed={isChosen === true} onClick={onChoose}>
      {content}
    </button>
  );
}
