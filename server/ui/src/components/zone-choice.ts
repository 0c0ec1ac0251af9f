/** The time zone in which the page shows and reads times: the browser's or UTC. One choice for the page, kept in the browser. */
import { useSyncExternalStore } from 'react';

export const ZONES = ['local', 'UTC'] as const;
export type Zone = (typeof ZONES)[number];

const KEY = 'stepwright.zone';
const listeners = new Set<() => void>();
let zone: Zone = readStored();

/** For code outside of components; a component that shows or reads a time calls `useZone`. */
export function currentZone(): Zone {
  return zone;
}

/** The component is rendered again when the user chooses another zone, in this tab or another. */
export function useZone(): Zone {
  return useSyncExternalStore(subscribe, currentZone);
}

export function chooseZone(next: Zone): void {
  try {
    localStorage.setItem(KEY, next);
  } catch {
    // The browser may forbid storage; then the choice lasts until the page is closed.
  }
  change(next);
}

/** The exact time with its zone, such as `Nov 23, 2026, 1:20:03 AM UTC`. */
export function exactTime(time: string): string {
  const date = new Date(time);
  if (Number.isNaN(date.getTime())) return time;
  return date.toLocaleString(undefined, {
    dateStyle: 'medium',
    timeStyle: 'long',
    ...(zone === 'UTC' && { timeZone: 'UTC' }),
  });
}

/** The time of day in the zone of the page, such as `02:05`; with seconds if it has any. */
export function clockTime(time: string): string {
  return inZone(time, zoneName(), {
    hour: '2-digit',
    minute: '2-digit',
    ...(hasSeconds(time) && { second: '2-digit' }),
    hourCycle: 'h23',
  });
}

/** The day in the zone of the page, such as `Monday, November 23`. */
export function dayText(time: string): string {
  return inZone(time, zoneName(), { weekday: 'long', month: 'long', day: 'numeric' });
}

/** The day and the time in the zone of the page, such as `Nov 24, 2026, 2:00 AM`. */
export function plannedTime(time: string): string {
  return inZone(time, zoneName(), styleOf(time));
}

/** A time in a zone other than the page's. Null if clocks show the same there, or if the browser doesn't know the zone. */
export function timeElsewhere(time: string, timeZone: string): string | null {
  try {
    const there = inZone(time, timeZone, styleOf(time));
    return there === plannedTime(time) ? null : `${there} ${timeZone}`;
  } catch {
    return null;
  }
}

/** Few cron expressions use seconds. */
function styleOf(time: string): Intl.DateTimeFormatOptions {
  return { dateStyle: 'medium', timeStyle: hasSeconds(time) ? 'medium' : 'short' };
}

function hasSeconds(time: string): boolean {
  return Date.parse(time) % 60_000 !== 0;
}

function zoneName(): string | undefined {
  return zone === 'UTC' ? 'UTC' : undefined;
}

function inZone(
  time: string,
  timeZone: string | undefined,
  style: Intl.DateTimeFormatOptions,
): string {
  return new Date(time).toLocaleString(undefined, {
    ...style,
    ...(timeZone !== undefined && { timeZone }),
  });
}

function subscribe(listener: () => void): () => void {
  if (listeners.size === 0) window.addEventListener('storage', onStorage);
  listeners.add(listener);
  return () => {
    listeners.delete(listener);
    if (listeners.size === 0) window.removeEventListener('storage', onStorage);
  };
}

function onStorage({ key }: StorageEvent): void {
  if (key === KEY || key === null) change(readStored());
}

function change(next: Zone): void {
  if (next === zone) return;
  zone = next;
  listeners.forEach((tell) => tell());
}

function readStored(): Zone {
  try {
    const stored = localStorage.getItem(KEY);
    return ZONES.find((name) => name === stored) ?? 'local';
  } catch {
    return 'local';
  }
}
