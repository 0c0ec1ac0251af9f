import { useSyncExternalStore, type ReactNode } from 'react';
import { exactTime, useZone } from './zone-choice.js';

const TICK_MS = 1000;
const listeners = new Set<() => void>();
let timer: ReturnType<typeof setInterval> | null = null;
let currentMs = Date.now();

/** The current time, updated every second; all components share one timer. */
export function useNow(): number {
  return useSyncExternalStore(subscribe, () => currentMs);
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  timer ??= setInterval(() => {
    currentMs = Date.now();
    listeners.forEach((tell) => tell());
  }, TICK_MS);
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0 || timer === null) return;
    clearInterval(timer);
    timer = null;
  };
}

/** A relative time such as "3 min ago" or "in 20 s", with the exact time as a tooltip. */
export function TimeAgo({ time }: { readonly time: string | null }): ReactNode {
  const nowMs = useNow();
  useZone();
  if (time === null) return <span className="none">–</span>;
  const ms = Math.trunc((nowMs - Date.parse(time)) / 1000) * 1000;
  // Clocks of two machines differ slightly, so "now" is shown instead of a time just ahead.
  const text =
    ms > -2000 && ms < 1000
      ? 'now'
      : ms > 0
        ? `${durationText(ms)} ago`
        : `in ${durationText(-ms)}`;
  return (
    <time dateTime={time} title={exactTime(time)} className="time">
      {text}
    </time>
  );
}

const UNITS: readonly (readonly [unit: string, ms: number])[] = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1000],
];

/** A duration in its two largest units (`2 h 5 min`); in milliseconds if it is below a second. */
export function durationText(ms: number): string {
  if (!Number.isFinite(ms)) return '–';
  if (ms < 1000) return `${Math.max(0, Math.round(ms))} ms`;
  if (ms < 10_000) return `${(ms / 1000).toFixed(1).replace('.0', '')} s`;
  const at = UNITS.findIndex(([, unitMs]) => ms >= unitMs);
  const [unit, unitMs] = UNITS[at] ?? ['s', 1000];
  const whole = Math.floor(ms / unitMs);
  const next = UNITS[at + 1];
  const rest = next === undefined ? 0 : Math.floor((ms - whole * unitMs) / next[1]);
  return next === undefined || rest === 0 || whole >= 10
    ? `${whole} ${unit}`
    : `${whole} ${unit} ${rest} ${next[0]}`;
}
