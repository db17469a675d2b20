import { Tag, type Tone } from '../../parts/status.tsx';
import { useTexts } from './texts.ts';

const OUTCOMES: Readonly<
  Record<string, readonly [Tone, 'accepted' | 'refused' | 'timeout' | 'unreachable' | 'forbidden']>
> = {
  ACCEPTED: ['positive', 'accepted'],
  REFUSED: ['negative', 'refused'],
  TIMEOUT: ['negative', 'timeout'],
  UNREACHABLE: ['negative', 'unreachable'],
  FORBIDDEN: ['negative', 'forbidden'],
};

/** What came of a push. */
export function Outcome({ value }: { readonly value: string }) {
  const t = useTexts();
  const [tone, text] = OUTCOMES[value] ?? ['neutral', undefined];
  return <Tag tone={tone}>{text ? t(text) : value}</Tag>;
}
