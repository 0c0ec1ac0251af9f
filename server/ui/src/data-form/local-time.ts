/** Dates and times in the form of the browser's controls. Pure, but for the time zone that the user has chosen. */
import { currentZone } from '../components/zone-choice.js';

export function isDate(text: string): boolean {
  return /^\d{4}-\d{2}-\d{2}$/.test(text);
}

/** The time in UTC for the text of a control of type `datetime-local`; empty if there is none. */
export function timeOf(local: string): string {
  const time = new Date(currentZone() === 'UTC' ? `${local}Z` : local);
  return local === '' || Number.isNaN(time.getTime()) ? '' : time.toISOString();
}

/** The text of a control for a time in ISO format. Null if the control cannot show it without losing a part. */
export function localTime(text: string): string | null {
  const time = new Date(text);
  if (!/^\d{4}-\d\d-\d\dT/.test(text) || Number.isNaN(time.getTime())) return null;
  if (time.getUTCFullYear() < 1000 || time.getUTCFullYear() > 9998) return null;
  const offsetMs = currentZone() === 'UTC' ? 0 : time.getTimezoneOffset() * 60_000;
  const shifted = new Date(time.getTime() - offsetMs);
  return shifted.toISOString().slice(0, 19);
}
