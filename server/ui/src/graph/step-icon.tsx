import type { ReactNode } from 'react';

/** Strokes in a view box of 16 by 16. */
const CLOCK = 'M8 2.5a5.5 5.5 0 1 0 0 11a5.5 5.5 0 0 0 0-11M8 5v3.2l2.2 1.3';
const LOOP = 'M3 8a5 5 0 0 1 8.8-3.2L13 6M13 2.5V6H9.5M13 8a5 5 0 0 1-8.8 3.2L3 10M3 13.5V10h3.5';
const SPLIT = 'M8 2.5v4M8 6.5L4 10v3.5M8 6.5L12 10v3.5';
const STACK = 'M2.5 4.5h11M2.5 8h11M2.5 11.5h11';
const PATHS: Readonly<Record<string, string>> = {
  delay: CLOCK,
  schedule: CLOCK,
  recur: LOOP,
  while: LOOP,
  foreach: LOOP,
  if: SPLIT,
  decide: SPLIT,
  parallel: 'M4.5 2.5v11M8 2.5v11M11.5 2.5v11',
  sequence: STACK,
  emitlog: 'M3.5 2.5h9v11h-9zM5.5 5.5h5M5.5 8h5M5.5 10.5h3',
  noop: 'M8 5.5a2.5 2.5 0 1 0 0 5a2.5 2.5 0 0 0 0-5',
  waitfor: 'M8.8 2L4 9h3.5L7 14l5-7.2H8.3z',
  activity: 'M8 2.5a2.5 2.5 0 1 0 0 5a2.5 2.5 0 0 0 0-5M3 13.5c.4-3 2.4-4.5 5-4.5s4.6 1.5 5 4.5',
  httprequest:
    'M8 2.500a5.5 5.5 0 1 0 0 11a5.5 5.5 0 0 0 0-11M2.5 8h11M8 2.500c-4 4-4 7 0 11c4-4 4-7 0-11',
  subworkflow: 'M2.5 2.500h4v4h-4zM9.5 9.500h4v4h-4zM4.5 6.500v5h5',
};
const SCRIPT = 'M6 4L2.5 8L6 12M10 4l3.5 4L10 12';

/** The icon of a step type; types that are not built in get the icon of a script. */
export function StepIcon({ type }: { readonly type: string }): ReactNode {
  const key = type.trim().toLowerCase();
  return (
    <svg className="step-icon" viewBox="0 0 16 16" width="14" height="14" aria-hidden="true">
      <path d={(Object.hasOwn(PATHS, key) ? PATHS[key] : undefined) ?? SCRIPT} />
    </svg>
  );
}
