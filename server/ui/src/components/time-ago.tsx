import { useSyncExternalStore, type ReactNode } from 'react';

const TICK_MS = 1000;
const listeners = new Set<() => void>();
let timer: ReturnType<typeof setInterval> | null = null;
let currentMs = Date.now();

/** The time of this machine, once a second; all that show it share one timer. */
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

/** "3 min ago", "in 20 s"; the exact time when pointed at. */
export function TimeAgo({ time }: { readonly time: string | null }): ReactNode {
  const nowMs = useNow();
  if (time === null) return <span className="none">–</span>;
  const ms = Math.trunc((nowMs - Date.parse(time)) / 1000) * 1000;
  // Clocks of two machines differ a little: what was just now is not in the future.
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

/** The two largest units: `2 h 5 min`; below a second milliseconds. */
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

/** In the time zone of whoever looks. */
export function exactTime(time: string): string {
  const date = new Date(time);
  if (Number.isNaN(date.getTime())) return time;
  return date.toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'medium' });
}
