import { useMemo } from 'react';
import { encode } from 'uqr';

const LOOK = { width: 184, height: 184, border: '1px solid var(--line)', borderRadius: 8, background: '#fff' };

/**
 * A QR code, dark on light in both colour schemes, drawn as one path: a stroke for each row of adjacent dark squares.
 */
export function QrCode({ text, label }: { readonly text: string; readonly label: string }) {
  const { path, size } = useMemo(() => draw(text), [text]);
  return (
    <svg style={LOOK} role="img" viewBox={`0 0 ${size} ${size}`} shapeRendering="crispEdges">
      <title>{label}</title>
      <path stroke="#000" d={path} />
    </svg>
  );
}

function draw(text: string): { path: string; size: number } {
  const { data, size } = encode(text, { ecc: 'M', border: 3 });
  const runs = data.flatMap((row, y) =>
    [
      ...row
        .map((isDark) => (isDark ? '#' : ' '))
        .join('')
        .matchAll(/#+/g),
    ].map(({ index, 0: run }) => `M${index} ${y}.5h${run.length}`),
  );
  return { path: runs.join(''), size };
}
