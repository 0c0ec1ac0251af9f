import type { ReactNode } from 'react';

const HEIGHT = 20;
const WIDTH = 4;

/** Numbers by hour as small bars, oldest first. */
export function Trend({ counts }: { readonly counts: readonly number[] }): ReactNode {
  const most = Math.max(1, ...counts);
  const total = counts.reduce((sum, count) => sum + count, 0);
  const last = counts.at(-1) ?? 0;
  return (
    <svg
      className="trend"
      role="img"
      aria-label={`${total} in the last ${counts.length} hours, ${last} in the last one`}
      width={counts.length * WIDTH}
      height={HEIGHT}
    >
      {counts.map((count, hour) => {
        const height = count === 0 ? 1 : Math.max(2, (count / most) * HEIGHT);
        return (
          <rect
            key={hour}
            x={hour * WIDTH}
            y={HEIGHT - height}
            width={WIDTH - 1}
            height={height}
            className={count === 0 ? 'none' : ''}
          />
        );
      })}
    </svg>
  );
}
