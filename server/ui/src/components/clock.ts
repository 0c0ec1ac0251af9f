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
