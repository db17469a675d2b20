import styles from './json-view.module.css';

/** A record as it is, for those who want the whole of it. */
export function JsonView({ value }: { readonly value: unknown }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable with the keyboard
    <pre className={`mono ${styles.json}`} tabIndex={0}>
      {JSON.stringify(value, null, 2)}
    </pre>
  );
}
