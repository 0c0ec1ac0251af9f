/** Small bar charts without a library. */
import type { ReactNode } from 'react';

const HEIGHT = 60;
const WIDTH = 300;

export interface Series {
  readonly label: string;
  /** The color, by its CSS class. */
  readonly tone: 'started' | 'good' | 'bad' | 'idle';
  readonly values: readonly number[];
}

/** One bar for each minute or hour; several series are stacked. The description explains the bars. */
export function BarChart({
  description,
  series,
}: {
  readonly description: string;
  readonly series: readonly Series[];
}): ReactNode {
  const count = series[0]?.values.length ?? 0;
  const totals = Array.from({ length: count }, (_, n) =>
    series.reduce((sum, { values }) => sum + (values[n] ?? 0), 0),
  );
  const most = Math.max(1, ...totals);
  const width = WIDTH / Math.max(1, count);
  return (
    <svg
      className="bar-chart"
      role="img"
      aria-label={description}
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      preserveAspectRatio="none"
    >
      {totals.map((_, n) => {
        let top = HEIGHT;
        return series.map(({ label, tone, values }) => {
          const value = values[n] ?? 0;
          // A single run is visible beside thousands.
          const height = value === 0 ? 0 : Math.max(1.5, (value / most) * (HEIGHT - 2));
          top -= height;
          return value === 0 ? null : (
            <rect
              key={`${n} ${label}`}
              className={tone}
              x={n * width}
              y={Math.max(0, top)}
              width={width * 0.8}
              height={height}
            />
          );
        });
      })}
    </svg>
  );
}
